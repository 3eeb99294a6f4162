// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "cli/session/live_printer.h"

#include <array>
#include <cstdio>

#include "analyzer/read/event_query.h"
#include "cli/render/events_render.h"
#include "cli/render/units.h"
#include "store/db/string_table.h"
#include "syscalls/errno_names.h"
#include "syscalls/syscall_table.h"
#include "trace/names.h"
#include "trace/string_kind.h"
#include "tracer/model/task_table.h"

namespace uscope::cli {
namespace {

analyzer::EventRow row_of(const usc_event& event, const tracer::TaskInfo& task, std::uint64_t first_ns) {
  analyzer::EventRow row;
  row.ts_ns = static_cast<std::int64_t>(event.entry_ns - first_ns);
  row.how = trace::how_name(event.how);
  row.pid = task.pid;
  row.tid = task.tid;
  row.process = task.name;
  row.thread = task.name;
  row.source = trace::source_name(event.source);
  row.nr = event.kind;
  if (event.source == USC_SOURCE_SYSCALL) {
    row.abi = trace::abi_name(event.abi);
    row.call = syscalls::syscall_name(static_cast<usc_abi>(event.abi), event.kind);
  } else {
    row.call = trace::unnamed_kind(event.source, event.kind);
  }
  const bool ended = event.how == USC_HOW_RETURNED || event.how == USC_HOW_NO_ENTRY;
  if (ended && (event.flags & USC_EVENT_NO_RESULT) == 0) row.result = event.result;
  if (event.how == USC_HOW_RETURNED) row.dur_ns = static_cast<std::int64_t>(event.head.time - event.entry_ns);
  if (row.result && *row.result < 0 && *row.result >= -syscalls::kLastErrno)
    row.error = syscalls::errno_name(static_cast<int>(-*row.result));
  for (std::size_t i = 0; i < row.args.size(); i++) row.args[i] = static_cast<std::int64_t>(event.args[i]);
  return row;
}

}  // namespace

// A call is printed at its end, its strings have mostly come by then: from another processor they may come later, and
// the line has the pointer.
void LivePrinter::on_string(const usc_string& string) {
  constexpr std::size_t kMostTasks = 4096;  // of those that ended in a call something is left
  if (trace::string_holds(string.kind) == trace::StringHolds::NUMBERS) return;
  const trace::TaskId task(string.head.task);
  if (strings_.size() >= kMostTasks && strings_.count(task) == 0) strings_.clear();
  Strings& call = strings_[task];
  if (call.entry_ns != string.entry_ns) call = {string.entry_ns, {}};
  call.list.push_back({string.arg, store::string_text(string, {string.text, string.bytes}),
                       (string.flags & USC_STRING_LATE) != 0, analyzer::EventString::Source::kProgram});
}

void LivePrinter::on_event(const usc_event& event, const tracer::TaskInfo& task) {
  if (first_ns_ == 0) first_ns_ = event.entry_ns;
  analyzer::EventRow row = row_of(event, task, first_ns_);
  if (const auto at = strings_.find(trace::TaskId(event.head.task));
      at != strings_.end() && at->second.entry_ns == event.entry_ns) {
    row.strings = std::move(at->second.list);
    strings_.erase(at);
  }
  status_.clear();
  std::fputs(event_text(row, seconds(row.ts_ns)).c_str(), stderr);
}

}  // namespace uscope::cli
