// Names of code without a file, taken from perf maps while tracing: only for the addresses that stacks hold, and near
// the time at which they were first seen, since code memory is used again.
//
// What is approximate: an address has one name in a trace for each address space, the one that the map gave it when it
// was first looked up, at once or within the next second or so. Code that was replaced at the same address between its
// use and that look-up, or later on, is named by what was there then. A forked process's inherited code is looked up in
// the maps of the processes that it was forked from, too.
#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <unordered_map>
#include <vector>

#include "support/clock.h"
#include "trace/raw_writer.h"
#include "tracer/jit/perf_map.h"
#include "tracer/jit/perf_map_file.h"
#include "tracer/model/task_table.h"
#include "uscope/record.h"

namespace uscope::tracer {

struct JitNews {
  struct Name {
    std::uint32_t mm = 0;
    PerfMapEntry entry;
  };
  struct Trouble {
    usc_loss_cause cause{};
    std::uint32_t process = 0;
  };
  std::vector<Name> names;
  std::vector<Trouble> troubles;  // each once for an address space
};

class JitNames {
 public:
  // Descriptors that are kept at most.
  static constexpr std::size_t kMostOpen = 96;
  static constexpr std::size_t kDescriptors = kMostOpen * 3;

  explicit JitNames(const TaskTable& tasks, Scouts* scouts = nullptr) : tasks_(tasks), looks_(scouts) {}

  // The command that is about to be started, and once it has its user. A process that ends before it was looked at is
  // taken to have had the same /tmp and user, unless it had a pid namespace of its own.
  void set_command(std::uint32_t pid) { command_ = PerfMapFile::of_process(pid, monotonic_ns(), looks_); }
  void command_started() {
    if (command_) command_->look_at_user();
  }

  // Every stack definition passes here.
  void see(const usc_stack& stack);
  // The last thread of a process that used the address space has ended: its map is complete.
  void hurry(std::uint32_t mm);
  // A process leaves its address space by exec: what is written to its map from now on is of the next one. To be called
  // before the task table hears of it.
  void leave(const usc_exec& exec);
  // Nothing will be seen of the address space any more.
  void forget(std::uint32_t mm);

  // Reads the maps that are due; with `closing`, all in which something is still to be found.
  [[nodiscard]] JitNews work(std::uint64_t now, bool closing);

 private:
  struct Space {
    std::uint32_t task = 0;
    std::uint64_t seen_ns = 0;  // when the first stack with such code was taken
    bool met = false;           // `file` was looked for
    std::optional<PerfMapFile> file;
    std::uint32_t process = 0;
    std::vector<MapOwner> owners;  // the process itself, then those it was forked from
    std::optional<std::uint64_t> left_ns;
    std::set<std::uint64_t> wanted;  // not found yet
    std::set<std::uint64_t> found;
    bool fresh = false;  // addresses came since the last reading
    bool told_refused = false;
    bool told_size = false;
    std::uint64_t next_ns = 0;
  };

  void meet(Space& space, JitNews& news);
  void read_maps(std::uint32_t mm, Space& space, JitNews& news);
  void read_map(std::uint32_t mm, Space& space, const std::string& name, const Lifetime& lifetime, JitNews& news);

  const TaskTable& tasks_;
  ProcessLooks looks_;
  std::optional<PerfMapFile> command_;
  void insert(Space& space, std::uint64_t address);

  std::unordered_map<std::uint32_t, Space> spaces_;
  std::vector<std::uint32_t> unmet_;  // spaces that are to be taken hold of
  std::set<std::uint32_t> open_;      // spaces with a file: kMostOpen at most
  std::size_t addresses_ = 0;         // of all spaces, wanted and found
};

}  // namespace uscope::tracer
