// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// The loader's own counter counts the events of the part into temporary tables with the names of the store's: SQLite
// looks a name up among these first. Gaps need all calls of a thread. Since when a thread was in the trace, no table
// tells; but the loader has counted the thread's gaps, and what these are longer than those between its calls is the
// first one.
#include "analyzer/read/part_totals.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "analyzer/read/part_objects.h"
#include "analyzer/read/query.h"
#include "analyzer/read/shadow.h"
#include "store/write/event_counter.h"
#include "syscalls/call_traits.h"
#include "syscalls/errno_names.h"
#include "trace/how.h"
#include "trace/loss_class.h"
#include "trace/names.h"

namespace uscope::analyzer {
namespace {

// As in the store's schema, without what only guards a file from elsewhere.
constexpr std::array<std::pair<std::string_view, std::string_view>, 12> kTables{{
    {"cell", "kind_id, trigger_frame_id, events, errors, total_ns, open, first_event_id"},
    {"latency", "kind_id, up_to_ns, events, PRIMARY KEY (kind_id, up_to_ns)"},
    {"error_cell", "kind_id, errno, trigger_frame_id, events, first_event_id"},
    {"cell_latency", "kind_id, trigger_frame_id, up_to_ns, events"},
    {"thread_total", "thread_id INTEGER PRIMARY KEY, events, errors, total_ns, wait_ns, gaps, gap_ns"},
    {"program_total", "thread_id, image_id, events, errors, total_ns, wait_ns"},
    {"object_total",
     "kind_id, process_id, image_id, trigger_frame_id, folder_id, string_id, part, errno, events, total_ns, bytes, "
     "changes, last_event_id, space, runtime_frame_id"},
    {"gap", "thread_id, ts_ns, dur_ns, since, until, before_event_id, after_event_id, doubtful"},
    {"gap_total",
     "since, until, before_kind_id, before_stack_id, after_kind_id, after_stack_id, gaps, total_ns, longest_ns, ts_ns, "
     "thread_id, before_event_id, after_event_id"},
    {"stack_end", "ended, stacks, events"},
    {"guessed_stack", "stack_id, events"},
    {"notable_event", "list, event_id, PRIMARY KEY (list, event_id)"},
}};

constexpr std::int64_t kMostKinds = std::int64_t{1} << 20;

struct StackFacts {
  store::FrameRowId trigger;
  std::optional<std::uint8_t> ended;  // of user space; none: it has no stack there
  bool guessed = false;
  bool was_met = false;
};

struct KindFacts {
  store::KindRowId id;
  bool is_call = false;
  bool is_signal = false;
  bool waits = false;
  bool counts_bytes = false;
};

class PartCounter {
 public:
  PartCounter(const store::Database& database, const Catalog& catalog, const Part& part)
      : database_(database), catalog_(catalog), part_(part), statements_(database.handle(), false) {}

  Result<void> run();

 private:
  struct Stored {
    std::uint64_t events = 0;
    std::uint64_t gaps = 0;
    std::uint64_t gap_ns = 0;
  };

  Result<void> read_stacks();
  Result<void> read_stored_totals();
  Result<store::LossTimes> losses() const;
  Result<void> count_chosen_events(PartObjects& objects);
  Result<void> count_event(const SqlRow& row, PartObjects& objects);
  void fill(const SqlRow& row, const Thread& thread, std::size_t kind, store::CountedEvent& counted);
  [[nodiscard]] std::string chosen_rows() const;
  store::CountedThread counted_thread(const Thread& thread);
  Result<void> add_outer_gaps();
  [[nodiscard]] std::optional<std::pair<std::uint64_t, store::GapEdge>> end_of(const Thread& thread) const;
  [[nodiscard]] store::GapEdge first_edge(const Thread& thread) const;
  Result<store::StackEnds> count_stacks();
  Result<void> count_logged_stacks(store::StackEnds& ends);
  Result<void> copy_signals();

  const store::Database& database_;
  const Catalog& catalog_;
  const Part& part_;
  store::Statements statements_;
  store::RowInserter inserter_;
  std::optional<store::EventCounter> counter_;
  std::unordered_map<std::int64_t, StackFacts> stacks_;
  std::int64_t user_stacks_ = 0;  // those come first; the others have frames of the kernel, too
  std::vector<KindFacts> kinds_;  // like Catalog::kinds
  std::vector<Stored> stored_;    // like Catalog::threads
  std::vector<std::optional<store::CountedThread>> counted_;  // likewise
  std::vector<std::int64_t> signals_;                         // events of the part
  std::optional<bool> all_made_here_;                         // all threads that came into the trace, or none
};

Result<void> PartCounter::read_stacks() {
  std::map<std::string, std::uint8_t, std::less<>> codes;
  constexpr unsigned kCodes = 256;
  for (unsigned code = kCodes; code-- > 0;) codes[trace::ended_name(code)] = static_cast<std::uint8_t>(code);
  auto done = each_row(database_, "SELECT id, trigger_frame_id, ended FROM stack", [&](const SqlRow& row) {
    const auto code = codes.find(row.text(2));
    stacks_[row.integer(0)] = {.trigger = store::FrameRowId(static_cast<std::uint32_t>(row.integer(1))),
                               .ended = code == codes.end() ? std::nullopt : std::optional(code->second)};
  });
  if (!done) return done;
  done = each_row(database_, "SELECT stack_id FROM " + database_.table("guessed_stack"),
                  [&](const SqlRow& row) { stacks_[row.integer(0)].guessed = true; });
  if (!done) return done;
  return each_row(database_, "SELECT coalesce(sum(stacks), 0) FROM " + database_.table("stack_end"),
                  [&](const SqlRow& row) { user_stacks_ = row.integer(0); });
}

Result<void> PartCounter::read_stored_totals() {
  for (const Kind& kind : catalog_.kinds) {
    // The counter has memory for each number up to the largest.
    if (kind.id.value() < 1 || kind.id.value() > kMostKinds)
      return Error{fmt::format("{} has a kind with the number {}, which uscope does not give",
                               database_.path().string(), kind.id.value()),
                   "load it again from its raw trace with `uscope load`"};
    kinds_.push_back({.id = store::KindRowId(static_cast<std::uint32_t>(kind.id.value())),
                      .is_call = kind.is_call(),
                      .is_signal = kind.source == trace::source_name(USC_SOURCE_SIGNAL),
                      .waits = kind.waits,
                      .counts_bytes = kind.is_call() && syscalls::transfer_of(kind.name).counts_bytes});
  }
  stored_.resize(catalog_.threads.size());
  counted_.resize(catalog_.threads.size());
  auto done =
      each_row(database_, "SELECT thread_id, events, gaps, gap_ns FROM " + database_.table("thread_total"),
               [&](const SqlRow& row) {
                 const Thread* thread = catalog_.threads.find(ThreadRowId(row.integer(0)));
                 if (thread == nullptr) return;
                 stored_[catalog_.threads.index_of(*thread)] = {.events = static_cast<std::uint64_t>(row.integer(1)),
                                                                .gaps = static_cast<std::uint64_t>(row.integer(2)),
                                                                .gap_ns = static_cast<std::uint64_t>(row.integer(3))};
               });
  if (!done) return done;
  bool made_here = false;
  bool found = false;
  done = each_row(
      database_, "SELECT DISTINCT since FROM " + database_.table("gap_total") + " WHERE since IN ('thread', 'tracing')",
      [&](const SqlRow& row) { (row.text(0) == "thread" ? made_here : found) = true; });
  if (made_here != found) all_made_here_ = made_here;
  return done;
}

Result<store::LossTimes> PartCounter::losses() const {
  store::LossTimes losses;
  auto done = each_row(database_, "SELECT cause, count, process_id, ts_ns, until_ns FROM loss", [&](const SqlRow& row) {
    const std::string_view cause = row.text(0);
    // Nobody knows when: the loader's own, of damaged places and of numbers that are missing.
    if (cause == trace::loss_name(USC_LOSS_RAW_DAMAGED)) losses.set_always();
    losses.add(trace::loss_class(cause), static_cast<std::uint64_t>(row.integer(1)),
               trace::ProcessId(static_cast<std::uint32_t>(row.integer(2))), static_cast<std::uint64_t>(row.integer(3)),
               static_cast<std::uint64_t>(row.integer(4)));
  });
  if (!done) return done.error();
  losses.finish();
  return losses;
}

store::CountedThread PartCounter::counted_thread(const Thread& thread) {
  auto& counted = counted_[catalog_.threads.index_of(thread)];
  // What stands for all tasks beyond a bound has neither a number nor gaps.
  if (!counted)
    counted = counter_->add_thread({.row = store::ThreadRowId(thread.id.value()),
                                    .process = trace::ProcessId(static_cast<std::uint32_t>(thread.process_id.value())),
                                    .is_many = thread.id.value() > UINT32_MAX});
  return *counted;
}

// Few threads are found by the index.
std::string PartCounter::chosen_rows() const {
  constexpr std::uint64_t kPart = 8;
  std::string list;
  std::uint64_t chosen = 0;
  std::uint64_t all = 0;
  for (const Thread& thread : catalog_.threads) {
    const std::uint64_t events = stored_[catalog_.threads.index_of(thread)].events;
    all += events;
    if (!part_.has(thread)) continue;
    chosen += events;
    list += (list.empty() ? "" : ",") + to_string(thread.id);
  }
  if (chosen > all / kPart) return "";
  return " WHERE thread_id IN (" + list + ")";
}

void PartCounter::fill(const SqlRow& row, const Thread& thread, std::size_t kind, store::CountedEvent& counted) {
  const KindFacts& facts = kinds_[kind];
  const std::string_view how = row.text(3);
  const std::optional<std::int64_t> duration = row.maybe_integer(2);
  const std::optional<std::int64_t> result = row.maybe_integer(6);
  const bool failed = facts.is_call && result && syscalls::is_error(*result);
  const auto stack = stacks_.find(row.integer(7));
  const std::int64_t entry = std::max<std::int64_t>(0, row.integer(1));
  counted.facts = {.event = store::EventRowId(row.integer(0)),
                   .kind = facts.id,
                   .process = trace::ProcessId(static_cast<std::uint32_t>(thread.process_id.value())),
                   .image = trace::ImageId(static_cast<std::uint32_t>(row.integer(5))),
                   .trigger = stack == stacks_.end() ? store::FrameRowId() : stack->second.trigger,
                   .duration = static_cast<std::uint64_t>(std::max<std::int64_t>(0, duration.value_or(0))),
                   .bytes = facts.counts_bytes && result && *result > 0 ? static_cast<std::uint64_t>(*result) : 0,
                   .error = failed ? -*result : 0};
  counted.stack = store::StackRowId(static_cast<std::uint32_t>(row.integer(7)));
  counted.thread = counted_thread(thread);
  counted.entry_ns = static_cast<std::uint64_t>(entry);
  counted.end_ns = counted.entry_ns + counted.facts.duration;
  counted.returned = duration.has_value();
  counted.unfinished = trace::is_unfinished(how, duration.has_value());
  counted.is_over = counted.returned || how == trace::how_name(USC_HOW_NO_ENTRY);
  counted.attached = how == trace::how_name(USC_HOW_ATTACHED);
  counted.is_syscall = facts.is_call;
  counted.is_call = facts.is_call;
  counted.waits = facts.waits;
  counted.is_left_out = !part_.has(thread, row.integer(1));
  if (stack == stacks_.end() || counted.is_left_out) return;
  counted.stack_ended = stack->second.ended;
  counted.stack_guessed = stack->second.guessed;
  stack->second.was_met = true;
}

Result<void> PartCounter::count_event(const SqlRow& row, PartObjects& objects) {
  const Thread* thread = catalog_.threads.find(ThreadRowId(row.integer(4)));
  const Kind* found = catalog_.kinds.find(KindRowId(row.integer(8)));
  if (thread == nullptr || found == nullptr || !part_.has(*thread)) return {};
  const std::size_t kind = catalog_.kinds.index_of(*found);
  if (kinds_[kind].is_signal && part_.has(*thread, row.integer(1))) signals_.push_back(row.integer(0));
  store::CountedEvent& counted = counter_->next();
  fill(row, *thread, kind, counted);
  if (kinds_[kind].is_call && !counted.is_left_out) {
    PartObjects::Call call{.event = EventRowId(row.integer(0)),
                           .kind = kind,
                           .process = thread->process_id,
                           .image = ImageRowId(row.integer(5)),
                           .object = row.integer(9)};
    constexpr int kArguments = 10;
    for (std::size_t i = 0; i < call.arguments.size(); i++)
      call.arguments.at(i) = static_cast<std::uint64_t>(row.integer(kArguments + static_cast<int>(i)));
    auto object = objects.of(call);
    if (!object) return object.error();
    counted.object = *object;
  }
  return counter_->add_next();
}

Result<void> PartCounter::count_chosen_events(PartObjects& objects) {
  Result<void> counted;
  auto query = database_.prepare(
      "SELECT id, ts_ns, dur_ns, how, thread_id, image_id, result, stack_id, kind_id, object_id, a0, a1, a2, a3, a4, "
      "a5 "
      "FROM event" +
      chosen_rows() + " ORDER BY id");
  if (!query) return query.error();
  for (;;) {
    auto more = query->step();
    if (!more) return more.error();
    if (!*more) break;
    if (counted = count_event(*query, objects); !counted) return counted;
  }
  return counter_->settle();
}

// When the thread's last gap ended, if it was in no call then.
std::optional<std::pair<std::uint64_t, store::GapEdge>> PartCounter::end_of(const Thread& thread) const {
  if (!thread.start_ns) return std::nullopt;
  const auto at = [](std::int64_t time) { return static_cast<std::uint64_t>(std::max<std::int64_t>(0, time)); };
  const auto complete = catalog_.meta.find("complete");
  if (thread.end_ns) return std::pair(at(*thread.end_ns), store::GapEdge::kThread);
  if (thread.left_ns) return std::pair(at(*thread.left_ns), store::GapEdge::kLeft);
  const auto recorded_until = catalog_.meta_number("calls_until_ns");
  if (!recorded_until || complete == catalog_.meta.end() || complete->second != "1") return std::nullopt;
  return std::pair(at(*recorded_until), store::GapEdge::kTracing);
}

// Whether the thread was made while tracing, or ran before it came into the trace.
store::GapEdge PartCounter::first_edge(const Thread& thread) const {
  const bool made_here = all_made_here_.value_or(thread.start_ns.value_or(0) >= catalog_.start_ns);
  return made_here ? store::GapEdge::kThread : store::GapEdge::kTracing;
}

Result<void> PartCounter::add_outer_gaps() {
  for (const Thread& thread : catalog_.threads) {
    const Stored& stored = stored_[catalog_.threads.index_of(thread)];
    if (!part_.has(thread)) continue;
    const store::CountedThread counted = counted_thread(thread);
    if (const auto end = end_of(thread)) counter_->end_gap(counted, end->first, end->second);
    const store::EventCounter::Gaps gaps = counter_->gaps_of(counted);
    if (!gaps.first_ns || stored.gaps <= gaps.gaps || stored.gap_ns <= gaps.gap_ns) continue;
    const std::uint64_t length = std::min(stored.gap_ns - gaps.gap_ns, *gaps.first_ns);
    counter_->add_first_gap(counted, *gaps.first_ns - length, first_edge(thread));
  }
  return {};
}

Result<store::StackEnds> PartCounter::count_stacks() {
  store::StackEnds ends{};
  bool logged = false;
  for (const auto& [id, stack] : stacks_) {
    if (!stack.was_met || !stack.ended) continue;
    if (id <= user_stacks_)
      ends.at(*stack.ended)++;
    else
      logged = true;
  }
  if (logged)
    if (auto done = count_logged_stacks(ends); !done) return done.error();
  return ends;
}

// Of a stack with frames of the kernel, the user stack below them counts: the one with the same frames.
Result<void> PartCounter::count_logged_stacks(store::StackEnds& ends) {
  std::map<std::pair<std::uint8_t, std::string>, bool> met;  // by end and frames of user space: counted already
  std::int64_t stack = 0;
  std::string frames;
  const auto take = [&] {
    const auto at = stacks_.find(stack);
    if (at == stacks_.end() || !at->second.was_met || !at->second.ended) return;
    bool& counted = met[{*at->second.ended, frames}];
    if (stack > user_stacks_ && !counted) ends.at(*at->second.ended)++;
    counted = true;
  };
  auto done = each_row(database_,
                       "SELECT stack_id, frame_id FROM stack_frame WHERE space = 'user' "
                       "ORDER BY stack_id, position, inline_depth",
                       [&](const SqlRow& row) {
                         if (row.integer(0) != stack) {
                           take();
                           stack = row.integer(0);
                           frames.clear();
                         }
                         frames += fmt::format("{},", row.integer(1));
                       });
  if (done) take();
  return done;
}

Result<void> PartCounter::copy_signals() {
  const std::string all = database_.table("signal");
  if (auto done = shadow(database_, Shadow::kTable, "signal", " AS SELECT * FROM " + all + " WHERE 0"); !done)
    return done;
  auto insert = database_.prepare("INSERT INTO temp.signal SELECT * FROM " + all + " WHERE event_id = ?1");
  if (!insert) return insert.error();
  for (const std::int64_t event : signals_)
    if (auto done = insert->run(event); !done) return done;
  return {};
}

Result<void> PartCounter::run() {
  if (auto done = read_stacks(); !done) return done;
  if (auto done = read_stored_totals(); !done) return done;
  auto objects = PartObjects::create(database_, catalog_);
  if (!objects) return objects.error();
  auto losses = this->losses();
  if (!losses) return losses.error();
  for (const auto& [name, columns] : kTables)
    if (auto done = shadow(database_, Shadow::kTable, name, fmt::format("({})", columns)); !done) return done;
  counter_.emplace(store::TableWriter(statements_, inserter_), std::move(*losses));
  counter_->want_gaps([this](store::ThreadRowId row, std::uint64_t from_ns) {
    const Thread* thread = catalog_.threads.find(ThreadRowId(row.value()));
    return thread != nullptr && part_.has(*thread, static_cast<std::int64_t>(from_ns));
  });
  if (auto done = counter_->prepare(); !done) return done;
  if (auto done = count_chosen_events(*objects); !done) return done;
  if (auto done = add_outer_gaps(); !done) return done;
  auto stacks = count_stacks();
  if (!stacks) return stacks.error();
  if (auto done = counter_->write(*stacks); !done) return done;
  counter_.reset();  // the statements that it has keep the tables
  return copy_signals();
}

}  // namespace

Result<void> count_part(const store::Database& database, const Catalog& catalog, const Part& part) {
  for (const store::SchemaChange* change : database.lacks())
    if (change->object == "object" || change->object == "thread_name")
      return Error{
          database.path().string() +
              " was made by an older version of uscope: it does not tell what each call is about, nor all names "
              "of threads, so a part of it cannot be counted",
          "load it again from its raw trace with `uscope load`, or leave out --pid, --tid, --thread, --since "
          "and --until"};
  // One transaction, or each row would be one.
  auto done = store::execute(database.handle(), "SAVEPOINT part");
  if (done) done = PartCounter(database, catalog, part).run();
  if (done) done = store::execute(database.handle(), "RELEASE part");
  return done;
}

}  // namespace uscope::analyzer
