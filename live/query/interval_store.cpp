// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "live/query/interval_store.h"

#include <algorithm>
#include <limits>
#include <unordered_set>
#include <utility>

#include "live/query/stand_ins.h"
#include "trace/hit.h"
#include "trace/loss_class.h"
#include "trace/record_type.h"
#include "trace/signal_info.h"

namespace uscope::query {
namespace {

constexpr std::uint64_t kNever = std::numeric_limits<std::uint64_t>::max();
constexpr std::size_t kMostIntervals = 4096;  // that records may come for at once
constexpr std::uint32_t kMostProcessors = 8192;

}  // namespace

IntervalStore::IntervalStore(const Plan& plan, std::uint64_t interval_ns, std::uint64_t length_ns, int folder,
                             Close close, std::size_t most_stacks)
    : plan_(plan),
      interval_ns_(interval_ns),
      length_ns_(length_ns),
      folder_(folder),
      close_(std::move(close)),
      window_({.descriptors = plan.needs.objects, .looks = false}),
      sequence_(kMostProcessors),
      most_stacks_(most_stacks),
      stacks_allowed_(most_stacks) {
  for (std::size_t word = 0; word < plan_.keys.size(); word++)
    if (plan_.keys[word].what == Key::kGuise) guise_word_ = word;
  begin_next();
}

void IntervalStore::on_start(std::uint64_t start_ns) {
  start_ns_ = start_ns;
  intervals_.front().from_ns = start_ns;
  intervals_.front().until_ns = end_of(start_ns);
}

void IntervalStore::begin_next() {
  const std::uint64_t from = intervals_.empty() ? 0 : intervals_.back().until_ns;
  intervals_.emplace_back(plan_.program);
  intervals_.back().from_ns = from;
  intervals_.back().until_ns = end_of(from);
}

// The first one has no end until it is known when tracing begins.
std::uint64_t IntervalStore::end_of(std::uint64_t from_ns) const {
  if (interval_ns_ == 0 || start_ns_ == 0) return kNever;
  const std::uint64_t until = from_ns + interval_ns_;
  return length_ns_ != 0 && until >= start_ns_ + length_ns_ ? kNever : until;
}

IntervalStore::Interval& IntervalStore::interval_of(std::uint64_t time) {
  while (time >= intervals_.back().until_ns && intervals_.size() < kMostIntervals) begin_next();
  for (Interval& interval : intervals_)
    if (time < interval.until_ns) return interval;
  return intervals_.back();
}

Result<live::WindowTrace*> IntervalStore::trace_of(Interval& interval) {
  if (!interval.trace) {
    auto begun = live::WindowTrace::begin(folder_, start_ns_, utc_offset_ns_);
    if (!begun) return begun.error();
    interval.trace.emplace(std::move(*begun));
  }
  return &*interval.trace;
}

Result<void> IntervalStore::append(const usc_record& record) {
  if (!trouble_) return trouble_;
  bytes_ += record.size;
  last_ns_ = std::max<std::uint64_t>(last_ns_, record.time);
  const auto* bytes = reinterpret_cast<const std::byte*>(&record);
  sequence_.observe({record, {bytes, record.size}, 0});
  trouble_ = take(record);
  return trouble_;
}

Result<void> IntervalStore::take(const usc_record& record) {
  switch (record.type) {
    case USC_RECORD_EVENT:
      return take_event(trace::Event(trace::record_as<usc_event>(record)));
    case USC_RECORD_SIGNAL:
      return put(interval_of(record.time), trace::Event(trace::event_of_signal(trace::record_as<usc_signal>(record))),
                 record);
    case USC_RECORD_HIT:
      return take_hit(trace::record_as<usc_hit>(record));
    case USC_RECORD_LOGGED:
      return put(interval_of(record.time), trace::event_of_logged(trace::record_as<usc_logged>(record)), record);
    case USC_RECORD_PARTIAL:
      return {};  // add() has had its row; its number counts for the sequence
    case USC_RECORD_LOSS:
      window_.define(record);
      return take_loss(trace::record_as<usc_loss>(record));
    case USC_RECORD_STRING:
      return plan_.needs.objects ? take_string(trace::record_as<usc_string>(record)) : Result<void>();
    default:
      window_.define(record);
      return {};
  }
}

Result<void> IntervalStore::take_event(const trace::Event& event) {
  const auto whole = window_.open().take_call(event);
  return whole ? put(interval_of(event.head.time), *whole, whole->head) : Result<void>();
}

// What lasts belongs, like a call, to the interval in which it ended.
Result<void> IntervalStore::take_hit(const usc_hit& hit) {
  if (!window_.open().take_hit(hit)) return {};
  return put(interval_of(hit.head.time), trace::event_of_hit(hit), hit.head);
}

// It came to be known now, before the first interval is closed: it belongs to that.
Result<void> IntervalStore::take_loss(const usc_loss& loss) {
  Interval& interval = intervals_.front();
  if (trace::counts_events(trace::loss_class(loss.cause))) interval.lost += loss.count;
  auto trace = trace_of(interval);
  return trace ? (*trace)->append(loss.head) : trace.error();
}

// Of a call that has been seen before, on another processor, the string may belong to any interval that is open.
Result<void> IntervalStore::take_string(const usc_string& string) {
  const trace::TaskId task(string.head.task);
  if (!window_.open().is_over(task, string.entry_ns)) {
    window_.open().keep_part(task, string.entry_ns, string.head);
    return {};
  }
  for (Interval& interval : intervals_) {
    if (string.entry_ns >= interval.until_ns) continue;
    auto trace = trace_of(interval);
    if (!trace) return trace.error();
    if (auto done = (*trace)->append(string.head); !done) return done;
    for (live::DescriptorChange& change : interval.changes)
      if (change.event.head.task == string.head.task && change.event.entry_ns == string.entry_ns)
        change.strings.push_back(live::keep(string.head));
  }
  return {};
}

// What the arguments of this call pointed to; and the call itself, if it changed descriptors.
Result<void> IntervalStore::put_strings(Interval& interval, const trace::Event& event) {
  if (event.source != USC_SOURCE_SYSCALL) return {};
  std::vector<live::KeptRecord> own = window_.open().take_parts(trace::TaskId(event.head.task), event.entry_ns);
  auto trace = trace_of(interval);
  if (!trace) return trace.error();
  for (const live::KeptRecord& record : own)
    if (auto done = write_kept(**trace, record); !done) return done;
  if (live::KeptDescriptors::is_change(event)) interval.changes.push_back({event, std::move(own)});
  return {};
}

Result<void> IntervalStore::put(Interval& interval, const trace::Event& event, const usc_record& record) {
  if (plan_.way == Way::kSums) {
    const usc_query_end end = interval.sums.add(event);
    if (end == USC_QUERY_WHOLE) interval.whole.push_back(event);
    interval.events += end == USC_QUERY_REFUSED ? 0 : 1;
    return {};
  }
  if (plan_.needs.objects)
    if (auto done = put_strings(interval, event); !done) return done;
  // A call that is only followed is not an event.
  if ((event.flags & USC_EVENT_FOLLOWED) == 0) {
    interval.events++;
    if (plan_.needs.stack && event.stack != 0) interval.stacks.insert(trace::StackId(event.stack));
  }
  auto trace = trace_of(interval);
  return trace ? (*trace)->append(record) : trace.error();
}

void IntervalStore::add(const usc_query_row& row, const usc_query_steps* steps) {
  if (told_sums_ && intervals_.size() == 1) begin_next();
  Interval& interval = intervals_[told_sums_ ? 1 : 0];
  interval.sums.add(row, steps);
  interval.events += row.events;
}

// What the kernel side has summed by then names the guises that it was summed under.
bool IntervalStore::wants_sums() {
  if (wants_sums_) return true;
  if (plan_.way != Way::kSums || !window_.definitions().guises().are_many() || round_ns_ == 0) return false;
  replaced_by_ns_ = round_ns_;
  return true;
}

void IntervalStore::on_sums_sent() {
  if (replaced_by_ns_) return forget_guises();
  wants_sums_ = false;
  told_sums_ = true;
}

std::set<trace::ImageId> IntervalStore::guises_in_use(std::size_t first_interval) const {
  std::set<trace::ImageId> in_use;
  for (std::size_t i = first_interval; i < intervals_.size(); i++) {
    const PartialRows& rows = intervals_[i].sums.rows();
    for (std::size_t row = 0; guise_word_ && row < rows.size(); row++)
      if (const auto serial = rows.word(row, *guise_word_)) in_use.emplace(static_cast<std::uint32_t>(*serial));
    for (const trace::Event& event : intervals_[i].whole) in_use.emplace(event.image);
  }
  window_.open().each_event([&in_use](const usc_event& event) { in_use.emplace(event.image); });
  return in_use;
}

void IntervalStore::replace_guises(const std::unordered_map<trace::ImageId, trace::ImageId>& with) {
  if (!guise_word_ || with.empty()) return;
  for (Interval& interval : intervals_)
    interval.sums.replace(*guise_word_, [&with](std::int64_t serial) -> std::int64_t {
      const auto found = with.find(trace::ImageId(static_cast<std::uint32_t>(serial)));
      return found == with.end() ? serial : found->second.value();
    });
}

// A thread's guises of one name and user are one in the rows, so there are no more of them than the answer can show.
void IntervalStore::forget_guises() {
  const std::uint64_t replaced_by_ns = *std::exchange(replaced_by_ns_, std::nullopt);
  replace_guises(window_.definitions().guises().firsts());
  std::set<trace::ImageId> in_use = guises_in_use(0);
  window_.definitions().forget_guises(replaced_by_ns, in_use);
  const auto beyond = window_.definitions().merge_guises();
  if (beyond.empty()) return;
  for (const auto& [serial, first] : beyond) intervals_.front().names_beyond += in_use.count(serial);
  replace_guises(beyond);
  window_.definitions().forget_guises(replaced_by_ns, guises_in_use(0));
}

std::uint64_t IntervalStore::unknown_stacks(const Interval& interval) const {
  return static_cast<std::uint64_t>(
      std::count_if(interval.stacks.begin(), interval.stacks.end(),
                    [this](trace::StackId stack) { return !window_.definitions().knows(stack); }));
}

bool IntervalStore::stacks_are_known(const Interval& interval) {
  if (!plan_.needs.stack) return true;
  if (plan_.way == Way::kSums) {
    const auto needs = [this](std::uint32_t stack) {
      return stack != 0 && !window_.definitions().knows(trace::StackId(stack));
    };
    const PartialRows& rows = interval.sums.rows();
    for (std::size_t row = 0; row < rows.size(); row++)
      if (needs(stack_of(rows.key(row), plan_.keys))) return false;
    return std::none_of(interval.whole.begin(), interval.whole.end(),
                        [&](const trace::Event& event) { return needs(event.stack); });
  }
  return unknown_stacks(interval) == 0;
}

void IntervalStore::on_round(std::uint64_t before_ns) {
  if (before_ns == kNever) return;  // finish() closes what is left
  round_ns_ = before_ns;
  while (trouble_ && before_ns >= intervals_.front().until_ns) {
    if (!std::exchange(asked_for_losses_, true)) {
      wants_losses_ = true;
      wants_sums_ = plan_.way == Way::kSums;
      return;
    }
    if (wants_losses_ || wants_sums_) return;
    const Interval& first = intervals_.front();
    if (before_ns - first.until_ns < kStackPatienceNs && !stacks_are_known(first)) return;
    trouble_ = close_first(false);
    asked_for_losses_ = false;
  }
}

Result<void> IntervalStore::close_first(bool last) {
  Interval& interval = intervals_.front();
  auto trace = trace_of(interval);
  if (!trace) return trace.error();
  ClosedInterval closed;
  StandIns stand_ins(window_.definitions());
  if (plan_.way == Way::kSums) {
    closed.rows = interval.sums.take_rows();
    const bool has_guises = (plan_.program.reads & 1U << USC_QUERY_GUISE) != 0;
    const auto put_event = [&](trace::Event event) {
      if (plan_.needs.stack && event.stack != 0) interval.stacks.insert(trace::StackId(event.stack));
      if (has_guises) stand_ins.give(event);
      return append_event(**trace, event);
    };
    std::uint32_t events = 0;
    const std::vector<std::uint32_t> numbers = events_of(closed.rows, plan_.keys);
    for (std::size_t row = 0; row < numbers.size(); row++)
      if (numbers[row] == events)
        if (auto done = put_event(trace::Event(event_of(closed.rows.key(row), plan_.keys, events++))); !done)
          return done;
    const bool has_times = (plan_.program.reads & (1U << USC_QUERY_TIME | 1U << USC_QUERY_TOOK)) != 0;
    std::uint64_t behind_rows = events;
    for (trace::Event& event : interval.whole) {
      // Where no clock was read, times are numbers of each task, among those that the rows' events have.
      if (!has_times) event.entry_ns = event.head.time = ++behind_rows;
      if (auto done = put_event(event); !done) return done;
    }
  }
  if (auto done = window_.definitions().write(**trace, interval.stacks); !done) return done;
  if (auto done = stand_ins.write(**trace); !done) return done;
  if (auto done = window_.descriptors().write(**trace); !done) return done;
  closed.facts.from_ns = interval.from_ns;
  closed.facts.until_ns =
      interval.until_ns == kNever || last ? std::max(last_ns_, interval.from_ns) : interval.until_ns;
  closed.facts.events = interval.events;
  closed.facts.lost = interval.lost;
  closed.facts.without_stack = unknown_stacks(interval);
  closed.facts.names_beyond = interval.names_beyond + window_.definitions().take_names_beyond();
  closed.bytes = (*trace)->bytes();
  closed.facts.last = last;
  auto file = (*trace)->end();
  if (!file) return file.error();
  closed.trace = std::move(*file);
  forget_ended(interval);
  if (intervals_.size() == 1 && !last) begin_next();  // its end is known, so it was not the last
  auto done = close_(std::move(closed));
  intervals_.pop_front();
  told_sums_ = false;
  if (!last) forget_stacks();
  return done;
}

// A late record may still refer to a task that ended in this interval.
void IntervalStore::forget_ended(Interval& closed) {
  if (plan_.needs.objects) window_.descriptors().add(std::move(closed.changes));
  window_.forget(closed.from_ns, guises_in_use(1));
}

void IntervalStore::on_stacks_resent(trace::StackId first) {
  asked_for_stacks_ = true;
  if (!first) return;  // the kernel side cannot do it, and is not asked again
  new_from_ = first;
  new_from_ns_ = round_ns_;
}

// The events of later intervals began long after the kernel side was asked, but for those of calls that are open.
void IntervalStore::forget_stacks() {
  if (!new_from_ || intervals_.front().from_ns < new_from_ns_ + kOpenCallsNs) return;
  std::unordered_set<trace::StackId> in_use;
  window_.open().each_event([&in_use](const usc_event& event) { in_use.emplace(event.stack); });
  window_.definitions().forget_stacks(*new_from_, in_use);
  stacks_allowed_ = std::max(most_stacks_, 2 * window_.definitions().stacks());
  new_from_.reset();
  asked_for_stacks_ = false;
}

// At the end, what has not returned counts as a stored trace has it.
Result<void> IntervalStore::put_open() {
  Interval& last = intervals_.back();
  live::OpenEvents& open = window_.open();
  if (auto done = open.each_call([&](const trace::Event& event) { return put(last, event, event.head); }); !done)
    return done;
  if (auto done = open.each_hit([&](const usc_hit& hit) { return put(last, trace::event_of_hit(hit), hit.head); });
      !done)
    return done;
  open.clear();
  return {};
}

Result<void> IntervalStore::finish() {
  if (!trouble_) return trouble_;
  if (auto done = put_open(); !done) return done;
  intervals_.back().lost += sequence_.unexplained();
  while (!intervals_.empty())
    if (auto done = close_first(intervals_.size() == 1); !done) return done;
  return {};
}

}  // namespace uscope::query
