// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "analyzer/diff/diff_cells.h"

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <functional>
#include <set>
#include <string>
#include <utility>

#include "analyzer/diff/call_traits.h"
#include "analyzer/diff/rates.h"

namespace uscope::analyzer {
namespace {

constexpr double kAboutTheSame = 2;  // standard deviations
constexpr double kErrorsAboutTheSame = 4;
constexpr double kTier = 1000;  // above every score that is in standard deviations
constexpr double kWaitingWeight = 0.5;
constexpr double kLeastLatencyVariance = 0.1;  // of logarithms, between runs
constexpr double kLeastBytesVariance = 0.1;
constexpr double kBriefNs = 1e6;  // less time than this, gained or lost in total, weighs little
constexpr double kLittleBytes = 1024;
constexpr double kLittleWeight = 0.3;

using CellOfRuns = std::vector<const Cell*>;
using Part = std::function<double(const Cell&)>;  // a number of events of a cell

double events_of(const Cell& cell) {
  return static_cast<double>(cell.events);
}

double open_of(const Cell& cell) {
  return static_cast<double>(cell.open);
}

Part failures_with(std::int64_t error) {
  return [error](const Cell& cell) {
    const auto found = cell.errnos.find(error);
    return found == cell.errnos.end() ? 0 : static_cast<double>(found->second.events);
  };
}

std::vector<double> parts_of(const CellOfRuns& runs, const Part& part) {
  std::vector<double> values;
  for (const Cell* cell : runs) values.push_back(cell ? part(*cell) : 0);
  return values;
}

bool any(const CellOfRuns& runs) {
  return std::any_of(runs.begin(), runs.end(), [](const Cell* cell) { return cell != nullptr; });
}

// Medians of the runs that have the cell and durations in it.
std::vector<double> medians(const CellOfRuns& runs) {
  std::vector<double> values;
  for (const Cell* cell : runs)
    if (cell && cell->timed > 0) values.push_back(std::max(1.0, cell->median_ns));
  return values;
}

double timed(const CellOfRuns& runs) {
  double sum = 0;
  for (const Cell* cell : runs) sum += cell ? static_cast<double>(cell->timed) : 0;
  return sum;
}

// Bytes for each transfer, of the runs that have any; none counts as half a byte.
std::vector<double> mean_bytes(const CellOfRuns& runs) {
  std::vector<double> values;
  for (const Cell* cell : runs)
    if (cell && cell->transfers > 0)
      values.push_back(std::max(kHalfEvent, static_cast<double>(cell->bytes) / static_cast<double>(cell->transfers)));
  return values;
}

double sum_of_transfers(const CellOfRuns& runs) {
  double sum = 0;
  for (const Cell* cell : runs) sum += cell ? static_cast<double>(cell->transfers) : 0;
  return sum;
}

double mean_calls(const CellOfRuns& runs) {
  double sum = 0;
  for (const Cell* cell : runs) sum += cell ? events_of(*cell) : 0;
  return sum / static_cast<double>(runs.size());
}

double geometric_mean(const std::vector<double>& values) {
  double sum = 0;
  for (const double value : values) sum += std::log(value);
  return std::exp(sum / static_cast<double>(values.size()));
}

// Medians as rates with one unit of exposure each, so that Rates computes their ratios.
Rates as_rates(const std::vector<double>& before, const std::vector<double>& after) {
  return {{before, std::vector<double>(before.size(), 1)}, {after, std::vector<double>(after.size(), 1)}};
}

double weight_of_kind(const std::string& kind) {
  return waits(kind) ? kWaitingWeight : 1;
}

class Comparison {
 public:
  Comparison(const std::vector<CellRow>& rows, const Exposure& exposure) : rows_(rows), exposure_(exposure) {
    changes_.tested = exposure.normal.size() >= kRunsToTest && exposure.abnormal.size() >= kRunsToTest;
  }

  CellChanges run() {
    learn();
    for (const CellRow& row : rows_) {
      if (!any(row.normal) || !any(row.abnormal)) {
        only(row, any(row.normal), {.key = row.key}, events_of);
        continue;
      }
      const std::size_t before = changed_.size();
      outcomes(row);
      changed_rate(row);
      changed_latency(row);
      changed_bytes(row);
      for (std::size_t i = before; i < changed_.size(); i++) {
        changed_[i].first.calls_before = mean_calls(row.normal);
        changed_[i].first.calls_after = mean_calls(row.abnormal);
      }
    }
    judge();
    return std::move(changes_);
  }

 private:
  struct OnlyCandidate {
    OnlyCell cell;
    bool of_normal = false;
    bool steady = false;
    double p = 1;
  };

  // What calls of a cell take or move, on both sides: one value of each run that has any.
  struct Values {
    Shift what;
    std::vector<double> before;
    std::vector<double> after;
    double calls_before = 0;
    double calls_after = 0;
    double calls_changed = 0;   // so many times the difference is what was gained or lost in total
    double usual_variance = 0;  // of logarithms, between runs: no less is tested with
    double least_variance = 0;  // no less is scored with
    double little = 0;          // less than this, in total, weighs little
  };

  void learn();
  void outcomes(const CellRow& row);
  void only(const CellRow& row, bool of_normal, OnlyCell cell, const Part& part);
  void changed_rate(const CellRow& row);
  void changed_latency(const CellRow& row);
  void changed_bytes(const CellRow& row);
  void changed_value(const CellRow& row, const Values& values);
  void changed_share(const CellRow& row, Shift what, std::optional<std::int64_t> error, const Part& part);
  void judge();
  [[nodiscard]] double tier(const OnlyCell& cell, bool of_normal) const;

  [[nodiscard]] Rates rates(const CellRow& row, const Part& part) const {
    return {{parts_of(row.normal, part), exposure_.normal}, {parts_of(row.abnormal, part), exposure_.abnormal}};
  }
  [[nodiscard]] static Rates counts(const CellRow& row, const Part& part) {
    return as_rates(parts_of(row.normal, part), parts_of(row.abnormal, part));
  }
  [[nodiscard]] double dispersion(const Rates& rates) const {
    return std::max({shared_dispersion_, kLeastDispersion, own_dispersion(rates.before, rates.after)});
  }
  [[nodiscard]] double p_of(const Rates& rates) const {
    if (!changes_.tested) return 1;
    return count_test(rates.before, rates.after,
                      std::max(shared_dispersion_, own_dispersion(rates.before, rates.after)));
  }
  // The mean ratio if the runs are tested, else that of the nearest two runs.
  [[nodiscard]] double ratio_of(const Rates& rates) const {
    return changes_.tested ? rates.ratio() : rates.nearest_ratio();
  }

  const std::vector<CellRow>& rows_;
  const Exposure& exposure_;
  std::set<std::pair<std::string, std::int64_t>> normal_errors_;  // of any cell: kind, error
  double shared_dispersion_ = 0;
  double shared_variance_ = 0;
  std::vector<OnlyCandidate> only_;
  std::vector<std::pair<ChangedCell, double>> changed_;  // with p
  CellChanges changes_;
};

// Learns what all cells share: known errors, and the scatter between runs (the median of the cells with enough events).
void Comparison::learn() {
  std::vector<double> dispersions;
  std::vector<double> variances;
  const std::size_t runs = exposure_.normal.size() + exposure_.abnormal.size();
  for (const CellRow& row : rows_) {
    for (const Cell* cell : row.normal)
      if (cell)
        for (const auto& [error, count] : cell->errnos) normal_errors_.emplace(row.key.kind, error);
    const Rates all = rates(row, events_of);
    if (runs < kRunsToTest || all.before.total() + all.after.total() < kLeastEvents * static_cast<double>(runs))
      continue;
    dispersions.push_back(own_dispersion(all.before, all.after));
    const auto before = medians(row.normal);
    const auto after = medians(row.abnormal);
    if (before.size() + after.size() >= kRunsToTest) variances.push_back(own_variance(before, after));
  }
  shared_dispersion_ = median(std::move(dispersions));
  shared_variance_ = median(std::move(variances));
}

// 2: an error that no cell of this call gave in a normal run; 1: one that other cells gave, or EINTR that none gave; 0:
// none, or a passing one.
double Comparison::tier(const OnlyCell& cell, bool of_normal) const {
  double most = 0;
  if (of_normal || cell.never_returned) return most;
  for (const auto& [error, events] : cell.errors) {
    if (error == EINTR && normal_errors_.count({cell.key.kind, error}) == 0) most = std::max(most, 1.0);
    if (!is_telling(cell.key.kind, error)) continue;
    most = std::max(most, normal_errors_.count({cell.key.kind, error}) == 0 ? 2.0 : 1.0);
  }
  return most;
}

void Comparison::only(const CellRow& row, bool of_normal, OnlyCell cell, const Part& part) {
  const CellOfRuns& side = of_normal ? row.normal : row.abnormal;
  for (const Cell* run : side) {
    if (!run || part(*run) <= 0) continue;
    cell.runs++;
    cell.events += static_cast<std::uint64_t>(part(*run));
    const EventRowId first = cell.error ? run->errnos.at(*cell.error).first_event_id : run->first_event_id;
    cell.first_event_id = cell.first_event_id ? std::min(cell.first_event_id, first) : first;
    if (!cell.error || cell.never_returned) cell.open += run->open;
    if (cell.never_returned) continue;
    for (const auto& [error, count] : run->errnos)
      if (!cell.error || *cell.error == error) cell.errors[error] += count.events;
  }
  if (is_consequence(cell.key.kind) && static_cast<double>(cell.events) < kLeastEvents) return;
  const Rates all = rates(row, part);
  cell.score = tier(cell, of_normal) * kTier + all.deviations(dispersion(all)) * weight_of_kind(cell.key.kind) *
                                                   (cell.never_returned ? kWaitingWeight : 1) *
                                                   static_cast<double>(cell.runs) / static_cast<double>(side.size());
  const bool steady = side.size() < kRunsToTest || cell.runs == side.size();
  only_.push_back({std::move(cell), of_normal, steady, p_of(all)});
}

// Compares the errors and open calls of a cell that both sides have.
void Comparison::outcomes(const CellRow& row) {
  std::set<std::int64_t> errors;
  const auto total = [](const CellOfRuns& runs, const Part& part) {
    double sum = 0;
    for (const Cell* cell : runs) sum += cell ? part(*cell) : 0;
    return sum;
  };
  for (const CellOfRuns* side : {&row.normal, &row.abnormal})
    for (const Cell* cell : *side)
      if (cell)
        for (const auto& [error, count] : cell->errnos) errors.insert(error);
  const auto compare = [&](Shift what, std::optional<std::int64_t> error, const Part& part) {
    const double before = total(row.normal, part);
    const double after = total(row.abnormal, part);
    // A program that gets EINTR has a handler that has run: on one side only, that is not by chance.
    const bool passing = error && *error != EINTR && is_passing(row.key.kind, *error);
    if ((before > 0) == (after > 0) || passing) {
      changed_share(row, what, error, part);
    } else {
      only(row, before > 0, {.key = row.key, .error = error, .never_returned = what == Shift::kNeverReturned}, part);
    }
  };
  for (const std::int64_t error : errors) compare(Shift::kErrors, error, failures_with(error));
  if (total(row.normal, open_of) + total(row.abnormal, open_of) > 0)
    compare(Shift::kNeverReturned, std::nullopt, open_of);
}

void Comparison::changed_rate(const CellRow& row) {
  const Rates by_exposure = rates(row, events_of);
  const Rates by_count = counts(row, events_of);
  if (by_exposure.before.total() + by_exposure.after.total() < kLeastEvents) return;
  ChangedCell cell{.key = row.key};
  cell.before = by_exposure.before.rate();
  cell.after = by_exposure.after.rate();
  cell.effect = by_exposure.ratio();
  cell.score = by_exposure.deviations(dispersion(by_exposure)) * weight_of_kind(row.key.kind);
  double p = p_of(by_exposure);
  bool large = is_large_ratio(ratio_of(by_exposure)) && by_exposure.excess() >= kLeastEvents;
  if (!exposure_.by_work) {
    const double ratio = ratio_of(by_count);
    large = large && is_large_ratio(ratio) && (ratio > 1) == (cell.effect > 1) && by_count.excess() >= kLeastEvents;
    cell.score = std::min(cell.score, by_count.deviations(dispersion(by_count)) * weight_of_kind(row.key.kind));
    p = std::max(p, p_of(by_count));
  }
  if (!large) cell.score = -1;
  changed_.emplace_back(std::move(cell), p);
}

void Comparison::changed_latency(const CellRow& row) {
  const double after = timed(row.abnormal);
  changed_value(row, {.what = Shift::kLatency,
                      .before = medians(row.normal),
                      .after = medians(row.abnormal),
                      .calls_before = timed(row.normal),
                      .calls_after = after,
                      .calls_changed = after,
                      .usual_variance = shared_variance_,
                      .least_variance = kLeastLatencyVariance,
                      .little = kBriefNs});
}

// What calls that move bytes returned: fewer bytes of each call, with as many calls, is no shift of a rate.
void Comparison::changed_bytes(const CellRow& row) {
  const double before = sum_of_transfers(row.normal);
  const double after = sum_of_transfers(row.abnormal);
  changed_value(row, {.what = Shift::kBytes,
                      .before = mean_bytes(row.normal),
                      .after = mean_bytes(row.abnormal),
                      .calls_before = before,
                      .calls_after = after,
                      .calls_changed = std::min(before, after),
                      .usual_variance = kLeastBytesVariance,
                      .least_variance = kLeastBytesVariance,
                      .little = kLittleBytes});
}

void Comparison::changed_value(const CellRow& row, const Values& values) {
  if (std::min(values.calls_before, values.calls_after) < kLeastEvents) return;
  const double variance = std::max(values.usual_variance, own_variance(values.before, values.after));
  ChangedCell cell{.key = row.key, .what = values.what};
  cell.before = geometric_mean(values.before);
  cell.after = geometric_mean(values.after);
  cell.effect = cell.after / cell.before;
  for (double* value : {&cell.before, &cell.after})
    if (values.what == Shift::kBytes && *value <= kHalfEvent) *value = 0;  // no transfer moved anything
  const double ratio = changes_.tested ? cell.effect : as_rates(values.before, values.after).nearest_ratio();
  const double spread = std::max(variance, values.least_variance) * (1 / static_cast<double>(values.before.size()) +
                                                                     1 / static_cast<double>(values.after.size())) +
                        1 / values.calls_before + 1 / values.calls_after;
  const bool little = std::abs(cell.after - cell.before) * values.calls_changed < values.little;
  cell.score = is_large_ratio(ratio) ? std::abs(std::log(cell.effect)) / std::sqrt(spread) *
                                           weight_of_kind(row.key.kind) * (little ? kLittleWeight : 1)
                                     : -1;
  changed_.emplace_back(std::move(cell), changes_.tested ? duration_test(values.before, values.after, variance) : 1);
}

void Comparison::changed_share(const CellRow& row, Shift what, std::optional<std::int64_t> error, const Part& part) {
  Rates shares{{parts_of(row.normal, part), parts_of(row.normal, events_of)},
               {parts_of(row.abnormal, part), parts_of(row.abnormal, events_of)}};
  if (!shares.drop_unexposed() || shares.before.total() + shares.after.total() < kLeastEvents) return;
  ChangedCell cell{.key = row.key, .what = what, .error = error};
  cell.before = shares.before.rate();
  cell.after = shares.after.rate();
  cell.effect = shares.ratio();
  const bool large = is_large_ratio(ratio_of(shares)) && shares.excess() >= kLeastEvents;
  const bool telling = error && is_telling(row.key.kind, *error);
  cell.score = shares.deviations(dispersion(shares)) * (telling || waits(row.key.kind) ? 1 : kWaitingWeight) *
                   weight_of_kind(row.key.kind) +
               (telling && cell.effect > 1 ? kTier : 0);
  if (!large) cell.score = -1;
  changed_.emplace_back(std::move(cell), p_of(shares));
}

// Selects the results to keep, and sorts them.
void Comparison::judge() {
  std::vector<double> p;
  for (const OnlyCandidate& candidate : only_) p.push_back(candidate.p);
  for (const auto& [cell, value] : changed_) p.push_back(value);
  const std::vector<double> q = false_discovery_rates(p);
  for (std::size_t i = 0; i < only_.size(); i++) {
    OnlyCandidate& candidate = only_[i];
    if (!candidate.steady && !(changes_.tested && q[i] < kMostQ)) {
      changes_.unsteady++;
      continue;
    }
    (candidate.of_normal ? changes_.normal_only : changes_.abnormal_only).push_back(std::move(candidate.cell));
  }
  for (std::size_t i = 0; i < changed_.size(); i++) {
    ChangedCell& cell = changed_[i].first;
    if (cell.score < 0) continue;
    if (changes_.tested) {
      cell.q = q[only_.size() + i];
      if (*cell.q >= kMostQ) continue;
    }
    changes_.changed.push_back(std::move(cell));
  }
  const auto by_score = [](const auto& a, const auto& b) {
    if (is_consequence(a.key.kind) != is_consequence(b.key.kind)) return is_consequence(b.key.kind);
    return a.score != b.score ? a.score > b.score : a.key < b.key;
  };
  std::stable_sort(changes_.normal_only.begin(), changes_.normal_only.end(), ranks_before);
  std::stable_sort(changes_.abnormal_only.begin(), changes_.abnormal_only.end(), ranks_before);
  std::stable_sort(changes_.changed.begin(), changes_.changed.end(), by_score);
}

}  // namespace

bool ranks_before(const OnlyCell& a, const OnlyCell& b) {
  if (is_consequence(a.key.kind) != is_consequence(b.key.kind)) return is_consequence(b.key.kind);
  const auto weight = [](const OnlyCell& cell) {
    return std::floor(cell.score / (cell.score >= kTier ? kErrorsAboutTheSame : kAboutTheSame));
  };
  const double weight_a = weight(a);
  const double weight_b = weight(b);
  if (weight_a != weight_b) return weight_a > weight_b;
  if (a.first_event_id != b.first_event_id) return a.first_event_id < b.first_event_id;
  return a.score != b.score ? a.score > b.score : a.key < b.key;
}

std::vector<CellRow> join_cells(const std::vector<Matrix>& normal, const std::vector<Matrix>& abnormal) {
  std::map<CellKey, CellRow> rows;
  const auto add = [&](const std::vector<Matrix>& side, CellOfRuns CellRow::*where) {
    for (std::size_t i = 0; i < side.size(); i++) {
      for (const auto& [key, cell] : side[i].cells) {
        const auto [row, is_new] = rows.try_emplace(key);
        if (is_new) row->second = {key, CellOfRuns(normal.size()), CellOfRuns(abnormal.size())};
        (row->second.*where)[i] = &cell;
      }
    }
  };
  add(normal, &CellRow::normal);
  add(abnormal, &CellRow::abnormal);
  std::vector<CellRow> list;
  list.reserve(rows.size());
  for (auto& [key, row] : rows) list.push_back(std::move(row));
  return list;
}

// Ranks among the errors new to a cell: before those without such an argument, after those that the call never gave.
double new_error_score(const std::string& kind, std::int64_t error, std::uint64_t events, std::size_t normal_runs,
                       std::size_t abnormal_runs) {
  Rates rates{{std::vector<double>(normal_runs, 0), std::vector<double>(normal_runs, 1)},
              {std::vector<double>(abnormal_runs, static_cast<double>(events) / static_cast<double>(abnormal_runs)),
               std::vector<double>(abnormal_runs, 1)}};
  return (is_telling(kind, error) ? 1.5 * kTier : 0) + rates.deviations(kLeastDispersion);
}

CellChanges compare_cells(const std::vector<CellRow>& rows, const Exposure& exposure) {
  return Comparison(rows, exposure).run();
}

}  // namespace uscope::analyzer
