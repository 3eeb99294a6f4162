// What the descriptors of processes stand for: strings, by process and number. Pure bookkeeping; who changes what and
// when is DescriptorTracker's. What is not known is not there.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <map>
#include <memory>
#include <unordered_map>

namespace uscope::store {

struct Descriptor {
  std::int64_t string_id = 0;
  bool close_on_exec = false;
  bool from_proc = false;  // told by /proc when the process came into the trace, not by a call
};

// Memory is bounded: a process has kMostOfOne descriptors at most, all together kMost; what is beyond is not known.
class DescriptorTable {
 public:
  static constexpr std::size_t kMostOfOne = std::size_t{1} << 16;
  static constexpr std::size_t kMost = std::size_t{1} << 19;

  void set(std::uint32_t process, int fd, Descriptor descriptor);
  void close(std::uint32_t process, int fd) { close_range(process, fd, fd); }
  void close_range(std::uint32_t process, int first, int last);
  void set_close_on_exec(std::uint32_t process, int first, int last, bool value);
  // Null: not known. Valid until the next change.
  [[nodiscard]] const Descriptor* find(std::uint32_t process, int fd) const;

  void fork(std::uint32_t child, std::uint32_t parent);   // a copy
  void share(std::uint32_t child, std::uint32_t parent);  // one table for both from now on: CLONE_FILES
  void exec(std::uint32_t process);
  void forget(std::uint32_t process) { tables_.erase(process); }
  void forget_all() { tables_.clear(); }

 private:
  // Forks copy tables, most of which are never changed: a copy is made with the first change.
  using Entries = std::map<int, Descriptor>;
  struct Table {
    std::shared_ptr<Entries> entries;
  };

  Entries& writable(std::uint32_t process);

  std::unordered_map<std::uint32_t, std::shared_ptr<Table>> tables_;
  // Counts what was ever entered or copied; tables that went are only counted off when it is full.
  std::size_t entered_ = 0;
  void count(std::size_t entries);
};

}  // namespace uscope::store
