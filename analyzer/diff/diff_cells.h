// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// The differences between the matrices of abnormal and normal runs: cells that only one side has, and cells that have
// shifted. Pure functions on matrices; diff.h adds examples from the stores.
//
// An error that a cell never gives on the other side, and calls that never returned there, are reported as cells of
// their own: if one function calls `openat` a thousand times, the one EACCES is what matters.
//
// Statistics. With three or more runs on each side every shift is tested across runs (shift_test.h), and the shifts
// kept have a false discovery rate below kMostQ; a cell of one side only must then be in all runs of its side, or pass
// the test. With fewer runs nothing is tested: a shift counts if all runs of one side are beyond all runs of the other
// by kLeastFactor. Rates are per second or per unit of work. Rates per second must also have shifted as counts, so that
// neither a longer run nor one that did the same work more slowly counts as different behaviour.
//
// Ranking. Scores are standard deviations of the logarithm of the ratio, with the dispersion that the runs show (at
// least kLeastDispersion): few events cannot score much, and for very many the ratio decides. Errors other than mere
// "try again" and those of normal work (is_telling()) come before that: first errors that this call never gave on the
// other side, then errors that this cell never gave. Calls that depend on waiting (futex, epoll_wait …) count half.
// Among cells of one side with about the same score, the one that happened first comes first: causes come before their
// effects; one error explains as much as a hundred, so errors are about the same within twice as much. What only
// follows from something else (is_consequence()) comes last, and with fewer than kLeastEvents events not at all.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "analyzer/diff/matrix.h"

namespace uscope::analyzer {

constexpr double kLeastFactor = 2;
constexpr double kLeastEvents = 10;
constexpr double kMostQ = 0.05;
constexpr double kLeastDispersion = 0.05;
constexpr std::size_t kRunsToTest = 3;  // on each side

[[nodiscard]] inline bool is_large_ratio(double ratio) {
  return ratio >= kLeastFactor || ratio <= 1 / kLeastFactor;
}

// One cell of all runs; null if a run does not have it.
struct CellRow {
  CellKey key;
  std::vector<const Cell*> normal;
  std::vector<const Cell*> abnormal;
};

// How much opportunity for calls each run had.
struct Exposure {
  std::vector<double> normal;
  std::vector<double> abnormal;
  bool by_work = false;  // in units of work; if false, in seconds
};

struct OnlyCell {
  CellKey key;
  std::optional<std::int64_t> error{};             // only these errors of the cell occur on one side only
  bool never_returned = false;                     // only the calls that never returned occur on one side only
  std::uint64_t events = 0;                        // in all runs of its side
  std::map<std::int64_t, std::uint64_t> errors{};  // of these
  std::uint64_t open = 0;                          // of these events, never returned
  EventRowId first_event_id{};                     // the lowest of all runs
  std::size_t runs = 0;                            // number of runs that have the cell
  double score = 0;
};

enum class Shift { kRate, kLatency, kErrors, kNeverReturned, kBytes };

struct ChangedCell {
  CellKey key;
  Shift what = Shift::kRate;
  std::optional<std::int64_t> error{};  // of kErrors
  // kRate: per second or unit of work. kLatency: median ns. kBytes: of a call that succeeded. Others: share of calls.
  double before = 0;
  double after = 0;
  double calls_before = 0;  // of a run, mean
  double calls_after = 0;
  double effect = 1;          // after / before; no event, and no byte, counts as half of one
  std::optional<double> q{};  // false discovery rate; none: not tested
  double score = 0;
};

struct CellChanges {
  bool tested = false;
  std::vector<OnlyCell> normal_only;  // each by falling score
  std::vector<OnlyCell> abnormal_only;
  std::vector<ChangedCell> changed;
  std::size_t unsteady = 0;  // one-sided cells that were left out because too few runs have them
};

// The ranking of one-sided cells.
[[nodiscard]] bool ranks_before(const OnlyCell& a, const OnlyCell& b);

[[nodiscard]] std::vector<CellRow> join_cells(const std::vector<Matrix>& normal, const std::vector<Matrix>& abnormal);

// The score of an error that a cell gave on the other side too, but for other files or addresses.
[[nodiscard]] double new_error_score(const std::string& kind, std::int64_t error, std::uint64_t events,
                                     std::size_t normal_runs, std::size_t abnormal_runs);

// `exposure` must have a value above 0 for each run.
[[nodiscard]] CellChanges compare_cells(const std::vector<CellRow>& rows, const Exposure& exposure);

}  // namespace uscope::analyzer
