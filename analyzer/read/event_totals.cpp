// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "analyzer/read/event_totals.h"

#include <algorithm>

#include "analyzer/read/query.h"
#include "store/write/event_totals.h"
#include "trace/latency.h"

namespace uscope::analyzer {
namespace {

std::uint64_t count_of(const SqlRow& row, int column) {
  return static_cast<std::uint64_t>(std::max<std::int64_t>(0, row.integer(column)));
}

Result<void> read_kinds(const store::Database& database, const Catalog& catalog, EventTotals& totals) {
  totals.kinds.resize(catalog.kinds.size());
  auto done = each_row(database,
                       "SELECT kind_id, sum(events), sum(errors), sum(open), sum(total_ns) FROM cell GROUP BY kind_id",
                       [&](const SqlRow& row) {
                         totals.events += count_of(row, 1);
                         totals.errors += count_of(row, 2);
                         totals.open += count_of(row, 3);
                         const Kind* kind = catalog.kinds.find(KindRowId(row.integer(0)));
                         if (!kind) return;
                         KindTotals& counts = totals.kinds[catalog.kinds.index_of(*kind)];
                         counts.events = count_of(row, 1);
                         counts.errors = count_of(row, 2);
                         counts.open = count_of(row, 3);
                         counts.total_ns = count_of(row, 4);
                       });
  if (!done) return done;
  return each_row(database, "SELECT kind_id, up_to_ns, events FROM latency ORDER BY kind_id, up_to_ns",
                  [&](const SqlRow& row) {
                    totals.timed += count_of(row, 2);
                    const Kind* kind = catalog.kinds.find(KindRowId(row.integer(0)));
                    if (!kind) return;
                    KindTotals& counts = totals.kinds[catalog.kinds.index_of(*kind)];
                    counts.timed += count_of(row, 2);
                    counts.steps.push_back({count_of(row, 1), count_of(row, 2)});
                  });
}

Result<void> read_processes(const store::Database& database, const Catalog& catalog, EventTotals& totals) {
  totals.processes.resize(catalog.processes.size());
  return each_row(database, "SELECT thread_id, events, errors FROM thread_total", [&](const SqlRow& row) {
    const Thread* thread = catalog.threads.find(ThreadRowId(row.integer(0)));
    const Process* process = thread ? catalog.processes.find(thread->process_id) : nullptr;
    if (!process) return;
    ProcessTotals& counts = totals.processes[catalog.processes.index_of(*process)];
    counts.events += count_of(row, 1);
    counts.errors += count_of(row, 2);
  });
}

Result<void> read_calls(const store::Database& database, const char* sql, std::size_t keep,
                        std::vector<SingleCall>& calls) {
  auto query = database.prepare(sql);
  if (!query) return query.error();
  query->bind(1, keep);
  return each(*query, [&](const SqlRow& row) { calls.push_back({EventRowId(row.integer(0)), row.integer(1)}); });
}

}  // namespace

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

Result<EventTotals> read_totals(const store::Database& database, const Catalog& catalog, std::size_t keep) {
  EventTotals totals;
  auto done = read_kinds(database, catalog, totals);
  if (done) done = read_processes(database, catalog, totals);
  if (done)
    done = read_calls(database,
                      keep <= store::kSlowestKept
                          ? "SELECT e.id, e.dur_ns FROM notable_event n CROSS JOIN event e ON e.id = n.event_id "
                            "WHERE n.list = 'slowest' ORDER BY e.dur_ns DESC, e.id LIMIT ?1"
                          : "SELECT id, dur_ns FROM event WHERE dur_ns IS NOT NULL ORDER BY dur_ns DESC, id LIMIT ?1",
                      keep, totals.slowest);
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
