#include "cli/live_printer.h"

#include <array>
#include <cstdio>

#include "analyzer/event_query.h"
#include "cli/events_render.h"
#include "store/errno_names.h"
#include "store/syscall_table.h"

namespace uscope::cli {
namespace {

constexpr std::array kHowNames = {
#define USC_X(name, text, meaning) text,
#include "uscope/how.def"
#undef USC_X
};
constexpr std::array kAbiNames = {"x86_64", "i386", "x32"};
constexpr std::int64_t kLastErrno = 4095;

analyzer::EventRow row_of(const usc_event& event, const tracer::TaskInfo& task, std::uint64_t first_ns) {
  analyzer::EventRow row;
  row.ts_ns = static_cast<std::int64_t>(event.entry_ns - first_ns);
  row.how = event.how < kHowNames.size() ? kHowNames[event.how] : "";
  row.pid = task.pid;
  row.tid = task.tid;
  row.process = task.name;
  row.thread = task.name;
  row.abi = event.abi < kAbiNames.size() ? kAbiNames[event.abi] : "";
  row.nr = event.nr;
  row.call = store::syscall_name(static_cast<usc_abi>(event.abi), event.nr);
  const bool ended = event.how == USC_HOW_RETURNED || event.how == USC_HOW_NO_ENTRY;
  if (ended && (event.flags & USC_EVENT_NO_RESULT) == 0) row.result = event.result;
  if (event.how == USC_HOW_RETURNED) row.dur_ns = static_cast<std::int64_t>(event.head.time - event.entry_ns);
  if (row.result && *row.result < 0 && *row.result >= -kLastErrno)
    row.error = store::errno_name(static_cast<int>(-*row.result));
  for (std::size_t i = 0; i < row.args.size(); i++) row.args[i] = static_cast<std::int64_t>(event.args[i]);
  return row;
}

}  // namespace

void LivePrinter::on_event(const usc_event& event, const tracer::TaskInfo& task) {
  if (first_ns_ == 0) first_ns_ = event.entry_ns;
  status_.clear();
  std::fputs(event_text(row_of(event, task, first_ns_)).c_str(), stderr);
}

}  // namespace uscope::cli
