// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// Names of code without a file, read from perf maps while tracing: only for addresses that occur in stacks, and close
// to the time at which they were first seen, since code memory is reused.
//
// Approximations: in each address space an address has one name for the whole trace, the one that the map had when it
// was first looked up, at once or within the next second or so. If code is replaced at the same address before that
// look-up, or later, it gets that name too. A forked process's inherited code is also looked up in the maps of its
// ancestors.
#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <unordered_map>
#include <vector>

#include "support/clock.h"
#include "tracer/jit/perf_map.h"
#include "tracer/jit/perf_map_file.h"
#include "tracer/model/task_table.h"
#include "uscope/record.h"

namespace uscope::tracer {

struct JitNews {
  struct Name {
    trace::MmId mm;
    PerfMapEntry entry;
  };
  struct Trouble {
    usc_loss_cause cause{};
    trace::ProcessId process;
  };
  std::vector<Name> names;
  std::vector<Trouble> troubles;  // each once for an address space
};

class JitNames {
 public:
  // The most descriptors that are kept open.
  static constexpr std::size_t kMostOpen = 96;
  static constexpr std::size_t kDescriptors = kMostOpen * 3;

  explicit JitNames(const TaskTable& tasks, Scouts* scouts = nullptr) : tasks_(tasks), looks_(scouts) {}

  // set_command(): the command that is about to be started; command_started(): it has its user now. A process that ends
  // before it was examined is assumed to have had the same /tmp and user, unless it had a pid namespace of its own.
  void set_command(std::uint32_t pid) { command_ = PerfMapFile::of_process(pid, monotonic_ns(), looks_); }
  void command_started() {
    if (command_) command_->look_at_user();
  }

  // Call it for every stack definition.
  void observe(const usc_stack& stack);
  // The last thread of a process that used the address space has ended: its map is complete.
  void read_map_soon(trace::MmId mm);
  // A process leaves its address space by exec: from now on its map describes the next one. Call it before the task
  // table processes the exec.
  void leave(const usc_exec& exec);
  // No more stacks of this address space will come.
  void forget(trace::MmId mm);

  // Reads the maps that are due; with `closing`, all maps in which addresses are still to be found.
  [[nodiscard]] JitNews work(std::uint64_t now, bool closing);

 private:
  struct Space {
    trace::TaskId task;
    std::uint64_t seen_ns = 0;  // when the first stack with such code was taken
    bool met = false;           // a `file` was searched
    std::optional<PerfMapFile> file;
    trace::ProcessId process;
    MapOwners::List owners;  // the process itself, then its ancestors
    std::optional<std::uint64_t> left_ns;
    std::set<std::uint64_t> wanted;  // not found yet
    std::set<std::uint64_t> found;
    bool fresh = false;  // addresses were added since the last reading
    bool refusal_counted = false;
    bool size_counted = false;
    std::uint64_t next_ns = 0;
  };

  void open_map(Space& space, JitNews& news);
  void read_maps(trace::MmId mm, Space& space, JitNews& news);
  void read_map(trace::MmId mm, Space& space, const std::string& name, const Lifetime& lifetime, JitNews& news);

  const TaskTable& tasks_;
  ProcessLooks looks_;
  std::optional<PerfMapFile> command_;
  void insert(Space& space, std::uint64_t address);

  std::unordered_map<trace::MmId, Space> spaces_;
  std::vector<trace::MmId> unmet_;  // spaces whose process must still be opened
  std::set<trace::MmId> open_;      // spaces with an open file: at most kMostOpen
  std::size_t addresses_ = 0;       // of all spaces, wanted and found
};

}  // namespace uscope::tracer
