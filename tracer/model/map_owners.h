// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// Whose perf maps may describe the code of an address space: those of the process that uses it, and those of the
// processes whose mappings it started with. Records of different CPUs arrive in any order, so an address space may
// start before the one that it is a copy of: then it gets the latter's owners as soon as these are known.
#pragma once

#include <cstdint>
#include <memory>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "trace/ids.h"
#include "uscope/record.h"

namespace uscope::tracer {

// A process whose perf map may describe an address space, and the time since when it has had that, in CLOCK_MONOTONIC.
struct MapOwner {
  std::uint32_t pid = 0;  // 0: the process's start has not arrived yet
  std::uint32_t ns_pid = 0;
  std::uint64_t from_ns = 0;
};

class MapOwners {
 public:
  // One list for all tasks of an address space: its process, then those whose mappings it started with, nearest first;
  // if processes shared it before the trace, these processes, the eldest first.
  using List = std::shared_ptr<std::vector<MapOwner>>;

  // A task starts in the address space `record.mm`.
  List start(const usc_task& record);
  // A process has executed a program and uses `mm` alone.
  List exec(trace::MmId mm, const MapOwner& owner);
  // The start of a process that executed a program arrived after that: now its pids are known.
  List name(trace::MmId mm, std::uint32_t pid, std::uint32_t ns_pid, std::uint64_t start_ns);
  // No record will refer to the address space any more.
  void forget(trace::MmId mm);

 private:
  struct Space {
    List owners;
    // The nearest ancestor whose owners are not known yet, if there is one; the space itself if only a thread of it, or
    // a vfork's child, has arrived.
    trace::MmId awaited;
  };

  void add_ancestors(trace::MmId mm, Space& space, trace::MmId parent);
  void tell_copies_of(trace::MmId mm);

  std::unordered_map<trace::MmId, Space> spaces_;
  std::unordered_map<trace::MmId, std::unordered_set<trace::MmId>> waiting_;  // by awaited address space
};

}  // namespace uscope::tracer
