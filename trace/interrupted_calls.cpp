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

bool is_return(const usc_event& event) {
  return (event.flags & USC_EVENT_NO_RESULT) != 0;
}

}  // namespace

bool HandlerReturns::matters(const usc_event& event) {
  return event.source == USC_SOURCE_SYSCALL && event.how == USC_HOW_RETURNED &&
         (is_return(event) || is_restart(event.result) || event.result == kInterrupted);
}

std::optional<InterruptedCall> HandlerReturns::observe(const usc_event& event) {
  constexpr std::size_t kDeepest = 64;
  const auto result = static_cast<std::int32_t>(event.result);
  if (!is_return(event)) {
    if (open_.size() == kDeepest) open_.erase(open_.begin());
    open_.push_back({event.entry_ns, result, event.kind, event.stack, event.abi});
    return std::nullopt;
  }
  if (open_.empty()) return std::nullopt;
  const InterruptedCall call = open_.back();
  const bool again = (static_cast<std::uint32_t>(result) & ~kX32) == (call.number & ~kX32);
  if (result != kInterrupted && !again) return std::nullopt;
  open_.pop_back();
  const bool failed = result == kInterrupted && is_restart(call.result) && call.result != kAlwaysAgain;
  return failed ? std::optional(call) : std::nullopt;
}

void InterruptedCalls::add(const usc_event& event) {
  if (!HandlerReturns::matters(event) || count_ == kMost) return;
  count_++;
  events_[TaskId(event.head.task)].push_back(event);
}

void InterruptedCalls::finish() {
  for (auto& [task, events] : events_) {
    std::stable_sort(events.begin(), events.end(),
                     [](const usc_event& a, const usc_event& b) { return a.head.time < b.head.time; });
    HandlerReturns returns;
    for (const usc_event& event : events)
      if (const auto failed = returns.observe(event)) failed_[task].insert(failed->entry_ns);
  }
  events_.clear();
}

std::optional<std::int64_t> InterruptedCalls::result_of(const usc_event& event) const {
  if (event.source != USC_SOURCE_SYSCALL || event.how != USC_HOW_RETURNED || !is_restart(event.result))
    return std::nullopt;
  const auto task = failed_.find(TaskId(event.head.task));
  if (task == failed_.end() || task->second.count(event.entry_ns) == 0) return std::nullopt;
  return kInterrupted;
}

}  // namespace uscope::trace
