// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// A thread's calls do not overlap, but a handler may be interrupted in a call, too: returns from handlers belong to the
// calls that were interrupted last. One whose result is neither EINTR nor the number of that call belongs to code that
// was in no call. Handlers that never return (siglongjmp) leave calls that nobody gets a result of.
#include "trace/interrupted_calls.h"

#include <algorithm>

namespace uscope::trace {
namespace {

constexpr std::int32_t kInterrupted = -4;  // EINTR
constexpr std::int64_t kFirstRestart = -512;
constexpr std::int64_t kLastRestart = -516;
constexpr std::uint32_t kX32 = 0x40000000;
constexpr std::int32_t kAlwaysAgain = -513;  // ERESTARTNOINTR

bool is_restart(std::int64_t result) {
  return result <= kFirstRestart && result >= kLastRestart;
}

}  // namespace

void InterruptedCalls::add(const usc_event& event) {
  if (event.source != USC_SOURCE_SYSCALL || event.how != USC_HOW_RETURNED || count_ == kMostMarks) return;
  const bool is_return = (event.flags & USC_EVENT_NO_RESULT) != 0;
  const auto result = static_cast<std::int32_t>(event.result);
  if (!is_return && !is_restart(event.result) && event.result != kInterrupted) return;
  count_++;
  marks_[TaskId(event.head.task)].push_back({event.head.time, event.entry_ns, result, event.kind, is_return});
}

void InterruptedCalls::settle(TaskId task, std::vector<Mark>& marks) {
  constexpr std::size_t kDeepest = 64;
  std::sort(marks.begin(), marks.end(), [](const Mark& a, const Mark& b) { return a.end_ns < b.end_ns; });
  std::vector<const Mark*> open;
  for (const Mark& mark : marks) {
    if (!mark.is_return) {
      if (open.size() == kDeepest) open.erase(open.begin());
      open.push_back(&mark);
      continue;
    }
    if (open.empty()) continue;
    const Mark& call = *open.back();
    const bool failed = mark.result == kInterrupted;
    const bool again = (static_cast<std::uint32_t>(mark.result) & ~kX32) == (call.number & ~kX32);
    if (failed && is_restart(call.result) && call.result != kAlwaysAgain) failed_[task].insert(call.entry_ns);
    if (failed || again) open.pop_back();
  }
}

void InterruptedCalls::finish() {
  for (auto& [task, marks] : marks_) settle(task, marks);
  marks_.clear();
}

std::optional<std::int64_t> InterruptedCalls::result_of(const usc_event& event) const {
  if (event.source != USC_SOURCE_SYSCALL || event.how != USC_HOW_RETURNED || !is_restart(event.result))
    return std::nullopt;
  const auto task = failed_.find(TaskId(event.head.task));
  if (task == failed_.end() || task->second.count(event.entry_ns) == 0) return std::nullopt;
  return kInterrupted;
}

}  // namespace uscope::trace
