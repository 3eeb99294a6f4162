// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include <map>
#include <string>
#include <utility>

#include "tracer/java/image_symbols.h"
#include "tracer/java/java_monitors.h"
#include "tracer/process/process_list.h"
#include "tracer/process/thread_ids.h"
#include "tracer/process/thread_state.h"

namespace uscope::tracer {
namespace {

// Gives the waits the initial namespace's thread ids. What has no such thread any more is left out.
void translate(std::vector<MonitorWait>& waits, const std::map<std::uint32_t, std::uint32_t>& ids) {
  std::erase_if(waits, [&](MonitorWait& wait) {
    const auto tid = ids.find(wait.tid);
    if (tid == ids.end()) return true;
    wait.tid = tid->second;
    if (wait.owner != MonitorWait::Owner::kThread) return false;
    const auto owner = ids.find(wait.owner_tid);
    if (owner == ids.end()) return true;
    wait.owner_tid = owner->second;
    return false;
  });
}

}  // namespace

std::optional<JavaMonitors> java_monitors_of(std::uint32_t pid) {
  const std::uint32_t tid = living_thread_of(pid);
  const std::uint64_t image = image_base_of(tid, "/libjvm.so");
  if (image == 0) return std::nullopt;
  JavaMonitors all;
  ProcessMemory process(tid);
  MemoryReader memory(process);
  const auto symbols = ImageSymbols::at(memory, image);
  if (!symbols) return JavaMonitors{{}, {symbols.error().what}};
  const auto vm = VmStructs::read(memory, *symbols);
  if (!vm) return JavaMonitors{{}, {vm.error().what}};

  const std::map<std::uint32_t, std::uint32_t> ids = thread_ids_of(pid);
  memory.forget();
  JavaMonitors first = read_monitors(memory, *vm);
  translate(first.waits, ids);
  std::map<std::uint32_t, std::optional<ThreadState>> before;
  for (const MonitorWait& wait : first.waits) before[wait.tid] = thread_state_of(wait.tid);
  memory.forget();
  all = read_monitors(memory, *vm);
  translate(all.waits, ids);
  all.waits = unchanged_waits(first.waits, std::move(all.waits));
  std::erase_if(all.waits,
                [&](const MonitorWait& wait) { return !slept_through(before[wait.tid], thread_state_of(wait.tid)); });
  return all;
}

}  // namespace uscope::tracer
