// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// One pass over the events (time_sweep.h), then sums over what it found: threads, calls, and the stacks by their user
// part. Memory grows with the number of distinct threads, stacks and calls, not with that of events.
#include "analyzer/time/time.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <limits>
#include <map>
#include <string_view>
#include <tuple>
#include <unordered_map>
#include <utility>

#include "analyzer/read/part.h"
#include "analyzer/read/query.h"
#include "trace/names.h"

namespace uscope::analyzer {
namespace {

std::uint64_t rest(std::uint64_t whole, std::uint64_t part) {
  return whole > part ? whole - part : 0;
}

// More waited, more often, then by name: an order that does not depend on how a map is hashed.
bool waited_longer(const Waker& a, const Waker& b) {
  return std::tie(b.waited_ns, b.times, a.pid, a.tid, a.who) < std::tie(a.waited_ns, a.times, b.pid, b.tid, b.who);
}

class TimeReader {
 public:
  TimeReader(const store::Database& database, const Catalog& catalog, const TimeQuery& query)
      : database_(database), catalog_(catalog), query_(query), scope_(catalog, query.scope) {}

  Result<TimeShares> run() {
    choose_uses();
    if (!shares_.recorded.any()) return std::move(shares_);
    choose_threads();
    TimeSweep sweep(spans_);
    if (auto done = sweep_events(sweep); !done) return done.error();
    threads(sweep);
    calls(sweep);
    auto stacks = TimeStacks::create(database_);
    if (!stacks) return stacks.error();
    for (const auto part : {&TimeReader::stacks, &TimeReader::waiting})
      if (auto done = (this->*part)(sweep, *stacks); !done) return done.error();
    return std::move(shares_);
  }

 private:
  using WakerKey = std::tuple<Waker::Who, std::int64_t, std::int64_t>;  // who, pid, tid
  using Wakers = std::map<WakerKey, Waker>;

  void choose_uses();
  void choose_threads();
  Result<void> sweep_events(TimeSweep& sweep) const;
  void threads(const TimeSweep& sweep);
  [[nodiscard]] std::uint64_t sample_period_ns() const;
  void hold_against_kernel();
  void calls(const TimeSweep& sweep);
  Result<void> stacks(const TimeSweep& sweep, TimeStacks& stacks);
  Result<void> waiting(const TimeSweep& sweep, TimeStacks& stacks);

  void add_span(const Thread& thread, const Part::Span& span, std::int64_t until);
  [[nodiscard]] bool cut(TimeEvent& event, const Part::Span& span) const;
  [[nodiscard]] CallTime call_time(std::size_t call, const TimeParts& parts) const;
  [[nodiscard]] std::string call_name(std::size_t call) const;
  [[nodiscard]] std::uint64_t error_of(const TimeParts& parts, std::uint64_t whole) const;
  // Of a thread, or all of them: `total_ns` is known.
  void divide(TimeShare& share) const;
  // Of a function or stack, whose total is what it did.
  void add_up(TimeShare& share) const;
  [[nodiscard]] Waker waker_of(const TimeSweep::Woken& wait) const;
  void add_waker(Wakers& wakers, const TimeSweep::Woken& wait, const TimeSweep::WokenSum& sum) const;
  static std::vector<Waker> sorted(const Wakers& wakers);

  template <typename Line>
  TopList<Line> longest(std::vector<Line> lines) const {
    return top(std::move(lines), query_.lines, [](const Line& a, const Line& b) {
      return std::tuple(b.total_ns, name_of(a)) < std::tuple(a.total_ns, name_of(b));
    });
  }
  static std::tuple<std::int64_t, std::int64_t> name_of(const ThreadTime& line) { return {line.pid, line.tid}; }
  static std::tuple<std::string, std::string> name_of(const CallTime& line) { return {line.call, line.abi}; }
  static TimeFunction name_of(const FunctionTime& line) { return line.at; }
  static TimeFunction name_of(const RunningTime& line) { return line.at; }
  static StackRowId name_of(const StackTime& line) { return line.stack; }

  const store::Database& database_;
  const Catalog& catalog_;
  const TimeQuery& query_;
  Part scope_;
  TimeShares shares_;
  std::vector<TimeUse> uses_;  // like Catalog::kinds
  // The sweep's threads: one for each span of time for which the scope has a thread.
  std::vector<TimeSpan> spans_;
  std::vector<const Thread*> thread_of_;  // likewise
  std::vector<std::size_t> first_span_;   // like Catalog::threads: the place of its first one
  std::map<std::pair<std::int64_t, std::int64_t>, const Thread*> by_tid_;  // by pid and tid: the last of that name
};

void TimeReader::choose_uses() {
  TimeRecorded& recorded = shares_.recorded;
  for (const Kind& kind : catalog_.kinds) {
    uses_.push_back(use_of(kind));
    recorded.calls = recorded.calls || uses_.back() == TimeUse::kCall;
    recorded.samples = recorded.samples || kind.source == trace::source_name(USC_SOURCE_SAMPLE);
    recorded.off_cpu = recorded.off_cpu || kind.source == trace::source_name(USC_SOURCE_OFFCPU);
  }
  const auto ran = catalog_.meta_number("ran_ns");
  if (recorded.samples && ran && *ran > 0 && scope_.is_whole())
    shares_.kernel_ran_ns = static_cast<std::uint64_t>(*ran);
  const auto calls = catalog_.meta.find("calls");
  recorded.all_calls = recorded.calls && (calls == catalog_.meta.end() || calls->second == "all");
}

// Cuts what an event says at the borders of the span. Nothing is left of it: false.
bool TimeReader::cut(TimeEvent& event, const Part::Span& span) const {
  const std::int64_t since = span.first;
  // A name ends where the next one begins.
  const std::int64_t until = span.second == scope_.until_ns() ? span.second : span.second + 1;
  const bool is_moment = event.use == TimeUse::kUser || event.use == TimeUse::kKernel;
  const std::int64_t begin = event.ts_ns;
  if (is_moment) return begin >= since && begin <= span.second;
  if (begin >= until) return false;
  const std::int64_t end = event.dur_ns ? difference(begin, difference(0, std::max<std::int64_t>(0, *event.dur_ns)))
                                        : std::numeric_limits<std::int64_t>::max();
  if (end < since || (end == since && event.dur_ns && *event.dur_ns > 0)) return false;
  event.ts_ns = std::max(begin, since);
  if (!event.dur_ns) return true;
  // The wait for a CPU is the last part of a time off it.
  if (event.use != TimeUse::kCall)
    event.part_ns =
        std::max<std::int64_t>(0, std::min(end, until) - std::max(event.ts_ns, difference(end, event.part_ns)));
  event.dur_ns = end > until ? std::nullopt : std::optional(difference(end, event.ts_ns));
  return true;
}

void TimeReader::choose_threads() {
  const std::int64_t until =
      std::min({catalog_.end_ns, catalog_.meta_number("calls_until_ns").value_or(catalog_.end_ns), scope_.until_ns()});
  for (const Thread& thread : catalog_.threads) {
    first_span_.push_back(spans_.size());
    for (const Part::Span& span : scope_.spans_of(thread)) add_span(thread, span, until);
    const Process* process = catalog_.processes.find(thread.process_id);
    if (process != nullptr) by_tid_[{process->pid, thread.tid}] = &thread;
  }
}

void TimeReader::add_span(const Thread& thread, const Part::Span& span, std::int64_t until) {
  const std::int64_t since = std::max(catalog_.start_ns, span.first);
  TimeSpan lived{.begin_ns = thread.start_ns, .end_ns = std::min(until, span.second)};
  if (lived.begin_ns) {
    lived.is_new = *lived.begin_ns >= since && shares_.recorded.samples && shares_.recorded.off_cpu;
    lived.begin_ns = std::min(std::max(*lived.begin_ns, since), lived.end_ns);
  }
  for (const std::optional<std::int64_t>& end : {thread.end_ns, thread.left_ns})
    if (end) lived.end_ns = std::min(lived.end_ns, *end);
  spans_.push_back(lived);
  thread_of_.push_back(&thread);
}

Result<void> TimeReader::sweep_events(TimeSweep& sweep) const {
  const auto ordered = catalog_.meta.find("ordered");
  const bool by_id = ordered != catalog_.meta.end() && ordered->second == "1";
  constexpr int kSampleTime = 7;  // a1
  constexpr int kTimeForCpu = 8;  // a2
  const auto event_row = [&](const SqlRow& row) {
    const Thread* thread = catalog_.threads.find(ThreadRowId(row.integer(0)));
    const Kind* kind = catalog_.kinds.find(KindRowId(row.integer(1)));
    if (thread == nullptr || kind == nullptr) return;
    const std::size_t place = catalog_.threads.index_of(*thread);
    const std::size_t call = catalog_.kinds.index_of(*kind);
    const std::vector<Part::Span>& spans = scope_.spans_of(*thread);
    if (spans.empty() || uses_[call] == TimeUse::kNothing) return;
    TimeEvent event{.thread = first_span_[place],
                    .use = uses_[call],
                    .call = call + 1,
                    .ts_ns = row.integer(2),
                    .dur_ns = row.maybe_integer(3),
                    .stack = StackRowId(row.integer(5)),
                    .waker_tid = row.integer(6),
                    .waker_pid = row.integer(7),
                    .part_ns = 0};
    const bool is_sample = event.use == TimeUse::kUser || event.use == TimeUse::kKernel;
    event.part_ns = row.integer(is_sample ? kSampleTime : kTimeForCpu);
    if (!is_sample) event.attached = row.text(4) == trace::how_name(USC_HOW_ATTACHED);
    // An exit without an entry is a moment.
    if (event.use == TimeUse::kCall && !event.dur_ns && row.text(4) == trace::how_name(USC_HOW_NO_ENTRY))
      event.dur_ns = 0;
    // From the first span that has not ended when the event begins.
    for (auto span = std::partition_point(spans.begin(), spans.end(),
                                          [&](const Part::Span& one) { return one.second < event.ts_ns; });
         span != spans.end(); ++span) {
      TimeEvent part = event;
      part.thread += static_cast<std::size_t>(span - spans.begin());
      if (!cut(part, *span)) break;
      sweep.add(part);
    }
  };
  auto done = each_row(database_,
                       std::string("SELECT thread_id, kind_id, ts_ns, dur_ns, how, stack_id, a0, a1, a2 FROM event ") +
                           (by_id ? "ORDER BY id" : "ORDER BY ts_ns, id"),
                       event_row);
  if (done) sweep.finish();
  return done;
}

std::string TimeReader::call_name(std::size_t call) const {
  return call == 0 ? "" : (catalog_.kinds.begin() + static_cast<std::ptrdiff_t>(call - 1))->name;
}

// A number of ticks at which something runs has a binomial distribution; twice its standard deviation. Of none it is
// not known to be none, but less than about a tick.
std::uint64_t TimeReader::error_of(const TimeParts& parts, std::uint64_t whole) const {
  const double share =
      whole == 0 ? 0 : std::min(1.0, static_cast<double>(parts.sampled_ns()) / static_cast<double>(whole));
  const double tick = shares_.all.samples == 0
                          ? 0
                          : static_cast<double>(shares_.all.sampled_ns()) / static_cast<double>(shares_.all.samples);
  return static_cast<std::uint64_t>(std::max(tick, 2 * std::sqrt(parts.squares * (1 - share))));
}

void TimeReader::divide(TimeShare& share) const {
  const TimeRecorded& recorded = shares_.recorded;
  share.running_ns = recorded.samples ? share.sampled_ns() : rest(share.total_ns, share.off_ns());
  share.not_running_ns = recorded.off_cpu ? share.off_ns() : rest(share.total_ns, share.sampled_ns());
  if (recorded.samples) share.error_ns = error_of(share, share.total_ns);
}

CallTime TimeReader::call_time(std::size_t call, const TimeParts& parts) const {
  CallTime line;
  static_cast<TimeParts&>(line) = parts;
  const Kind& kind = *(catalog_.kinds.begin() + static_cast<std::ptrdiff_t>(call - 1));
  line.call = kind.name;
  line.abi = kind.abi;
  line.total_ns = parts.call_ns;
  if (shares_.recorded.off_cpu) {
    line.not_running_ns = std::min(parts.call_ns, parts.off_ns());
    line.running_ns = rest(parts.call_ns, parts.off_ns());
  } else {
    line.running_ns = std::min(parts.call_ns, parts.sampled_ns());
    line.not_running_ns = rest(parts.call_ns, parts.sampled_ns());
    line.error_ns = error_of(parts, parts.call_ns);
  }
  return line;
}

void TimeReader::add_up(TimeShare& share) const {
  const TimeRecorded& recorded = shares_.recorded;
  share.running_ns = recorded.samples ? share.sampled_ns() : rest(share.call_ns, share.call_off_ns);
  share.not_running_ns = recorded.off_cpu ? share.off_ns() : rest(share.call_ns, share.call_sampled_ns);
  share.total_ns = share.running_ns + share.not_running_ns;
  if (recorded.samples) share.error_ns = error_of(share, shares_.all.sampled_ns());
}

// Nanoseconds between two samples of a CPU, as they were asked for; 0: not known.
std::uint64_t TimeReader::sample_period_ns() const {
  constexpr std::uint64_t kSecond = 1'000'000'000;
  const auto targets = catalog_.meta.find("targets");
  if (targets == catalog_.meta.end()) return 0;
  const std::string_view name = "sample:";
  const std::size_t at = targets->second.find(name);
  if (at == std::string::npos) return kSecond / 99;  // what `sample` alone stands for
  const std::uint64_t hz = std::strtoull(targets->second.c_str() + at + name.size(), nullptr, 10);
  return hz == 0 ? 0 : kSecond / hz;
}

// Twice what 95 of 100 recordings keep, so that chance alone says something in one of 10,000; and what a command's
// loader, or the tracer's beginning and end, may have taken unseen.
void TimeReader::hold_against_kernel() {
  constexpr std::uint64_t kUnseenNs = 20'000'000;
  const TimeShare& all = shares_.all;
  const std::uint64_t most = all.sampled_ns() + 2 * std::max(all.error_ns, 2 * sample_period_ns()) + kUnseenNs;
  const std::uint64_t ran = shares_.kernel_ran_ns.value_or(0);
  if (sample_period_ns() != 0 && ran > most) shares_.unsampled_ns = ran - all.sampled_ns();
}

void TimeReader::threads(const TimeSweep& sweep) {
  std::vector<ThreadTime> lines(catalog_.threads.size());
  std::map<std::pair<std::size_t, std::size_t>, TimeParts> inside;  // by thread and call
  for (const auto& [cell, parts] : sweep.by_thread()) {
    const std::size_t place = catalog_.threads.index_of(*thread_of_[static_cast<std::size_t>(cell.of)]);
    lines[place] += parts;
    shares_.all += parts;
    if (cell.call != 0) inside[{place, cell.call}] += parts;
  }
  for (const auto& [at, parts] : inside) lines[at.first].inside.push_back(call_time(at.second, parts));
  for (const Thread& thread : catalog_.threads) {
    const std::size_t place = catalog_.threads.index_of(thread);
    if (!scope_.has(thread)) continue;
    ThreadTime& line = lines[place];
    line.tid = thread.tid;
    line.thread = thread.name;
    std::int64_t since = catalog_.start_ns;
    if (const Process* process = catalog_.processes.find(thread.process_id)) {
      line.pid = process->pid;
      if (const Image* image = catalog_.last_image(*process)) {
        line.process = image->name;
        since = image->ts_ns.value_or(since);
      }
    }
    line.names = thread.names_since(since);
    for (std::size_t span = 0; span < scope_.spans_of(thread).size(); span++)
      line.total_ns += sweep.lived_ns(first_span_[place] + span);
    shares_.all.total_ns += line.total_ns;
    divide(line);
    line.inside = longest(std::move(line.inside)).lines;
  }
  double variance = 0;
  for (const ThreadTime& line : lines)
    variance += static_cast<double>(line.error_ns) * static_cast<double>(line.error_ns);
  divide(shares_.all);
  shares_.all.error_ns = static_cast<std::uint64_t>(std::sqrt(variance));
  hold_against_kernel();
  std::erase_if(lines, [](const ThreadTime& line) { return line.total_ns == 0; });
  shares_.threads = longest(std::move(lines));
}

void TimeReader::calls(const TimeSweep& sweep) {
  std::map<std::size_t, TimeParts> sums;
  for (const auto& [cell, parts] : sweep.by_thread())
    if (cell.call != 0) sums[cell.call] += parts;
  std::vector<CallTime> lines;
  lines.reserve(sums.size());
  for (const auto& [call, parts] : sums) lines.push_back(call_time(call, parts));
  shares_.calls = longest(std::move(lines));
}

Waker TimeReader::waker_of(const TimeSweep::Woken& wait) const {
  Waker waker;
  if (wait.waker_tid == TimeSweep::kNobody) {
    waker.who = Waker::Who::kNobody;
  } else if (wait.waker_tid == TimeSweep::kSomebody) {
    waker.who = Waker::Who::kSomebody;
  } else if (wait.waker_tid == 0) {
    waker.who = Waker::Who::kInterrupt;
  } else {
    waker.pid = wait.waker_pid;
    waker.tid = wait.waker_tid;
    const auto known = by_tid_.find({wait.waker_pid, wait.waker_tid});
    if (known != by_tid_.end()) waker.thread = known->second->name;
  }
  return waker;
}

void TimeReader::add_waker(Wakers& wakers, const TimeSweep::Woken& wait, const TimeSweep::WokenSum& sum) const {
  Waker waker = waker_of(wait);
  const auto at = wakers.try_emplace({waker.who, waker.pid, waker.tid}, std::move(waker)).first;
  at->second.times += sum.times;
  at->second.waited_ns += sum.waited_ns;
}

std::vector<Waker> TimeReader::sorted(const Wakers& wakers) {
  std::vector<Waker> list;
  list.reserve(wakers.size());
  for (const auto& [key, waker] : wakers) list.push_back(waker);
  std::sort(list.begin(), list.end(), waited_longer);
  return list;
}

Result<void> TimeReader::stacks(const TimeSweep& sweep, TimeStacks& stacks) {
  struct Sum {
    StackTime line;
    std::map<std::size_t, std::uint64_t> inside;  // time by call
    Wakers wakers;
  };
  std::map<StackRowId, Sum> sums;
  std::map<TimeFunction, FunctionTime> functions;
  std::map<TimeFunction, std::pair<RunningTime, std::map<TimeFunction, std::uint64_t>>> running;
  for (const auto& [cell, parts] : sweep.by_stack()) {
    auto stack = stacks.find(StackRowId(cell.of));
    if (!stack) return stack.error();
    Sum& sum = sums[(*stack)->same];
    sum.line += parts;
    sum.line.trigger = (*stack)->trigger;
    if (cell.call != 0) sum.inside[cell.call] += parts.call_ns;
    FunctionTime& function = functions[(*stack)->trigger];
    function.at = (*stack)->trigger;
    function += parts;
    if (parts.samples == 0) continue;
    auto& [hot, triggers] = running[(*stack)->innermost];
    hot.at = (*stack)->innermost;
    hot += parts;
    triggers[(*stack)->trigger] += parts.sampled_ns();
  }
  for (const auto& [wait, waited] : sweep.by_waker()) {
    auto stack = stacks.find(wait.stack);
    if (!stack) return stack.error();
    add_waker(sums[(*stack)->same].wakers, wait, waited);
  }
  const auto less_time = [](const auto& a, const auto& b) { return a.second < b.second; };

  std::vector<FunctionTime> by_trigger;
  for (auto& [at, line] : functions) {
    add_up(line);
    if (line.total_ns != 0) by_trigger.push_back(std::move(line));
  }
  shares_.functions = longest(std::move(by_trigger));

  std::vector<RunningTime> hot;
  for (auto& [at, found] : running) {
    auto& [line, triggers] = found;
    add_up(line);
    line.total_ns = line.running_ns;
    line.trigger = std::max_element(triggers.begin(), triggers.end(), less_time)->first;
    line.triggers = triggers.size();
    hot.push_back(std::move(line));
  }
  shares_.running = longest(std::move(hot));

  std::vector<StackTime> lines;
  for (auto& [same, sum] : sums) {
    add_up(sum.line);
    if (sum.line.total_ns == 0) continue;
    sum.line.stack = same;
    if (!sum.inside.empty())
      sum.line.call = call_name(std::max_element(sum.inside.begin(), sum.inside.end(), less_time)->first);
    sum.line.wakers = sorted(sum.wakers);
    lines.push_back(std::move(sum.line));
  }
  shares_.stacks = longest(std::move(lines));
  for (StackTime& line : shares_.stacks.lines) {
    auto folded = stacks.folded(line.stack);
    if (!folded) return folded.error();
    line.folded = std::move(*folded);
  }
  return {};
}

Result<void> TimeReader::waiting(const TimeSweep& sweep, TimeStacks& stacks) {
  std::map<std::tuple<TimeUse, std::string, TimeFunction>, std::pair<WaitingTime, Wakers>> sums;
  for (const auto& [wait, waited] : sweep.by_waker()) {
    auto stack = stacks.find(wait.stack);
    if (!stack) return stack.error();
    auto& [line, wakers] = sums[{wait.state, call_name(wait.call), (*stack)->trigger}];
    line.times += waited.times;
    line.waited_ns += waited.waited_ns;
    line.for_cpu_ns += waited.for_cpu_ns;
    line.longest_ns = std::max(line.longest_ns, waited.longest_ns);
    add_waker(wakers, wait, waited);
  }
  std::vector<WaitingTime> lines;
  for (auto& [key, sum] : sums) {
    std::tie(sum.first.state, sum.first.call, sum.first.trigger) = key;
    sum.first.wakers = sorted(sum.second);
    lines.push_back(std::move(sum.first));
  }
  shares_.waiting = top(std::move(lines), query_.lines, [](const WaitingTime& a, const WaitingTime& b) {
    return std::tie(b.waited_ns, a.call, a.trigger, a.state) < std::tie(a.waited_ns, b.call, b.trigger, b.state);
  });
  return {};
}

}  // namespace

TimeUse use_of(const Kind& kind) {
  if (kind.source == trace::source_name(USC_SOURCE_SYSCALL)) return TimeUse::kCall;
  if (kind.source == trace::source_name(USC_SOURCE_SAMPLE)) {
    if (kind.nr == USC_SAMPLE_USER) return TimeUse::kUser;
    return kind.nr == USC_SAMPLE_KERNEL ? TimeUse::kKernel : TimeUse::kNothing;
  }
  if (kind.source != trace::source_name(USC_SOURCE_OFFCPU)) return TimeUse::kNothing;
  switch (kind.nr) {
    case USC_OFFCPU_PREEMPTED:
      return TimeUse::kPreempted;
    case USC_OFFCPU_SLEEPING:
      return TimeUse::kSleeping;
    case USC_OFFCPU_BLOCKED:
      return TimeUse::kBlocked;
    case USC_OFFCPU_STOPPED:
      return TimeUse::kStopped;
    default:
      return TimeUse::kNothing;
  }
}

Result<TimeShares> read_time(const store::Database& database, const Catalog& catalog, const TimeQuery& query) {
  return TimeReader(database, catalog, query).run();
}

}  // namespace uscope::analyzer
