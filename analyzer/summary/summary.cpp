// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// A summary consists of what the loader counted (event_totals.h, the cells of the dual-space matrix) and a few small
// tables; single events and stacks are looked up by id only if a line shows them. Limits: lists are cut to a number of
// lines, percentiles above 4096 durations are rounded up by at most 1.6 % (trace/latency.h).
#include "analyzer/summary/summary.h"

#include <algorithm>
#include <array>
#include <bit>
#include <iterator>
#include <map>
#include <optional>
#include <tuple>
#include <unordered_map>

#include "analyzer/read/catalog.h"
#include "analyzer/read/event_totals.h"
#include "analyzer/read/part.h"
#include "analyzer/read/part_totals.h"
#include "analyzer/read/query.h"
#include "analyzer/read/trigger_modules.h"
#include "analyzer/summary/signals.h"
#include "analyzer/summary/tasks.h"
#include "syscalls/call_traits.h"
#include "trace/loss_class.h"
#include "trace/names.h"

namespace uscope::analyzer {
namespace {

constexpr std::size_t kAllInstances = 1000;  // single calls, if the caller wants all lines
constexpr std::size_t kMostObjects = 1000;   // of these there may be millions; `uscope files` lists all

struct NamedMeaning {
  const char* name;
  const char* meaning;
};

constexpr std::array kBrokenReasons{
#define USC_X(constant, name, meaning) NamedMeaning{name, meaning},
#include "uscope/lists/unwind_error.def"
#undef USC_X
};

template <typename Table>
std::string meaning_of(const Table& table, std::string_view name) {
  for (const NamedMeaning& entry : table)
    if (name == entry.name) return entry.meaning;
  return "";
}

// Signals have a table of their own; samples and times off the CPU tell where the time of all other events went.
bool stands_with_calls(std::string_view source) {
  constexpr std::array kOthers{USC_SOURCE_SIGNAL, USC_SOURCE_SAMPLE, USC_SOURCE_OFFCPU};
  return std::none_of(kOthers.begin(), kOthers.end(),
                      [source](std::uint32_t other) { return trace::source_name(other) == source; });
}

std::vector<LatencyStep> by_powers_of_two(const std::vector<LatencyStep>& steps) {
  std::vector<LatencyStep> out;
  for (const LatencyStep& step : steps) {
    const auto width = static_cast<unsigned>(std::bit_width(step.up_to_ns));
    const std::uint64_t up_to = width == 0 ? 0 : ~std::uint64_t{0} >> (64 - width);
    if (out.empty() || out.back().up_to_ns != up_to) out.push_back({up_to, 0});
    out.back().events += step.events;
  }
  return out;
}

class Summarizer {
 public:
  Summarizer(const store::Database& database, const SummaryLimits& limits) : database_(database), limits_(limits) {}

  Result<Summary> run() {
    auto catalog = read_catalog(database_);
    if (!catalog) return catalog.error();
    catalog_ = std::move(*catalog);
    part_.emplace(catalog_, limits_.part);
    if (!part_->is_all()) {
      if (auto done = count_part(database_, catalog_, *part_); !done) return done.error();
      summary_.part = limits_.part;
    }
    auto totals = read_totals(database_, catalog_, *part_, instances());
    if (!totals) return totals.error();
    totals_ = std::move(*totals);
    for (const auto step : {&Summarizer::losses, &Summarizer::trace, &Summarizer::stack_ends, &Summarizer::walks,
                            &Summarizer::unwind, &Summarizer::debug_troubles, &Summarizer::verify, &Summarizer::tasks,
                            &Summarizer::time, &Summarizer::calls, &Summarizer::files, &Summarizer::triggers,
                            &Summarizer::errors, &Summarizer::single_calls, &Summarizer::gaps, &Summarizer::signals}) {
      auto done = (this->*step)();
      if (!done) return done.error();
    }
    return std::move(summary_);
  }

 private:
  [[nodiscard]] std::size_t instances() const { return limits_.lines ? limits_.lines : kAllInstances; }

  Result<void> losses();
  Result<void> trace();
  void count_programs();
  Result<void> stack_ends();
  Result<void> walks();
  Result<void> unwind();
  Result<void> debug_troubles();
  Result<void> verify();
  Result<void> tasks();
  Result<void> time();
  Result<void> calls();
  Result<void> files();
  Result<void> triggers();
  Result<void> errors();
  Result<void> single_calls();
  Result<void> gaps();
  Result<void> signals();
  Result<std::optional<GapLine>> gap_line(const SingleGap& gap, SharedFunctions& shared);
  Result<std::vector<CallInstance>> instances_of(const std::vector<SingleCall>& calls);

  const store::Database& database_;
  const SummaryLimits& limits_;
  Catalog catalog_;
  std::optional<Part> part_;  // after catalog_ is read
  EventTotals totals_;
  Summary summary_;
};

Result<void> Summarizer::losses() {
  auto done =
      each_row(database_,
               "SELECT cause, process_id, sum(count) FROM loss GROUP BY cause, process_id HAVING sum(count) > 0 "
               "ORDER BY cause, 3 DESC, process_id",
               [&](const SqlRow& row) {
                 const std::string cause = text(row, 0);
                 if (summary_.losses.empty() || summary_.losses.back().cause != cause)
                   summary_.losses.push_back({.cause = cause,
                                              .meaning = std::string(trace::loss_meaning(cause)),
                                              .events_missing = trace::loses_events(trace::loss_class(cause)),
                                              .count = 0,
                                              .processes = {}});
                 LossLine& line = summary_.losses.back();
                 const auto count = static_cast<std::uint64_t>(row.integer(2));
                 line.count += count;
                 const Process* process = catalog_.processes.find(ProcessRowId(row.integer(1)));
                 line.processes.push_back({process ? std::optional(process->pid) : std::nullopt, count});
               });
  if (!done) return done;
  std::stable_sort(summary_.losses.begin(), summary_.losses.end(), [](const LossLine& a, const LossLine& b) {
    return a.events_missing != b.events_missing ? a.events_missing : a.count > b.count;
  });
  return {};
}

Result<void> Summarizer::trace() {
  TraceFacts& facts = summary_.trace;
  facts.meta = catalog_.meta;
  facts.start_ns = catalog_.start_ns;
  facts.began_ns = catalog_.since_1970(0);
  facts.duration_ns = part_->duration_ns();
  facts.whole_ns = difference(catalog_.end_ns, catalog_.start_ns);
  facts.events = totals_.events;
  facts.errors = totals_.errors;
  facts.open = totals_.open;
  const auto in_part = [this](const auto& task) { return part_->has(task); };
  const auto count = [&](const auto& tasks) {
    return static_cast<std::uint64_t>(std::count_if(tasks.begin(), tasks.end(), in_part));
  };
  facts.processes = count(catalog_.processes);
  facts.threads = count(catalog_.threads);
  count_programs();
  if (facts.duration_ns > 0)
    facts.events_per_second = static_cast<double>(facts.events) * 1e9 / static_cast<double>(facts.duration_ns);
  return {};
}

// An exec belongs to the part if the process's first thread, as which it goes on, is in it then.
void Summarizer::count_programs() {
  TraceFacts& facts = summary_.trace;
  std::unordered_map<ProcessRowId, std::vector<const Thread*>> first_threads;
  for (const Thread& thread : catalog_.threads) {
    const Process* process = catalog_.processes.find(thread.process_id);
    if (process != nullptr && process->pid == thread.tid) first_threads[process->id].push_back(&thread);
  }
  for (const Image& image : catalog_.images) {
    const auto threads = first_threads.find(image.process_id);
    const std::int64_t ts_ns = image.ts_ns.value_or(catalog_.start_ns);
    const bool is_here = threads == first_threads.end()
                             ? !part_->chooses_tasks() && part_->has(ts_ns)
                             : std::any_of(threads->second.begin(), threads->second.end(),
                                           [&](const Thread* thread) { return part_->has(*thread, ts_ns); });
    if (!is_here) continue;
    facts.images++;
    const Process* process = catalog_.processes.find(image.process_id);
    const bool ran_already = facts.meta.count("command") == 0 && process != nullptr &&
                             process->images.front() == image.id && process->start_ns &&
                             *process->start_ns < catalog_.start_ns;
    if (!ran_already) facts.program_starts++;
  }
}

Result<void> Summarizer::stack_ends() {
  std::map<std::string, EndedLine> lines;
  std::uint64_t with_stack = 0;
  auto done = each_row(database_, "SELECT ended, stacks, events FROM stack_end", [&](const SqlRow& row) {
    EndedLine& line = lines[text(row, 0)];
    line.stacks = static_cast<std::uint64_t>(row.integer(1));
    line.events = static_cast<std::uint64_t>(row.integer(2));
    summary_.trace.stacks += line.stacks;
    with_stack += line.events;
  });
  if (!done) return done;
  done = each_row(database_,
                  "SELECT s.ended, sum(g.events) FROM guessed_stack g JOIN stack s ON s.id = g.stack_id GROUP BY 1",
                  [&](const SqlRow& row) { lines[text(row, 0)].guessed = static_cast<std::uint64_t>(row.integer(1)); });
  if (!done) return done;
  if (totals_.events > with_stack) lines["none"].events = totals_.events - with_stack;
  for (auto& [ended, line] : lines) {
    line.ended = ended;
    if (ended.starts_with("broken:")) line.meaning = meaning_of(kBrokenReasons, std::string_view(ended).substr(7));
    summary_.stack_ends.push_back(std::move(line));
  }
  std::stable_sort(summary_.stack_ends.begin(), summary_.stack_ends.end(),
                   [](const EndedLine& a, const EndedLine& b) { return a.events > b.events; });
  return {};
}

Result<void> Summarizer::walks() {
  const auto walks = catalog_.meta_number("walks");
  if (!walks) return {};
  WalkFigures figures;
  figures.walks = static_cast<std::uint64_t>(*walks);
  figures.stopped_early = static_cast<std::uint64_t>(catalog_.meta_number("walks_stopped_early").value_or(0));
  for (const auto& [key, value] : catalog_.meta)
    if (key.starts_with("deferred_"))
      figures.deferred += static_cast<std::uint64_t>(catalog_.meta_number(key).value_or(0));
  summary_.walks = figures;
  return {};
}

Result<void> Summarizer::unwind() {
  UnwindTables& tables = summary_.unwind;
  auto done = each_row(
      database_,
      "SELECT count(*), sum(rows), sum(bytes) FILTER (WHERE state = 'kernel') FROM unwind_table WHERE rows > 0",
      [&](const SqlRow& row) {
        tables.files = static_cast<std::uint64_t>(row.integer(0));
        tables.rows = static_cast<std::uint64_t>(row.integer(1));
        tables.bytes = static_cast<std::uint64_t>(row.integer(2));
      });
  if (!done) return done;
  return each_row(database_,
                  "SELECT path, state, trouble FROM unwind_table WHERE trouble IS NOT NULL ORDER BY path, id",
                  [&](const SqlRow& row) {
                    tables.without++;
                    if (limits_.lines != 0 && tables.troubles.size() >= limits_.lines) return;
                    tables.troubles.push_back({text(row, 0), text(row, 1), text(row, 2)});
                  });
}

Result<void> Summarizer::debug_troubles() {
  return each_row(database_,
                  "SELECT json_extract(line.value, '$.path'), json_extract(line.value, '$.why') FROM meta, "
                  "json_each(iif(json_valid(meta.value), meta.value, '[]')) AS line "
                  "WHERE meta.key = 'debug_troubles' AND line.type = 'object'",
                  [&](const SqlRow& row) {
                    auto& troubles = summary_.debug_troubles;
                    troubles.total++;
                    if (limits_.lines == 0 || troubles.lines.size() < limits_.lines)
                      troubles.lines.push_back({text(row, 0), text(row, 1)});
                  });
}

Result<void> Summarizer::verify() {
  VerifyResult result;
  auto done = each_row(database_, "SELECT count(*), coalesce(sum(equal), 0) FROM verify", [&](const SqlRow& row) {
    result.samples = static_cast<std::uint64_t>(row.integer(0));
    result.equal = static_cast<std::uint64_t>(row.integer(1));
  });
  if (!done) return done;
  if (result.samples == 0 && catalog_.meta_number("verify_every").value_or(0) == 0) return {};
  auto query = database_.prepare(
      "SELECT v.event_id, e.kind_id, v.uscope_depth, v.oracle_depth, v.first_difference, "
      "(SELECT f.function FROM stack_frame sf JOIN frame f ON f.id = sf.frame_id WHERE "
      " sf.stack_id = e.stack_id AND sf.position = v.first_difference AND f.inlined = 0) "
      "FROM verify v LEFT JOIN event e ON e.id = v.event_id WHERE NOT v.equal "
      "ORDER BY v.event_id LIMIT ?1");
  if (!query) return query.error();
  query->bind(1, limits_.lines ? static_cast<std::int64_t>(limits_.lines) : -1);
  done = each(*query, [&](const SqlRow& row) {
    const Kind* kind = catalog_.kinds.find(KindRowId(row.integer(1)));
    result.differences.push_back({maybe_id<EventRowId>(row, 0), kind ? kind->name : "", row.integer(2), row.integer(3),
                                  row.maybe_integer(4), text(row, 5)});
  });
  if (!done) return done;
  summary_.verify = std::move(result);
  return {};
}

Result<void> Summarizer::tasks() {
  return add_processes_and_threads(database_, catalog_, *part_, totals_, limits_, summary_);
}

Result<void> Summarizer::time() {
  auto shares = read_time(database_, catalog_, {.scope = limits_.part, .lines = limits_.lines});
  if (!shares) return shares.error();
  summary_.time = std::move(*shares);
  return {};
}

Result<void> Summarizer::files() {
  const std::size_t lines = limits_.lines == 0 ? kMostObjects : std::min(limits_.lines, kMostObjects);
  auto table = read_files(database_, catalog_, {.lines = lines, .failed = true});
  if (!table) return table.error();
  summary_.files = std::move(table->files);
  summary_.failed = std::move(table->failed);
  return {};
}

Result<void> Summarizer::calls() {
  std::vector<CallLine> lines;
  std::vector<CallLine> waits;
  for (const Kind& kind : catalog_.kinds) {
    const KindTotals& totals = totals_.kinds[catalog_.kinds.index_of(kind)];
    if (totals.events == 0 || !stands_with_calls(kind.source)) continue;
    const bool transfers = kind.is_call() && syscalls::transfer_of(kind.name).counts_bytes;
    (kind.waits ? waits : lines)
        .push_back({.call = kind.label(),
                    .abi = kind.abi,
                    .events = totals.events,
                    .errors = totals.errors,
                    .open = totals.open,
                    .timed = totals.timed,
                    .total_ns = totals.total_ns,
                    .mean_ns = totals.timed ? totals.total_ns / totals.timed : 0,
                    .max_ns = totals.steps.empty() ? 0 : totals.steps.back().up_to_ns,
                    .p50_ns = totals.percentile(50),
                    .p95_ns = totals.percentile(95),
                    .p99_ns = totals.percentile(99),
                    .spread = by_powers_of_two(totals.steps),
                    .bytes = transfers ? std::optional(totals.bytes) : std::nullopt});
  }
  const auto more_time = [](const CallLine& a, const CallLine& b) {
    return std::tie(b.total_ns, b.events, a.call, a.abi) < std::tie(a.total_ns, a.events, b.call, b.abi);
  };
  summary_.calls = top(std::move(lines), limits_.lines, more_time);
  summary_.waits = top(std::move(waits), limits_.lines, more_time);
  return {};
}

Result<void> Summarizer::triggers() {
  std::vector<TriggerLine> lines;
  auto done = each_row(
      database_,
      "SELECT iif(kind.class IN ('syscall', 'stap'), kind.name, kind.class || ':' || kind.name), frame.function, "
      "module.path, sum(cell.events), sum(cell.errors), sum(cell.total_ns), "
      "sum(cell.open), min(" +
          std::string(kIsFallback) +
          ") FROM cell JOIN kind ON kind.id = cell.kind_id "
          "LEFT JOIN frame ON frame.id = cell.trigger_frame_id LEFT JOIN module ON module.id = frame.module_id "
          "WHERE kind.class NOT IN ('signal', 'sample', 'offcpu') GROUP BY 1, 2, 3",
      [&](const SqlRow& row) {
        lines.push_back({text(row, 0), text(row, 1), text(row, 2), static_cast<std::uint64_t>(row.integer(3)),
                         static_cast<std::uint64_t>(row.integer(4)), static_cast<std::uint64_t>(row.integer(5)),
                         static_cast<std::uint64_t>(row.integer(6)), row.integer(7) != 0});
      });
  if (!done) return done;
  summary_.triggers = top(std::move(lines), limits_.lines, [](const TriggerLine& a, const TriggerLine& b) {
    // What no function of the application asked for comes last.
    const auto is_last = [](const TriggerLine& line) { return line.fallback || line.function.empty(); };
    return std::tuple(is_last(a), b.events, b.total_ns, a.call, a.function, a.module) <
           std::tuple(is_last(b), a.events, a.total_ns, b.call, b.function, b.module);
  });
  return {};
}

Result<void> Summarizer::errors() {
  std::vector<ErrorLine> lines;
  auto done = each_row(
      database_,
      "SELECT kind.name, c.errno, frame.function, module.path, sum(c.events), min(" + std::string(kIsFallback) +
          ") "
          "FROM error_cell c JOIN kind ON kind.id = c.kind_id LEFT JOIN frame ON frame.id = c.trigger_frame_id "
          "LEFT JOIN module ON module.id = frame.module_id GROUP BY c.kind_id, c.errno, frame.function, "
          "frame.module_id",
      [&](const SqlRow& row) {
        lines.push_back({text(row, 0), row.integer(1), error_name(row.integer(1)), text(row, 2), text(row, 3),
                         row.integer(5) != 0, static_cast<std::uint64_t>(row.integer(4))});
      });
  if (!done) return done;
  summary_.errors = top(std::move(lines), limits_.lines, [](const ErrorLine& a, const ErrorLine& b) {
    return std::tie(b.events, a.call, a.number, a.function, a.module) <
           std::tie(a.events, b.call, b.number, b.function, b.module);
  });
  return {};
}

Result<void> Summarizer::single_calls() {
  auto slowest = instances_of(totals_.slowest);
  if (!slowest) return slowest.error();
  auto waits = instances_of(totals_.longest_waits);
  if (!waits) return waits.error();
  auto open = instances_of(totals_.waiting);
  if (!open) return open.error();
  std::uint64_t waited = 0;
  for (const Kind& kind : catalog_.kinds)
    if (kind.waits) waited += totals_.kinds[catalog_.kinds.index_of(kind)].timed;
  summary_.slowest = {std::move(*slowest), totals_.timed - std::min(waited, totals_.timed)};
  summary_.longest_waits = {std::move(*waits), waited};
  summary_.open = {std::move(*open), totals_.open};
  return {};
}

// Nothing if a call that it names is missing, in a store from elsewhere.
Result<std::optional<GapLine>> Summarizer::gap_line(const SingleGap& gap, SharedFunctions& shared) {
  GapLine line{.ts_ns = difference(gap.ts_ns, catalog_.start_ns),
               .dur_ns = gap.ns,
               .pid = 0,
               .tid = 0,
               .process = "",
               .thread = "",
               .since = gap.since,
               .until = gap.until,
               .before = {},
               .after = {},
               .within = {},
               .doubtful = gap.doubtful};
  if (const Thread* thread = catalog_.threads.find(gap.thread)) {
    line.tid = thread->tid;
    line.thread = thread->name_at(gap.ts_ns);
    if (const Process* process = catalog_.processes.find(thread->process_id)) {
      line.pid = process->pid;
      if (const Image* image = catalog_.image_at(*process, gap.ts_ns)) line.process = image->name;
    }
  }
  std::vector<SingleCall> ids;
  if (gap.since == GapEdge::kCall) ids.push_back({gap.before, 0});
  if (gap.until == GapEdge::kCall) ids.push_back({gap.after, 0});
  auto calls = instances_of(ids);
  if (!calls) return calls.error();
  if (calls->size() != ids.size()) return std::optional<GapLine>();
  if (!calls->empty()) line.process = calls->back().process;  // what the process was then
  if (gap.since == GapEdge::kCall) line.before = std::move(calls->front());
  if (gap.until == GapEdge::kCall) line.after = std::move(calls->back());
  // Another program's functions are not those that it returns to.
  if (line.before && line.after && line.before->image_id == line.after->image_id) {
    auto within = shared.innermost(line.before->stack_id, line.after->stack_id);
    if (!within) return within.error();
    line.within = std::move(*within);
  }
  return std::optional(std::move(line));
}

// Pairs that a reader could not tell apart are one.
TopList<GapPairLine> gap_places(const std::vector<GapPairLine>& pairs, std::size_t most) {
  using Place = std::tuple<std::string, std::string, std::string>;
  const auto call = [](const std::optional<CallInstance>& at) {
    return at ? Place(at->call, at->function, at->module) : Place();
  };
  std::map<std::tuple<GapEdge, GapEdge, Place, Place, Place>, GapPairLine> places;
  for (const GapPairLine& pair : pairs) {
    const GapLine& gap = pair.longest;
    const Place within = gap.within ? Place("", gap.within->function, gap.within->module) : Place();
    const auto [at, is_new] =
        places.try_emplace({gap.since, gap.until, call(gap.before), call(gap.after), within}, pair);
    if (is_new) continue;
    GapPairLine& sum = at->second;
    sum.gaps += pair.gaps;
    sum.total_ns += pair.total_ns;
    if (gap.dur_ns > sum.longest.dur_ns) sum.longest = gap;
  }
  std::vector<GapPairLine> lines;
  lines.reserve(places.size());
  for (auto& [place, line] : places) lines.push_back(std::move(line));
  return top(std::move(lines), most, [](const GapPairLine& a, const GapPairLine& b) {
    return std::tie(b.total_ns, a.longest.ts_ns, a.longest.tid) < std::tie(a.total_ns, b.longest.ts_ns, b.longest.tid);
  });
}

Result<void> Summarizer::gaps() {
  summary_.gaps.total = totals_.gaps;
  summary_.gap_pairs.total = totals_.gap_pairs;
  const auto calls = catalog_.meta.find("calls");
  summary_.calls_left_out = calls != catalog_.meta.end() && calls->second != "all";
  auto shared = SharedFunctions::create(database_);
  if (!shared) return shared.error();
  for (const SingleGap& gap : totals_.longest_gaps) {
    auto line = gap_line(gap, *shared);
    if (!line) return line.error();
    if (*line) summary_.gaps.lines.push_back(std::move(**line));
  }
  for (const GapTotal& total : totals_.gap_totals) {
    auto line = gap_line(total.longest, *shared);
    if (!line) return line.error();
    if (*line) summary_.gap_pairs.lines.push_back({total.gaps, total.total_ns, std::move(**line)});
  }
  summary_.gap_places = {gap_places(summary_.gap_pairs.lines, limits_.lines),
                         totals_.gap_totals.size() == totals_.gap_pairs};
  if (limits_.lines != 0 && summary_.gap_pairs.lines.size() > limits_.lines)
    summary_.gap_pairs.lines.resize(limits_.lines);
  return {};
}

Result<void> Summarizer::signals() {
  auto lines = read_signals(database_);
  if (!lines) return lines.error();
  std::size_t pairs = 0;
  for (const SignalLine& line : *lines) pairs += line.pairs.size();
  summary_.signal_pairs_fit = limits_.lines == 0 || pairs <= limits_.lines;
  summary_.signals = top(std::move(*lines), limits_.lines, [](const SignalLine& a, const SignalLine& b) {
    const std::uint64_t a_events = a.sent + a.delivered;
    const std::uint64_t b_events = b.sent + b.delivered;
    return std::tie(b_events, a.number) < std::tie(a_events, b.number);
  });
  return {};
}

Result<std::vector<CallInstance>> Summarizer::instances_of(const std::vector<SingleCall>& calls) {
  auto query = database_.prepare(
      "SELECT e.ts_ns, e.kind_id, e.how, e.result, e.thread_id, e.image_id, f.function, m.path, s.trigger_fallback, "
      "e.stack_id "
      "FROM event e LEFT JOIN stack s ON s.id = e.stack_id "
      "LEFT JOIN frame f ON f.id = s.trigger_frame_id "
      "LEFT JOIN module m ON m.id = f.module_id WHERE e.id = ?1");
  if (!query) return query.error();
  std::vector<CallInstance> instances;
  for (const SingleCall& call : calls) {
    query->bind(1, call.event_id);
    auto done = each(*query, [&](const SqlRow& row) {
      CallInstance instance;
      instance.event_id = call.event_id;
      instance.ts_ns = difference(row.integer(0), catalog_.start_ns);
      instance.dur_ns = call.ns;
      if (const Kind* kind = catalog_.kinds.find(KindRowId(row.integer(1)))) instance.call = kind->name;
      instance.how = text(row, 2);
      instance.result = row.maybe_integer(3);
      if (const Thread* thread = catalog_.threads.find(ThreadRowId(row.integer(4)))) {
        instance.tid = thread->tid;
        instance.thread = thread->name_at(row.integer(0));
        if (const Process* process = catalog_.processes.find(thread->process_id)) instance.pid = process->pid;
      }
      instance.image_id = ImageRowId(row.integer(5));
      instance.stack_id = StackRowId(row.integer(9));
      if (const Image* image = catalog_.images.find(instance.image_id)) instance.process = image->name;
      instance.function = text(row, 6);
      instance.module = text(row, 7);
      instance.fallback = row.integer(8) != 0;
      instances.push_back(std::move(instance));
    });
    if (!done) return done.error();
  }
  return instances;
}

}  // namespace

Result<Summary> summarize(const store::Database& database, const SummaryLimits& limits) {
  return Summarizer(database, limits).run();
}

}  // namespace uscope::analyzer
