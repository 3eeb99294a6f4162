// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// A store may hold any numbers: sums are unsigned, so that they wrap and do no harm.
#include "analyzer/time/time_sweep.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "analyzer/read/catalog.h"

namespace uscope::analyzer {
namespace {

std::size_t mixed(std::uint64_t hash, std::uint64_t part) {
  constexpr std::uint64_t kFactor = 0x9e3779b97f4a7c15ULL;
  const std::uint64_t product = (hash ^ hash >> 29U ^ part) * kFactor;
  return static_cast<std::size_t>(product ^ product >> 32U);
}

// When something that began at `ts` and lasted `dur` ended.
std::int64_t end_of(std::int64_t ts, std::int64_t dur) {
  return difference(ts, difference(0, std::max<std::int64_t>(0, dur)));
}

std::int64_t end_of(const TimeEvent& event) {
  return event.dur_ns ? end_of(event.ts_ns, *event.dur_ns) : std::numeric_limits<std::int64_t>::max();
}

// The same event, with the same end, if it began at `ts`, where that is earlier.
TimeEvent begun_at(TimeEvent event, std::int64_t ts) {
  if (ts >= event.ts_ns) return event;
  if (event.dur_ns) event.dur_ns = difference(end_of(event), ts);
  event.ts_ns = ts;
  return event;
}

}  // namespace

TimeParts& TimeParts::operator+=(const TimeParts& other) {
  samples += other.samples;
  user_ns += other.user_ns;
  kernel_ns += other.kernel_ns;
  squares += other.squares;
  times_off += other.times_off;
  sleeping_ns += other.sleeping_ns;
  blocked_ns += other.blocked_ns;
  stopped_ns += other.stopped_ns;
  for_cpu_ns += other.for_cpu_ns;
  calls += other.calls;
  call_ns += other.call_ns;
  call_sampled_ns += other.call_sampled_ns;
  call_off_ns += other.call_off_ns;
  return *this;
}

std::size_t TimeSweep::Hash::operator()(const Cell& cell) const noexcept {
  return mixed(static_cast<std::uint64_t>(cell.of), cell.call);
}

std::size_t TimeSweep::Hash::operator()(const Woken& woken) const noexcept {
  const std::size_t place = mixed(static_cast<std::uint64_t>(woken.stack.value()),
                                  woken.call << 8U | static_cast<std::uint64_t>(woken.state));
  return mixed(mixed(place, static_cast<std::uint64_t>(woken.waker_tid)), static_cast<std::uint64_t>(woken.waker_pid));
}

TimeSweep::TimeSweep(const std::vector<TimeSpan>& threads, std::size_t most_wakers) : most_wakers_(most_wakers) {
  threads_.reserve(threads.size());
  for (const TimeSpan& span : threads) threads_.push_back({.span = span});
}

std::uint64_t TimeSweep::lived_ns(std::size_t thread) const {
  const TimeSpan& span = threads_[thread].span;
  return span.begin_ns ? within(threads_[thread], *span.begin_ns, span.end_ns) : 0;
}

// How much of a time lies where the thread was seen.
std::uint64_t TimeSweep::within(const Thread& thread, std::int64_t from, std::int64_t until) {
  const std::int64_t begin = std::max(from, thread.span.begin_ns.value_or(from));
  const std::int64_t end = std::min(until, thread.span.end_ns);
  return begin < end ? static_cast<std::uint64_t>(end) - static_cast<std::uint64_t>(begin) : 0;
}

void TimeSweep::add(const TimeEvent& event) {
  Thread& thread = threads_[event.thread];
  if (event.use == TimeUse::kNothing) return;
  if (!thread.seen) begin(thread, event);
  const std::optional<TimeEvent> found = std::exchange(thread.found_off, std::nullopt);
  if (found && event.use == TimeUse::kCall && event.attached && event.ts_ns < end_of(*found)) {
    add_call(thread, begun_at(event, found->ts_ns));
    return add_within(thread, *found);
  }
  if (found) add_within(thread, *found);
  if (event.use == TimeUse::kCall) return add_call(thread, event);
  const bool is_off = event.use != TimeUse::kUser && event.use != TimeUse::kKernel;
  if (event.attached && is_off && thread.call == 0) {
    thread.found_off = event;
  } else {
    add_within(thread, event);
  }
}

void TimeSweep::begin(Thread& thread, const TimeEvent& first) {
  thread.seen = true;
  std::optional<std::int64_t>& begin = thread.span.begin_ns;
  // What it did before it was found, nobody has seen.
  if (!begin || first.attached) {
    begin = std::max(first.ts_ns, begin.value_or(first.ts_ns));
  } else if (thread.span.is_new) {
    const bool is_sample = first.use == TimeUse::kUser || first.use == TimeUse::kKernel;
    const std::uint64_t ns = within(thread, *begin, is_sample ? difference(first.ts_ns, first.part_ns) : first.ts_ns);
    by_thread_[{static_cast<std::int64_t>(first.thread), 0}].for_cpu_ns += ns;
    by_stack_[{0, 0}].for_cpu_ns += ns;
  }
}

void TimeSweep::add_within(const Thread& thread, const TimeEvent& event) {
  const bool inside = thread.call != 0 && (thread.open || event.ts_ns < thread.returned_ns);
  const std::size_t call = inside ? thread.call : 0;
  const StackRowId stack = inside && thread.stack ? thread.stack : event.stack;
  if (event.use != TimeUse::kUser && event.use != TimeUse::kKernel) return add_off(thread, event, call, stack);
  if (event.ts_ns >= *thread.span.begin_ns && event.ts_ns <= thread.span.end_ns) add_sample(event, call, stack);
}

void TimeSweep::add_call(Thread& thread, const TimeEvent& event) {
  if (thread.open) end_call(thread, event.thread, event.ts_ns);
  thread.call = event.call;
  thread.stack = event.stack;
  thread.entered_ns = event.ts_ns;
  thread.open = !event.dur_ns;
  thread.returned_ns = end_of(event.ts_ns, event.dur_ns.value_or(0));
  if (!thread.open) count_call(thread, event.thread);
}

void TimeSweep::end_call(Thread& thread, std::size_t place, std::int64_t time) {
  thread.open = false;
  thread.returned_ns = std::max(thread.entered_ns, time);
  count_call(thread, place);
}

void TimeSweep::count_call(const Thread& thread, std::size_t place) {
  const std::uint64_t ns = within(thread, thread.entered_ns, thread.returned_ns);
  for (TimeParts* parts : {&by_thread_[{static_cast<std::int64_t>(place), thread.call}],
                           &by_stack_[{thread.stack.value(), thread.call}]}) {
    parts->calls++;
    parts->call_ns += ns;
  }
}

void TimeSweep::add_sample(const TimeEvent& event, std::size_t call, StackRowId stack) {
  const auto ns = static_cast<std::uint64_t>(std::max<std::int64_t>(0, event.part_ns));
  for (TimeParts* parts :
       {&by_thread_[{static_cast<std::int64_t>(event.thread), call}], &by_stack_[{stack.value(), call}]}) {
    parts->samples++;
    (event.use == TimeUse::kUser ? parts->user_ns : parts->kernel_ns) += ns;
    parts->squares += static_cast<double>(ns) * static_cast<double>(ns);
    if (call != 0) parts->call_sampled_ns += ns;
  }
}

void TimeSweep::add_off(const Thread& thread, const TimeEvent& event, std::size_t call, StackRowId stack) {
  const std::uint64_t ns = within(thread, event.ts_ns, end_of(event));
  const bool preempted = event.use == TimeUse::kPreempted;
  const auto then = static_cast<std::uint64_t>(std::max<std::int64_t>(0, event.part_ns));
  const std::uint64_t for_cpu = preempted ? ns : std::min(ns, then);
  for (TimeParts* parts :
       {&by_thread_[{static_cast<std::int64_t>(event.thread), call}], &by_stack_[{stack.value(), call}]}) {
    parts->times_off++;
    parts->for_cpu_ns += for_cpu;
    if (event.use == TimeUse::kSleeping) parts->sleeping_ns += ns - for_cpu;
    if (event.use == TimeUse::kBlocked) parts->blocked_ns += ns - for_cpu;
    if (event.use == TimeUse::kStopped) parts->stopped_ns += ns - for_cpu;
    if (call != 0) parts->call_off_ns += ns;
  }
  if (preempted) return;
  Woken wait{stack, call, event.use, event.dur_ns ? event.waker_tid : kNobody, event.dur_ns ? event.waker_pid : 0};
  if (by_waker_.size() >= most_wakers_ && by_waker_.count(wait) == 0) {
    wait.waker_tid = kSomebody;
    wait.waker_pid = 0;
  }
  WokenSum& sum = by_waker_[wait];
  sum.times++;
  sum.waited_ns += ns - for_cpu;
  sum.for_cpu_ns += for_cpu;
  sum.longest_ns = std::max(sum.longest_ns, ns - for_cpu);
}

void TimeSweep::finish() {
  for (const Thread& thread : threads_)
    if (thread.found_off) add_within(thread, *thread.found_off);
  for (std::size_t place = 0; place < threads_.size(); place++)
    if (threads_[place].open) end_call(threads_[place], place, threads_[place].span.end_ns);
}

}  // namespace uscope::analyzer
