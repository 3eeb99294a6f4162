// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "tracer/collect/open_calls.h"

#include <cstring>

#include "trace/how.h"
#include "tracer/waits/wait_calls.h"

namespace uscope::tracer {
namespace {

// As far as the arguments alone tell.
bool ends_by_itself(const usc_event& event) {
  CallFound call;
  call.nr = event.kind;
  call.abi = event.abi;
  std::memcpy(static_cast<void*>(call.args), &event.args, sizeof(call.args));
  return waits_of(call, [](std::uint64_t, void*, std::size_t) { return false; }).timed == USC_TIMED_YES;
}

}  // namespace

void OpenCalls::observe(const usc_event& event) {
  if (event.source != USC_SOURCE_SYSCALL) return;
  const trace::TaskId task(event.head.task);
  if (trace::is_unfinished(event.how)) {
    if (!ends_by_itself(event)) entries_ns_[task] = event.entry_ns;
    return;
  }
  const auto at = entries_ns_.find(task);
  if (at != entries_ns_.end() && at->second <= event.entry_ns) entries_ns_.erase(at);
}

OpenCalls::Set OpenCalls::begun_before(std::uint64_t before_ns) const {
  constexpr std::uint64_t kOdd = 0x9e3779b97f4a7c15;
  Set set;
  for (const auto& [task, entry_ns] : entries_ns_) {
    if (entry_ns >= before_ns) continue;
    set.count++;
    set.mark += (entry_ns ^ std::uint64_t{task.value()} << 40U) * kOdd;
  }
  return set;
}

}  // namespace uscope::tracer
