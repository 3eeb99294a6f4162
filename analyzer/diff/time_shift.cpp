// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "analyzer/diff/time_shift.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

#include "analyzer/diff/call_traits.h"
#include "analyzer/diff/diff_cells.h"
#include "analyzer/diff/shift_test.h"

namespace uscope::analyzer {
namespace {

constexpr double kNothingNs = 1e5;             // less counts as this: ratios of less say nothing
constexpr double kLeastTimeVariance = 0.0025;  // of logarithms: runs are never taken to agree better than by 5 %
constexpr double kFollowingWeight = 0.5;

struct Values {
  std::vector<double> normal;
  std::vector<double> abnormal;
};

struct PlaceValues {
  Values ns;
  Values times;
};

double mean_of(const std::vector<double>& values) {
  return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}

TimeOfSide summed_up(const std::vector<double>& ns, const std::vector<double>& times) {
  const auto [least, most] = std::minmax_element(ns.begin(), ns.end());
  return {.mean = mean_of(ns), .least = *least, .most = *most, .times = times.empty() ? 0 : mean_of(times)};
}

TimeShift shift_of(const Values& ns, const Values& times) {
  return {.normal = summed_up(ns.normal, times.normal), .abnormal = summed_up(ns.abnormal, times.abnormal)};
}

double p_of_times(Values ns) {
  for (std::vector<double>* side : {&ns.normal, &ns.abnormal})
    for (double& value : *side) value = std::max(value, kNothingNs);
  const double variance = std::max(kLeastTimeVariance, own_variance(ns.normal, ns.abnormal));
  return duration_test(ns.normal, ns.abnormal, variance);
}

// The nearest two runs of the two sides; equal if the sides overlap.
struct Nearest {
  double less = 1;
  double more = 1;
  [[nodiscard]] double factor() const { return more / less; }
};

Nearest nearest(const TimeShift& time) {
  for (const auto& [low, high] : {std::pair{&time.normal, &time.abnormal}, std::pair{&time.abnormal, &time.normal}})
    if (high->least > low->most) return {std::max(low->most, kNothingNs), std::max(high->least, kNothingNs)};
  return {};
}

bool differs(const TimeShift& time) {
  if (std::abs(time.change()) < kLeastTimeNs) return false;
  const double factor = nearest(time).factor();
  if (!time.q) return factor >= kLeastUntested;
  const double ratio = std::max(time.abnormal.mean, kNothingNs) / std::max(time.normal.mean, kNothingNs);
  return *time.q < kMostQ && factor > 1 && std::max(ratio, 1 / ratio) >= kLeastTimeShift;
}

// For a total of whole runs. `least`: by so many ns.
bool differs_by(const TimeShift& time, double least) {
  if (!differs(time) || std::abs(time.change()) < least) return false;
  return time.q || differ_untested(time);
}

// A place of very little time in all runs is no candidate, so that it costs the others nothing.
std::map<TimePlace, PlaceValues> join_places(const std::vector<RunTime>& normal, const std::vector<RunTime>& abnormal) {
  std::map<TimePlace, PlaceValues> places;
  for (const auto* side : {&normal, &abnormal})
    for (const RunTime& run : *side)
      for (const auto& [place, spent] : run.places)
        if (spent.ns >= kLeastTimeNs) places.try_emplace(place);
  const auto fill = [](const TimePlace& place, const std::vector<RunTime>& side, std::vector<double>& ns,
                       std::vector<double>& times) {
    for (const RunTime& run : side) {
      const auto found = run.places.find(place);
      ns.push_back(found == run.places.end() ? 0 : found->second.ns);
      times.push_back(found == run.places.end() ? 0 : static_cast<double>(found->second.times));
    }
  };
  for (auto& [place, values] : places) {
    fill(place, normal, values.ns.normal, values.times.normal);
    fill(place, abnormal, values.ns.abnormal, values.times.abnormal);
  }
  return places;
}

template <typename Counts>
Values sums(const std::vector<RunTime>& normal, const std::vector<RunTime>& abnormal, const Counts& counts) {
  Values values;
  const auto add = [&](const std::vector<RunTime>& side, std::vector<double>& list) {
    for (const RunTime& run : side) {
      double sum = 0;
      for (const auto& [place, spent] : run.places)
        if (counts(place)) sum += spent.ns;
      list.push_back(sum);
    }
  };
  add(normal, values.normal);
  add(abnormal, values.abnormal);
  return values;
}

// Whether two gaps have a call in common, or the same beginning or end of a thread.
bool are_neighbours(const TimePlace& a, const TimePlace& b) {
  return std::tie(a.call, a.since) == std::tie(b.call, b.since) ||
         std::tie(a.next, a.until) == std::tie(b.next, b.until);
}

// Takes out gaps whose neighbours gained what they lost, to within `least`. The largest come first.
void leave_out_moved(std::vector<PlaceShift>& places, double least) {
  std::stable_sort(places.begin(), places.end(), [](const PlaceShift& a, const PlaceShift& b) {
    return std::abs(a.time.change()) > std::abs(b.time.change());
  });
  std::vector<bool> moved(places.size());
  for (std::size_t i = 0; i < places.size(); i++) {
    if (!places[i].place.outside || moved[i]) continue;
    double sum = places[i].time.change();
    std::vector<std::size_t> group{i};
    for (std::size_t j = i + 1; j < places.size(); j++) {
      const double change = places[j].time.change();
      const bool opposite = (change < 0) != (sum < 0) && std::abs(sum + change) < std::abs(sum);
      if (moved[j] || !places[j].place.outside || !opposite || !are_neighbours(places[i].place, places[j].place))
        continue;
      sum += change;
      group.push_back(j);
    }
    if (group.size() > 1 && std::abs(sum) < least)
      for (const std::size_t one : group) moved[one] = true;
  }
  std::vector<PlaceShift> kept;
  for (std::size_t i = 0; i < places.size(); i++)
    if (!moved[i]) kept.push_back(std::move(places[i]));
  places = std::move(kept);
}

// What waits for the run's own tasks takes as long as they do: they come first.
double weight_of_shift(const PlaceShift& shift) {
  const bool follows = !shift.place.outside && waits_for_tasks(shift.place.call.kind);
  return std::abs(shift.time.change()) * (follows ? kFollowingWeight : 1);
}

}  // namespace

bool differ_untested(const TimeShift& lengths) {
  const Nearest runs = nearest(lengths);
  return runs.more >= kLeastUntested * runs.less + kUntestedNs;
}

TimeChanges compare_time(const std::vector<RunTime>& normal, const std::vector<RunTime>& abnormal) {
  const bool tested = normal.size() >= kRunsToTest && abnormal.size() >= kRunsToTest;
  Values lengths;
  for (const RunTime& run : normal) lengths.normal.push_back(run.length_ns);
  for (const RunTime& run : abnormal) lengths.abnormal.push_back(run.length_ns);
  const auto is_waiting = [](const TimePlace& place) { return !place.outside && waits(place.call.kind); };
  const auto is_working = [&](const TimePlace& place) { return !place.outside && !is_waiting(place); };
  const std::vector<Values> totals{
      std::move(lengths), sums(normal, abnormal, [](const TimePlace& place) { return !place.outside; }),
      sums(normal, abnormal, [](const TimePlace& place) { return place.outside; }), sums(normal, abnormal, is_working)};
  std::vector<double> p;
  std::vector<TimeShift> shifts;
  std::vector<PlaceShift> places;
  for (const Values& values : totals) {
    p.push_back(p_of_times(values));
    shifts.push_back(shift_of(values, {}));
  }
  for (const auto& [place, values] : join_places(normal, abnormal)) {
    p.push_back(p_of_times(values.ns));
    places.push_back({place, shift_of(values.ns, values.times)});
  }
  if (tested) {
    const std::vector<double> q = false_discovery_rates(p);
    for (std::size_t i = 0; i < shifts.size(); i++) shifts[i].q = q[i];
    for (std::size_t i = 0; i < places.size(); i++) places[i].time.q = q[shifts.size() + i];
  }
  TimeChanges changes{.length = shifts[0], .inside = shifts[1], .outside = shifts[2], .places = {}};
  // Threads that wait longer in a run that takes no longer are no change: they wait for what is listed here.
  const double least_part = kLeastTimeShare * std::max(shifts[0].normal.mean, shifts[0].abnormal.mean);
  for (const std::size_t i : {0U, 2U, 3U}) changes.notable = changes.notable || differs_by(shifts[i], least_part);
  if (!changes.notable) return changes;
  leave_out_moved(places, std::max(kLeastTimeNs, kLeastTimeShare * std::abs(changes.length.change())));
  // Many threads may wait meanwhile: places that do not wait are measured by each other, not by that.
  double largest = std::abs(changes.inside.change() + changes.outside.change());
  double largest_work = std::abs(changes.length.change());
  for (const PlaceShift& shift : places) {
    double& most = is_waiting(shift.place) ? largest : largest_work;
    most = std::max(most, std::abs(shift.time.change()));
  }
  for (PlaceShift& shift : places) {
    const double least = kLeastTimeShare * (is_waiting(shift.place) ? std::max(largest, largest_work) : largest_work);
    if (differs(shift.time) && std::abs(shift.time.change()) >= least) changes.places.push_back(std::move(shift));
  }
  std::stable_sort(changes.places.begin(), changes.places.end(),
                   [](const PlaceShift& a, const PlaceShift& b) { return weight_of_shift(a) > weight_of_shift(b); });
  return changes;
}

}  // namespace uscope::analyzer
