// What sets the matrices of abnormal runs apart from those of normal ones: cells of one side only, cells that have
// shifted. Pure functions over matrices; diff.h adds what the stores say of each.
//
// An error that a cell never gives on the other side, and calls that never returned there, are told as cells of their
// own: of `openat` in one function the one EACCES among a thousand successes is what matters.
//
// Statistics. With three runs or more on each side every shift is tested across runs (shift_test.h) and what is kept
// has a false discovery rate below kMostQ; a cell of one side only must then be in all runs of its side, or pass the
// test. With fewer runs nothing is tested: a shift counts where all runs of one side are beyond all runs of the other
// by kLeastFactor. Rates are by duration, and must then have shifted as counts too, so that neither a run that was
// longer nor one that worked more slowly through the same work passes for another behaviour; or by pieces of work.
//
// Ranking. Scores are standard deviations of the logarithm of the ratio, with the dispersion that the runs show
// (at least kLeastDispersion): few events cannot score much, and of very many it is the ratio that counts. Errors that
// are no mere "try again" come before that: first those that this call never gave on the other side, then those that
// this cell never gave. What depends on waiting (futex, epoll_wait …) counts half. Of cells of one side with about the
// same score, that comes first which happened first: causes come before what they bring about.
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

// One cell of all runs; null where a run does not have it.
struct CellRow {
  CellKey key;
  std::vector<const Cell*> normal;
  std::vector<const Cell*> abnormal;
};

// What the runs had the opportunity for calls in.
struct Exposure {
  std::vector<double> normal;
  std::vector<double> abnormal;
  bool by_work = false;  // pieces of work; else seconds
};

struct OnlyCell {
  CellKey key;
  std::optional<std::int64_t> error{};             // only these errors of the cell are of one side
  bool never_returned = false;                     // only its calls that never returned are
  std::uint64_t events = 0;                        // in all runs of its side
  std::map<std::int64_t, std::uint64_t> errors{};  // of these
  std::uint64_t open = 0;                          // of these never returned
  std::int64_t first_event_id = 0;                 // the lowest of all runs
  std::size_t runs = 0;                            // that have it
  double score = 0;
};

enum class Shift { kRate, kLatency, kErrors, kNeverReturned };

struct ChangedCell {
  CellKey key;
  Shift what = Shift::kRate;
  std::optional<std::int64_t> error{};  // of kErrors
  double before = 0;  // kRate: for each second or piece of work. kLatency: median ns. Others: share of calls
  double after = 0;
  double effect = 1;          // after / before
  std::optional<double> q{};  // false discovery rate; none: not tested
  double score = 0;
};

struct CellChanges {
  bool tested = false;
  std::vector<OnlyCell> normal_only;  // each by falling score
  std::vector<OnlyCell> abnormal_only;
  std::vector<ChangedCell> changed;
  std::size_t unsteady = 0;  // cells of one side only that were left out, as too few of its runs have them
};

// The order of cells of one side.
[[nodiscard]] bool ranks_before(const OnlyCell& a, const OnlyCell& b);

[[nodiscard]] std::vector<CellRow> join_cells(const std::vector<Matrix>& normal, const std::vector<Matrix>& abnormal);

// The score of an error that a cell gave on the other side too, but on other files or addresses.
[[nodiscard]] double new_error_score(std::uint64_t events, std::size_t normal_runs, std::size_t abnormal_runs);

// `exposure` has a value above 0 for each run.
[[nodiscard]] CellChanges compare_cells(const std::vector<CellRow>& rows, const Exposure& exposure);

}  // namespace uscope::analyzer
