// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "analyzer/read/event_totals.h"

#include <algorithm>
#include <string>
#include <string_view>

#include "analyzer/read/query.h"
#include "store/write/event_totals.h"
#include "trace/latency.h"

namespace uscope::analyzer {
namespace {

std::uint64_t count_of(const SqlRow& row, int column) {
  return static_cast<std::uint64_t>(std::max<std::int64_t>(0, row.integer(column)));
}

Result<void> read_kind_totals(const store::Database& database, const Catalog& catalog, EventTotals& totals) {
  totals.kinds.resize(catalog.kinds.size());
  auto done = each_row(database,
                       "SELECT kind_id, sum(events), sum(errors), sum(open), sum(total_ns) FROM cell GROUP BY kind_id",
                       [&](const SqlRow& row) {
                         totals.events += count_of(row, 1);
                         totals.errors += count_of(row, 2);
                         const Kind* kind = catalog.kinds.find(KindRowId(row.integer(0)));
                         if (!kind) return;
                         if (kind->is_call()) totals.open += count_of(row, 3);
                         KindTotals& counts = totals.kinds[catalog.kinds.index_of(*kind)];
                         counts.events = count_of(row, 1);
                         counts.errors = count_of(row, 2);
                         counts.open = count_of(row, 3);
                         counts.total_ns = count_of(row, 4);
                       });
  if (!done) return done;
  return each_row(database, "SELECT kind_id, up_to_ns, events FROM latency ORDER BY kind_id, up_to_ns",
                  [&](const SqlRow& row) {
                    const Kind* kind = catalog.kinds.find(KindRowId(row.integer(0)));
                    if (!kind) return;
                    if (kind->is_call()) totals.timed += count_of(row, 2);
                    KindTotals& counts = totals.kinds[catalog.kinds.index_of(*kind)];
                    counts.timed += count_of(row, 2);
                    counts.steps.push_back({count_of(row, 1), count_of(row, 2)});
                  });
}

Result<void> read_bytes(const store::Database& database, const Catalog& catalog, EventTotals& totals) {
  return each_row(database, "SELECT kind_id, sum(bytes) FROM object_total WHERE part = 'call' GROUP BY kind_id",
                  [&](const SqlRow& row) {
                    const Kind* kind = catalog.kinds.find(KindRowId(row.integer(0)));
                    if (kind) totals.kinds[catalog.kinds.index_of(*kind)].bytes = count_of(row, 1);
                  });
}

Result<void> read_tasks(const store::Database& database, const Catalog& catalog, EventTotals& totals) {
  totals.processes.resize(catalog.processes.size());
  totals.threads.resize(catalog.threads.size());
  return each_row(database, "SELECT thread_id, events, errors, total_ns, wait_ns, gaps, gap_ns FROM thread_total",
                  [&](const SqlRow& row) {
                    totals.gaps += count_of(row, 5);
                    const Thread* thread = catalog.threads.find(ThreadRowId(row.integer(0)));
                    if (!thread) return;
                    totals.threads[catalog.threads.index_of(*thread)] = {
                        count_of(row, 1), count_of(row, 2), count_of(row, 3), count_of(row, 4), count_of(row, 6)};
                    const Process* process = catalog.processes.find(thread->process_id);
                    if (!process) return;
                    ProcessTotals& counts = totals.processes[catalog.processes.index_of(*process)];
                    counts.events += count_of(row, 1);
                    counts.errors += count_of(row, 2);
                  });
}

Result<void> read_programs(const store::Database& database, EventTotals& totals) {
  return each_row(database,
                  "SELECT thread_id, image_id, events, errors, total_ns, wait_ns FROM program_total ORDER BY thread_id",
                  [&](const SqlRow& row) {
                    totals.programs.push_back({ThreadRowId(row.integer(0)), ImageRowId(row.integer(1)),
                                               count_of(row, 2), count_of(row, 3), count_of(row, 4), count_of(row, 5)});
                  });
}

Result<void> read_calls(const store::Database& database, const std::string& sql, std::size_t keep,
                        std::vector<SingleCall>& calls) {
  auto query = database.prepare(sql);
  if (!query) return query.error();
  query->bind(1, keep);
  return each(*query, [&](const SqlRow& row) { calls.push_back({EventRowId(row.integer(0)), row.integer(1)}); });
}

// The slowest calls that wait, or that do not.
Result<void> read_slowest(const store::Database& database, const Catalog& catalog, const Part& part, std::size_t keep,
                          bool waiting, std::vector<SingleCall>& calls) {
  if (keep <= store::kSlowestKept)
    return read_calls(database,
                      "SELECT e.id, e.dur_ns FROM notable_event n CROSS JOIN event e ON e.id = n.event_id "
                      "WHERE n.list = " +
                          std::string(waiting ? "'wait'" : "'slowest'") + " ORDER BY e.dur_ns DESC, e.id LIMIT ?1",
                      keep, calls);
  std::string kinds;
  for (const Kind& kind : catalog.kinds)
    if (kind.is_call() && kind.waits == waiting) kinds += (kinds.empty() ? "" : ",") + to_string(kind.id);
  auto query =
      database.prepare("SELECT id, dur_ns, thread_id, ts_ns FROM event WHERE dur_ns IS NOT NULL AND kind_id IN (" +
                       kinds + ") ORDER BY dur_ns DESC, id");
  if (!query) return query.error();
  while (calls.size() < keep) {
    auto more = query->step();
    if (!more) return more.error();
    if (!*more) break;
    const Thread* thread = catalog.threads.find(ThreadRowId(query->integer(2)));
    if (thread != nullptr && part.has(*thread, query->integer(3)))
      calls.push_back({EventRowId(query->integer(0)), query->integer(1)});
  }
  return {};
}

// From seven columns of gap or gap_total.
SingleGap gap_of(const SqlRow& row, int column) {
  return {.thread = ThreadRowId(row.integer(column)),
          .ts_ns = row.integer(column + 1),
          .ns = row.integer(column + 2),
          .since = gap_edge(row.text(column + 3)),
          .until = gap_edge(row.text(column + 4)),
          .before = EventRowId(row.integer(column + 5)),
          .after = EventRowId(row.integer(column + 6))};
}

Result<void> read_gaps(const store::Database& database, std::size_t keep, std::vector<SingleGap>& gaps) {
  auto query = database.prepare(
      "SELECT thread_id, ts_ns, dur_ns, since, until, before_event_id, after_event_id, doubtful FROM gap "
      "ORDER BY dur_ns DESC, ts_ns, thread_id LIMIT ?1");
  if (!query) return query.error();
  query->bind(1, keep);
  return each(*query, [&](const SqlRow& row) {
    gaps.push_back(gap_of(row, 0));
    gaps.back().doubtful = row.integer(7) != 0;
  });
}

// One pair may have several rows. SQLite takes the columns that are in no sum from the row of the longest gap.
Result<void> read_gap_totals(const store::Database& database, EventTotals& totals) {
  constexpr const char* kPairs =
      " FROM gap_total GROUP BY since, until, before_kind_id, before_stack_id, after_kind_id, after_stack_id";
  auto done = each_row(database, std::string("SELECT count(*) FROM (SELECT 1") + kPairs + ")",
                       [&](const SqlRow& row) { totals.gap_pairs = count_of(row, 0); });
  if (!done) return done;
  auto query = database.prepare(
      std::string("SELECT thread_id, ts_ns, max(longest_ns), since, until, before_event_id, after_event_id, sum(gaps), "
                  "sum(total_ns)") +
      kPairs + " ORDER BY 9 DESC, ts_ns, thread_id LIMIT ?1");
  if (!query) return query.error();
  query->bind(1, kGapPairsRead);
  return each(*query, [&](const SqlRow& row) {
    totals.gap_totals.push_back({.gaps = count_of(row, 7), .total_ns = row.integer(8), .longest = gap_of(row, 0)});
  });
}

}  // namespace

GapEdge gap_edge(std::string_view name) {
  if (name == "tracing") return GapEdge::kTracing;
  if (name == "left") return GapEdge::kLeft;
  return name == "thread" ? GapEdge::kThread : GapEdge::kCall;
}

std::uint64_t KindTotals::percentile(double percent) const {
  if (timed == 0) return 0;
  const std::uint64_t rank = trace::percentile_rank(percent, timed);
  std::uint64_t seen = 0;
  for (const LatencyStep& step : steps) {
    seen += step.events;
    if (seen >= rank) return step.up_to_ns;
  }
  return steps.back().up_to_ns;
}

Result<EventTotals> read_totals(const store::Database& database, const Catalog& catalog, const Part& part,
                                std::size_t keep) {
  EventTotals totals;
  auto done = read_kind_totals(database, catalog, totals);
  if (done) done = read_bytes(database, catalog, totals);
  if (done) done = read_tasks(database, catalog, totals);
  if (done) done = read_programs(database, totals);
  if (done) done = read_slowest(database, catalog, part, keep, false, totals.slowest);
  if (done) done = read_slowest(database, catalog, part, keep, true, totals.longest_waits);
  if (done) done = read_gaps(database, keep, totals.longest_gaps);
  if (done) done = read_gap_totals(database, totals);
  if (done)
    done = read_calls(database,
                      "SELECT e.id, e.ts_ns FROM notable_event n CROSS JOIN event e ON e.id = n.event_id "
                      "WHERE n.list = 'open' ORDER BY e.ts_ns, e.id LIMIT ?1",
                      keep, totals.waiting);
  if (!done) return done.error();
  for (SingleCall& call : totals.waiting) call.ns = std::max<std::int64_t>(0, difference(catalog.end_ns, call.ns));
  return totals;
}

}  // namespace uscope::analyzer
