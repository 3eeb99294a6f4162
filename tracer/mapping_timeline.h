// What was executable where, when: the executable mappings of every traced address space, as the kernel side told of
// them, so that a walk can be finished in user space as of the time of its call, also when the process has moved on or
// is gone.
//
// A forked address space is not copied: it refers to its parent's mappings as of the time of the fork. Records of
// several processors arrive in any order; only look-ups need all records up to their time.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <unordered_map>
#include <vector>

#include "uscope/record.h"

namespace uscope::tracer {

struct Mapping {
  std::uint64_t start = 0;
  std::uint64_t end = 0;
  std::uint64_t offset = 0;  // file offset of start
  std::uint32_t file = 0;
};

class MappingTimeline {
 public:
  void add(const usc_map& record);
  void remove(const usc_unmap& record);
  // An address space begins as a copy of `parent`'s (0: empty) at `time`.
  void fork(std::uint32_t mm, std::uint32_t parent, std::uint64_t time);
  // No task uses the address space any more: forgotten as soon as no forked one refers to it.
  void forget(std::uint32_t mm);

  // The mapping that held `address` at `time`.
  [[nodiscard]] std::optional<Mapping> find(std::uint32_t mm, std::uint64_t address, std::uint64_t time) const;
  // Where none is known for that time: the first one told of later. A mapping made while others were locked is told of
  // late.
  [[nodiscard]] std::optional<Mapping> find_told_later(std::uint32_t mm, std::uint64_t address,
                                                       std::uint64_t time) const;
  // All mappings at `time`, by address.
  [[nodiscard]] std::vector<Mapping> all(std::uint32_t mm, std::uint64_t time) const;
  // A number for the mappings at `time`: another one before and after each change of the address space's mappings, or
  // of those it was forked from, and another one once more has been told of them.
  [[nodiscard]] std::uint64_t version(std::uint32_t mm, std::uint64_t time) const;
  [[nodiscard]] std::size_t spaces() const { return spaces_.size(); }

 private:
  // How long what has been replaced is kept, for walks that are still to be finished.
  static constexpr std::uint64_t kKeepNs = 10'000'000'000;
  // One stretch from `from` on: a mapping, or (gone) a hole cut into what the parent had.
  struct Entry {
    Mapping mapping;
    std::uint64_t from = 0;
    bool gone = false;
  };
  struct Space {
    std::vector<Entry> entries;  // by time of arrival
    std::shared_ptr<const Space> parent;
    std::uint64_t forked_at = 0;
    std::uint64_t version = 0;
    std::size_t prune_at = 128;
  };

  std::shared_ptr<Space>& space(std::uint32_t mm);
  static void prune(Space& space, std::uint64_t now);
  static const Entry* latest(const Space& space, std::uint64_t address, std::uint64_t time);

  std::unordered_map<std::uint32_t, std::shared_ptr<Space>> spaces_;
};

}  // namespace uscope::tracer
