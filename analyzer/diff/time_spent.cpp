// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "analyzer/diff/time_spent.h"

#include <algorithm>
#include <unordered_map>
#include <utility>

#include "analyzer/diff/call_traits.h"
#include "analyzer/diff/stack_identity.h"
#include "analyzer/read/catalog.h"
#include "analyzer/read/query.h"

namespace uscope::analyzer {
namespace {

class TimeReader {
 public:
  TimeReader(const store::Database& database, const RunFacts& facts, StackIdentity& identity)
      : database_(database), facts_(facts), identity_(identity) {}

  Result<RunTime> run(const Matrix& matrix, const MatrixBy& by) {
    time_.length_ns = static_cast<double>(facts_.duration_ns);
    // What else has a duration, a function or a time off the CPU, lies within calls and gaps, or around them.
    for (const auto& [key, cell] : matrix.cells) {
      if (!is_call_kind(key.kind)) continue;
      TimeSpent& spent = time_.places[{.call = key, .next = {}}];
      spent.ns += static_cast<double>(cell.total_ns);
      spent.times += cell.events;
    }
    auto kinds = read_kinds(database_);
    if (!kinds) return kinds.error();
    kinds_ = std::move(*kinds);
    auto stacks = identity_.stacks(by);
    if (!stacks) return stacks.error();
    stacks_ = std::move(*stacks);
    if (auto done = open_calls(); !done) return done.error();
    if (auto done = gaps(); !done) return done.error();
    return std::move(time_);
  }

 private:
  // Of a kind and a stack in two columns.
  CellKey key_of(const SqlRow& row, int column) {
    if (row.is_null(column)) return {};
    const auto stack = stacks_.find(StackRowId(row.integer(column + 1)));
    const Caller& caller = identity_.callers()[stack == stacks_.end() ? 0 : stack->second];
    return {kinds_[KindRowId(row.integer(column))], caller.function, caller.module};
  }

  Result<void> open_calls() {
    const std::int64_t end_ns = facts_.start_ns + facts_.duration_ns;
    return each_row(database_,
                    "SELECT e.kind_id, e.stack_id, e.ts_ns, t.end_ns FROM notable_event n JOIN event e "
                    "ON e.id = n.event_id LEFT JOIN thread t ON t.id = e.thread_id "
                    "WHERE n.list = 'open' AND e.dur_ns IS NULL",
                    [&](const SqlRow& row) {
                      const std::int64_t until = std::min(row.maybe_integer(3).value_or(end_ns), end_ns);
                      const auto ns = std::max<std::int64_t>(0, difference(until, row.integer(2)));
                      time_.places[{.call = key_of(row, 0), .next = {}}].ns += static_cast<double>(ns);
                    });
  }

  Result<void> gaps() {
    return each_row(database_,
                    "SELECT before_kind_id, before_stack_id, after_kind_id, after_stack_id, since, until, sum(gaps), "
                    "sum(total_ns) FROM gap_total GROUP BY since, until, before_kind_id, before_stack_id, "
                    "after_kind_id, after_stack_id",
                    [&](const SqlRow& row) {
                      TimeSpent& spent = time_.places[{.outside = true,
                                                       .call = key_of(row, 0),
                                                       .next = key_of(row, 2),
                                                       .since = gap_edge(row.text(4)),
                                                       .until = gap_edge(row.text(5))}];
                      const auto ns = static_cast<double>(std::max<std::int64_t>(0, row.integer(7)));
                      spent.ns += ns;
                      spent.times += static_cast<std::uint64_t>(std::max<std::int64_t>(0, row.integer(6)));
                      if (ns < spent.longest_ns) return;
                      spent.longest_ns = ns;
                      spent.longest_stack = StackRowId(row.integer(row.is_null(3) ? 1 : 3));
                    });
  }

  const store::Database& database_;
  const RunFacts& facts_;
  StackIdentity& identity_;
  KindNames kinds_;
  std::unordered_map<StackRowId, std::uint32_t> stacks_;  // to callers of identity_
  RunTime time_;
};

}  // namespace

Result<RunTime> read_run_time(const store::Database& database, const RunFacts& facts, const Matrix& matrix,
                              const MatrixBy& by, const ModuleNames& names, const OffsetTrust& trust) {
  StackIdentity identity(database, names, trust);
  if (auto done = identity.read_modules(); !done) return done.error();
  return TimeReader(database, facts, identity).run(matrix, by);
}

}  // namespace uscope::analyzer
