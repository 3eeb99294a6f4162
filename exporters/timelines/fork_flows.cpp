// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// The call's result is the child's number as the caller's pid namespace has it: in the innermost or the initial one, as
// the trace knows it. Numbers come again, so the thread must have begun during the call, in the caller's process or in
// one whose parent that is.
#include "exporters/timelines/fork_flows.h"

#include <string_view>

#include "exporters/timelines/span.h"

namespace uscope::exporters {
namespace {

bool makes_threads(std::string_view call) {
  return call == "clone" || call == "clone3" || call == "fork" || call == "vfork";
}

}  // namespace

ForkFlows::ForkFlows(const analyzer::Catalog& catalog) : catalog_(catalog) {
  for (const analyzer::Thread& thread : catalog.threads) {
    if (!thread.start_ns) continue;
    by_tid_.emplace(thread.tid, &thread);
    if (thread.ns_tid != thread.tid) by_tid_.emplace(thread.ns_tid, &thread);
  }
}

analyzer::ThreadRowId ForkFlows::made_by(const analyzer::EventRow& event) {
  if (event.source != "syscall" || !event.result || *event.result <= 0 || !event.dur_ns || !makes_threads(event.call))
    return {};
  const analyzer::Thread* parent = catalog_.threads.find(event.thread_id);
  if (!parent) return {};
  const auto [first, last] = by_tid_.equal_range(*event.result);
  for (auto at = first; at != last; ++at) {
    const analyzer::Thread& child = *at->second;
    const auto began = catalog_.since_start(child.start_ns);
    if (child.id == parent->id || !began || *began < event.ts_ns || *began > end_of(event)) continue;
    const analyzer::Process* process = catalog_.processes.find(child.process_id);
    if (child.process_id != parent->process_id && (!process || process->parent_id != parent->process_id)) continue;
    awaited_.insert(child.id);
    return child.id;
  }
  return {};
}

}  // namespace uscope::exporters
