// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "store/write/event_counter.h"

#include <algorithm>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>

#include "support/quiet_thread.h"
#include "trace/names.h"

namespace uscope::store {

Result<void> EventCounter::prepare() {
  coming_.reserve(kBatch);
  batch_.reserve(kBatch);
  if (auto done = objects_.prepare(); !done) return done;
  return gaps_.prepare();
}

CountedThread EventCounter::add_thread(const Thread& thread) {
  coming_threads_.push_back(thread);
  return known_threads_++;
}

// The next batch is counted while the one after it is added. Rows are added on this thread alone.
Result<void> EventCounter::hand_over() {
  wait_until_counted();
  if (auto done = objects_.write_full(); !done) return done;
  if (auto done = gaps_.write_full(); !done) return done;
  take_threads();
  std::swap(coming_, batch_);
  coming_.clear();
  if (may_begin_) begin_thread();
  if (!thread_.joinable()) {
    count_batch();
    return {};
  }
  {
    const std::lock_guard lock(mutex_);
    is_counting_ = true;
  }
  has_batch_.notify_one();
  return {};
}

void EventCounter::take_threads() {
  for (const Thread& thread : coming_threads_) threads_.emplace_back().thread = thread;
  coming_threads_.clear();
}

Result<void> EventCounter::settle() {
  may_begin_ = false;  // for a last batch, which is waited for
  if (auto done = hand_over(); !done) return done;
  wait_until_counted();
  end_thread();
  return {};
}

// Without a further thread, if there can be none, batches are counted where they are handed over.
void EventCounter::begin_thread() {
  may_begin_ = false;
  try {
    thread_ = quiet_thread([this] { run(); });
  } catch (const std::system_error&) {
  }
}

void EventCounter::end_thread() {
  if (!thread_.joinable()) return;
  {
    const std::lock_guard lock(mutex_);
    ends_ = true;
  }
  has_batch_.notify_one();
  thread_.join();
}

// Throws what counting has thrown: there is no memory left.
void EventCounter::wait_until_counted() {
  std::unique_lock lock(mutex_);
  is_counted_.wait(lock, [this] { return !is_counting_; });
  if (failure_) std::rethrow_exception(std::exchange(failure_, nullptr));
}

void EventCounter::run() {
  std::unique_lock lock(mutex_);
  for (;;) {
    has_batch_.wait(lock, [this] { return is_counting_ || ends_; });
    if (!is_counting_) return;
    lock.unlock();
    std::exception_ptr failure;
    try {
      count_batch();
    } catch (...) {
      failure = std::current_exception();
    }
    lock.lock();
    failure_ = std::move(failure);
    is_counting_ = false;
    is_counted_.notify_one();
  }
}

void EventCounter::count_batch() {
  for (const CountedEvent& event : batch_) count(event);
  batch_.clear();
}

void EventCounter::count(const CountedEvent& event) {
  count_for_thread(event);
  if (event.is_left_out) return;
  const ObjectTotals::Facts& facts = event.facts;
  const std::optional<std::uint64_t> duration = event.returned ? std::optional(facts.duration) : std::nullopt;
  Cell& cell = cells_[{facts.kind, facts.trigger}];
  if (cell.events++ == 0) cell.first = facts.event;
  if (duration) cell.latency.add(*duration);
  cell.errors += facts.error != 0;
  cell.total_ns += facts.duration;
  cell.open += event.unfinished;
  if (event.stack_ended) end_events_[*event.stack_ended]++;
  if (event.stack_guessed) guessed_[event.stack]++;
  totals_.add({.id = facts.event,
               .kind = facts.kind,
               .trigger = facts.trigger,
               .duration = duration,
               .error = facts.error,
               .open = event.unfinished,
               .waits = event.waits,
               .is_call = event.is_call});
  if (event.object.is_about_any) objects_.add(facts, event.object);
}

void EventCounter::count_work(const CountedEvent& event, Work& work) {
  work.events++;
  work.errors += event.facts.error != 0;
  if (!event.is_syscall) return;
  work.total_ns += event.facts.duration;
  if (event.waits) work.wait_ns += event.facts.duration;
}

// Beyond the bound, everything counts for the last one.
EventCounter::Program& EventCounter::program_of(Counts& counts, trace::ImageId image) {
  constexpr std::size_t kMost = 64;
  std::vector<Program>& programs = counts.programs;
  if (!programs.empty() && programs.back().image == image) return programs.back();
  const auto at =
      std::find_if(programs.begin(), programs.end(), [image](const Program& one) { return one.image == image; });
  if (at != programs.end()) return *at;
  if (programs.size() >= kMost) return programs.back();
  Program& added = programs.emplace_back();
  added.image = image;
  return added;
}

void EventCounter::count_for_thread(const CountedEvent& event) {
  Counts& counts = threads_[event.thread];
  if (!event.is_left_out) {
    count_work(event, counts);
    count_work(event, program_of(counts, event.facts.image));
  }
  if (!event.is_syscall || counts.thread.is_many) return;
  const GapCall call{event.facts.event, event.facts.kind, event.stack};
  if (std::exchange(counts.begins, false) && !event.attached) {
    counts.all.first_ns = event.entry_ns;
    counts.first = call;
  }
  if (!event.attached) end_gap(counts, event.entry_ns, GapEdge::kCall, call);
  counts.thread.outside_ns = event.is_over ? std::optional(event.end_ns) : std::nullopt;
  counts.thread.outside_since = GapEdge::kCall;
  counts.last = call;
}

void EventCounter::end_gap(Counts& counts, std::uint64_t time, GapEdge until, const GapCall& after) {
  const Thread& thread = counts.thread;
  if (std::exchange(counts.begins, false)) {
    counts.all.first_ns = time;
    counts.first_until = until;
  }
  if (!thread.outside_ns || time <= *thread.outside_ns) return;
  counts.all.gaps++;
  counts.all.gap_ns += time - *thread.outside_ns;
  if (wants_gap_ && !wants_gap_(thread.row, *thread.outside_ns)) return;
  const std::uint64_t duration = std::min<std::uint64_t>(time - *thread.outside_ns, gap_left_);
  gap_left_ -= duration;
  counts.gaps++;
  counts.gap_ns += duration;
  gaps_.add({.since = thread.outside_since,
             .until = until,
             .before = counts.last,
             .after = after,
             .thread = thread.row,
             .process = thread.process,
             .from_ns = *thread.outside_ns,
             .duration = duration});
}

EventCounter::Gaps EventCounter::gaps_of(CountedThread thread) {
  take_threads();
  return threads_[thread].all;
}

void EventCounter::add_first_gap(CountedThread thread, std::uint64_t from_ns, GapEdge since) {
  Counts& counts = threads_[thread];
  if (!counts.all.first_ns) return;
  counts.thread.outside_ns = from_ns;
  counts.thread.outside_since = since;
  counts.last = {};
  end_gap(counts, *counts.all.first_ns, counts.first_until, counts.first);
}

Result<void> EventCounter::write(const StackEnds& stacks) {
  if (auto done = objects_.write(); !done) return done;
  for (const auto step : {&EventCounter::write_cells, &EventCounter::write_threads})
    if (auto done = (this->*step)(); !done) return done;
  if (auto done = write_stack_ends(stacks); !done) return done;
  if (auto done = gaps_.write(); !done) return done;
  return totals_.write(tables_);
}

Result<void> EventCounter::write_cells() {
  auto rows = tables_.rows("cell", 7);
  if (!rows) return rows.error();
  auto latencies = tables_.rows("cell_latency", 4);
  if (!latencies) return latencies.error();
  std::vector<const decltype(cells_)::Entry*> cells;
  for (const auto& entry : cells_) cells.push_back(&entry);
  std::sort(cells.begin(), cells.end(), [](const auto* a, const auto* b) { return a->key < b->key; });
  for (const auto* const entry : cells) {
    const CellKey& key = entry->key;
    const Cell& cell = entry->value;
    const auto trigger = maybe_id(key.second);
    auto done = (*rows)->add(key.first, trigger, cell.events, cell.errors, cell.total_ns, cell.open, cell.first);
    cell.latency.each([&](std::uint64_t up_to, std::uint64_t events) {
      if (done) done = (*latencies)->add(key.first, trigger, up_to, events);
    });
    if (!done) return done;
  }
  return tables_.inserter().settle();
}

Result<void> EventCounter::write_threads() {
  auto insert = tables_.prepare("INSERT INTO thread_total VALUES(?1, ?2, ?3, ?4, ?5, ?6, ?7)");
  if (!insert) return insert.error();
  auto insert_program = tables_.prepare("INSERT INTO program_total VALUES(?1, ?2, ?3, ?4, ?5, ?6)");
  if (!insert_program) return insert_program.error();
  for (const Counts& counts : threads_) {
    if (auto done = insert->run(counts.thread.row, counts.events, counts.errors, counts.total_ns, counts.wait_ns,
                                counts.gaps, counts.gap_ns);
        !done)
      return done;
    for (const Program& program : counts.programs)
      if (auto done = insert_program->run(counts.thread.row, maybe_id(program.image), program.events, program.errors,
                                          program.total_ns, program.wait_ns);
          !done)
        return done;
  }
  return {};
}

Result<void> EventCounter::write_stack_ends(const StackEnds& stacks) {
  auto insert = tables_.prepare("INSERT INTO stack_end VALUES(?1, ?2, ?3)");
  if (!insert) return insert.error();
  for (std::size_t ended = 0; ended < stacks.size(); ended++) {
    if (stacks[ended] == 0) continue;
    const std::string text = trace::ended_name(static_cast<std::uint8_t>(ended));
    if (auto done = insert->run(std::string_view(text), stacks[ended], end_events_[ended]); !done) return done;
  }
  auto insert_guessed = tables_.prepare("INSERT INTO guessed_stack VALUES(?1, ?2)");
  if (!insert_guessed) return insert_guessed.error();
  for (const auto& [stack, events] : guessed_)
    if (auto done = insert_guessed->run(stack, events); !done) return done;
  return {};
}

}  // namespace uscope::store
