// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "analyzer/diff/matrix.h"

#include <algorithm>
#include <string_view>
#include <unordered_map>
#include <unordered_set>

#include "analyzer/diff/call_traits.h"
#include "analyzer/diff/stack_identity.h"
#include "analyzer/diff/transfers.h"
#include "analyzer/read/catalog.h"
#include "analyzer/read/query.h"
#include "store/write/cell_latency.h"
#include "trace/names.h"

namespace uscope::analyzer {
namespace {

constexpr std::size_t kStacksKept = 64;  // for a cell that is not by function, as examples

using Steps = std::unordered_map<Cell*, std::vector<LatencyStep>>;

std::uint64_t unsigned_of(const SqlRow& row, int column) {
  return static_cast<std::uint64_t>(std::max<std::int64_t>(0, row.integer(column)));
}

EventRowId earlier(EventRowId a, EventRowId b) {
  return a ? std::min(a, b) : b;
}

}  // namespace

Result<KindNames> read_kinds(const store::Database& database) {
  KindNames kinds;
  const std::string_view calls = trace::source_name(USC_SOURCE_SYSCALL);
  const std::string_view usual = trace::abi_name(USC_ABI_NATIVE);
  auto done = each_row(database, "SELECT id, name, class, abi FROM kind", [&](const SqlRow& row) {
    const std::string source = text(row, 2);
    const std::string abi = text(row, 3);
    const std::string before = source != calls ? source + ":" : abi != usual ? abi + ":" : "";
    kinds[KindRowId(row.integer(0))] = before + text(row, 1);
  });
  if (!done) return done.error();
  return kinds;
}

namespace {

void add_transfer(Cell& cell, std::int64_t bytes) {
  constexpr std::uint64_t kMost = std::uint64_t{1} << 62;  // a store may hold any numbers
  cell.transfers++;
  cell.bytes = std::min(kMost, cell.bytes + std::min(kMost, static_cast<std::uint64_t>(bytes)));
}

class FunctionMatrix {
 public:
  FunctionMatrix(const store::Database& database, StackIdentity& identity) : database_(database), identity_(identity) {}

  Result<Matrix> run() {
    auto kinds = read_kinds(database_);
    if (!kinds) return kinds.error();
    kinds_ = std::move(*kinds);
    for (const auto step :
         {&FunctionMatrix::cells, &FunctionMatrix::errors, &FunctionMatrix::latencies, &FunctionMatrix::transfers})
      if (auto done = (this->*step)(); !done) return done.error();
    matrix_.nameless = identity_.nameless();
    return std::move(matrix_);
  }

 private:
  Result<void> cells() {
    return each_row(database_,
                    "SELECT c.kind_id, c.trigger_frame_id, c.events, c.errors, c.total_ns, c.open, c.first_event_id, "
                    "f.function, f.module_id FROM cell c LEFT JOIN frame f ON f.id = c.trigger_frame_id",
                    [&](const SqlRow& row) {
                      const KindRowId kind(row.integer(0));
                      Caller caller;
                      if (!row.is_null(7)) caller = identity_.caller(row.text(7), ModuleRowId(row.integer(8)));
                      Cell& cell = matrix_.cells[{kinds_[kind], caller.function, caller.module}];
                      cell.events += unsigned_of(row, 2);
                      cell.errors += unsigned_of(row, 3);
                      cell.total_ns += unsigned_of(row, 4);
                      if (is_call_kind(kinds_[kind])) cell.open += unsigned_of(row, 5);
                      cell.first_event_id = earlier(cell.first_event_id, EventRowId(row.integer(6)));
                      cell.sources.push_back({kind, maybe_id<FrameRowId>(row, 1), {}});
                      places_[kind][FrameRowId(row.integer(1))] = &cell;
                    });
  }

  Cell* place(const SqlRow& row) {
    const auto kind = places_.find(KindRowId(row.integer(0)));
    if (kind == places_.end()) return nullptr;
    const auto at = kind->second.find(FrameRowId(row.integer(1)));
    return at == kind->second.end() ? nullptr : at->second;
  }

  Result<void> errors() {
    return each_row(database_, "SELECT kind_id, trigger_frame_id, errno, events, first_event_id FROM error_cell",
                    [&](const SqlRow& row) {
                      Cell* cell = place(row);
                      if (!cell) return;
                      ErrorCount& count = cell->errnos[row.integer(2)];
                      count.events += unsigned_of(row, 3);
                      count.first_event_id = earlier(count.first_event_id, EventRowId(row.integer(4)));
                    });
  }

  Result<void> latencies() {
    Steps steps;
    auto done = each_row(database_, "SELECT kind_id, trigger_frame_id, up_to_ns, events FROM cell_latency",
                         [&](const SqlRow& row) {
                           if (Cell* cell = place(row))
                             steps[cell].push_back({unsigned_of(row, 2), unsigned_of(row, 3)});
                         });
    if (!done) return done;
    for (auto& [cell, list] : steps) {
      for (const LatencyStep& step : list) cell->timed += step.events;
      cell->median_ns = median_of_steps(std::move(list));
    }
    return {};
  }

  Result<void> transfers() {
    const std::string kinds = transferring_kinds(kinds_);
    return each_row(
        database_,
        "SELECT e.kind_id, s.trigger_frame_id, e.result FROM event e LEFT JOIN stack s ON s.id = e.stack_id "
        "WHERE e.result >= 0 AND e.kind_id IN (" +
            kinds + ")",
        [&](const SqlRow& row) {
          if (Cell* cell = place(row)) add_transfer(*cell, row.integer(2));
        });
  }

  const store::Database& database_;
  StackIdentity& identity_;
  KindNames kinds_;
  std::unordered_map<KindRowId, std::unordered_map<FrameRowId, Cell*>> places_;  // by kind, trigger (may be none)
  Matrix matrix_;
};

// Values gathered for one cell while all events are read.
struct Gathered {
  CellCounts counts;
  Cell transfers;                  // only of these
  std::vector<StackRowId> stacks;  // some of them
};

void gather(Gathered& into, const SqlRow& row, bool transfers) {
  if (transfers && !row.is_null(4) && row.integer(4) >= 0) add_transfer(into.transfers, row.integer(4));
  into.counts.add(EventRowId(row.integer(0)), row.maybe_integer(3), row.maybe_integer(4), row.text(5));
  const StackRowId stack(row.integer(2));
  auto& stacks = into.stacks;
  if (stack && stacks.size() < kStacksKept && std::find(stacks.begin(), stacks.end(), stack) == stacks.end())
    stacks.push_back(stack);
}

Cell cell_from(KindRowId kind, Gathered gathered) {
  CellCounts& counts = gathered.counts;
  Cell cell;
  cell.events = counts.events;
  cell.errors = counts.errors;
  cell.open = counts.open;
  cell.total_ns = counts.total_ns;
  cell.timed = counts.timed;
  cell.first_event_id = counts.first_event_id;
  cell.errnos = std::move(counts.errnos);
  cell.transfers = gathered.transfers.transfers;
  cell.bytes = gathered.transfers.bytes;
  std::vector<LatencyStep> steps;
  counts.latency.each([&](std::uint64_t up_to, std::uint64_t events) { steps.push_back({up_to, events}); });
  cell.median_ns = median_of_steps(std::move(steps));
  cell.sources.push_back({kind, std::nullopt, std::move(gathered.stacks)});
  return cell;
}

Result<Matrix> read_by_stack(const store::Database& database, const MatrixBy& by, StackIdentity& identity) {
  auto kinds = read_kinds(database);
  if (!kinds) return kinds.error();
  auto stacks = identity.stacks(by);
  if (!stacks) return stacks.error();
  std::unordered_map<KindRowId, std::unordered_map<std::uint32_t, Gathered>> gathered;  // by kind, caller
  std::unordered_set<KindRowId> transferring;
  for (const auto& [kind, name] : *kinds)
    if (transfer_of_kind(name).counts_bytes) transferring.insert(kind);
  auto done =
      each_row(database, std::string("SELECT id, kind_id, stack_id, dur_ns, ") + kResultOfCall + ", how FROM event",
               [&](const SqlRow& row) {
                 const auto stack = stacks->find(StackRowId(row.integer(2)));
                 const KindRowId kind(row.integer(1));
                 gather(gathered[kind][stack == stacks->end() ? 0 : stack->second], row, transferring.contains(kind));
               });
  if (!done) return done.error();
  Matrix matrix;
  for (auto& [kind, callers] : gathered) {
    for (auto& [number, part] : callers) {
      const Caller& caller = identity.callers()[number];
      Cell& cell = matrix.cells[{(*kinds)[kind], caller.function, caller.module}];
      cell = cell_from(kind, std::move(part));
      if (!is_call_kind((*kinds)[kind])) cell.open = 0;
    }
  }
  matrix.nameless = identity.nameless();
  return matrix;
}

}  // namespace

std::string outcome_name(std::int64_t error) {
  return error == kUnconnected ? "unconnected" : error_name(error);
}

double median_of_steps(std::vector<LatencyStep> steps) {
  std::sort(steps.begin(), steps.end(),
            [](const LatencyStep& a, const LatencyStep& b) { return a.up_to_ns < b.up_to_ns; });
  std::uint64_t all = 0;
  for (const LatencyStep& step : steps) all += step.events;
  if (all == 0) return 0;
  const double rank = static_cast<double>(all) / 2;
  double before = 0;
  for (std::size_t i = 0; i < steps.size();) {
    double here = 0;
    const std::uint64_t end = steps[i].up_to_ns;
    for (; i < steps.size() && steps[i].up_to_ns == end; i++) here += static_cast<double>(steps[i].events);
    if (before + here >= rank) {
      const std::size_t number = store::CellLatency::step_of(end);
      const double start = number == 0 ? 0 : static_cast<double>(store::CellLatency::step_top(number - 1));
      return start + (static_cast<double>(end) - start) * (rank - before) / here;
    }
    before += here;
  }
  return static_cast<double>(steps.back().up_to_ns);
}

Result<Matrix> read_matrix(const store::Database& database, const MatrixBy& by, const ModuleNames& names,
                           const OffsetTrust& trust) {
  StackIdentity identity(database, names, trust);
  if (auto done = identity.read_modules(); !done) return done.error();
  if (by.space == MatrixBy::Space::kFunction) return FunctionMatrix(database, identity).run();
  return read_by_stack(database, by, identity);
}

}  // namespace uscope::analyzer
