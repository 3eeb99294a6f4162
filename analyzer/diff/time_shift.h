// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// Where runs spend their time, and where the time went that runs of one side take longer than those of the other:
// inside of the calls of a cell, or outside of calls, between one call and the next. Times are sums over all threads of
// a run, not medians, so a few slow calls among many count for what they took. Pure functions; time_spent.h reads a
// run.
//
// Time between the same two calls, only told of other neighbours, is no change: where a call is made more often or less
// often, or in another order, one gap takes what its neighbour lost. Gaps that share a call and together gain and lose
// less than what would be listed are left out.
//
// Statistics. What is compared is one number of each run. With kRunsToTest runs on each side it is tested like
// durations (shift_test.h), and what is kept has a false discovery rate below kMostQ; besides, all runs of one side
// must be beyond all runs of the other. With fewer runs nothing is tested: the sides differ if their nearest runs do,
// by kLeastUntested, and whole runs by kUntestedNs besides, since a busy machine delays a short run by that much.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <tuple>
#include <vector>

#include "analyzer/diff/matrix.h"
#include "analyzer/read/event_totals.h"

namespace uscope::analyzer {

constexpr double kLeastTimeShift = 1.1;  // of the mean, if tested
constexpr double kLeastUntested = 1.5;   // between the nearest runs, if not
constexpr double kUntestedNs = 5e7;
constexpr double kLeastTimeNs = 1e6;  // of one place
constexpr double kLeastTimeShare = 0.05;

// A place where threads spend time: inside of the calls of a cell, or between two calls.
struct TimePlace {
  bool outside = false;
  CellKey call;  // outside: the call that returned; empty: none, as `since` says
  CellKey next;  // outside: the call that came next; empty: none, as `until` says
  GapEdge since = GapEdge::kCall;
  GapEdge until = GapEdge::kCall;

  friend bool operator<(const TimePlace& a, const TimePlace& b) {
    return std::tie(a.outside, a.call, a.next, a.since, a.until) <
           std::tie(b.outside, b.call, b.next, b.since, b.until);
  }
};

struct TimeSpent {
  double ns = 0;
  std::uint64_t times = 0;     // calls, or gaps
  StackRowId longest_stack{};  // outside: where most of the time is; that of the next call, or of the one before
  double longest_ns = 0;       // of that stack
};

// Of one run, all threads together.
struct RunTime {
  double length_ns = 0;  // of the run
  std::map<TimePlace, TimeSpent> places;
};

struct TimeOfSide {
  double mean = 0;  // ns of a run
  double least = 0;
  double most = 0;
  double times = 0;  // mean
};

struct TimeShift {
  TimeOfSide normal;
  TimeOfSide abnormal;
  std::optional<double> q{};  // false discovery rate; none: not tested

  [[nodiscard]] double change() const { return abnormal.mean - normal.mean; }
};

struct PlaceShift {
  TimePlace place;
  TimeShift time;
};

struct TimeChanges {
  bool notable = false;
  TimeShift length;
  TimeShift inside;                // of calls
  TimeShift outside;               // of calls
  std::vector<PlaceShift> places;  // that matter, if notable; most time gained or lost first
};

// Whether the sides' nearest runs differ by kLeastUntested and kUntestedNs: what fewer runs than kRunsToTest must.
[[nodiscard]] bool differ_untested(const TimeShift& lengths);

// Each side must have a run.
[[nodiscard]] TimeChanges compare_time(const std::vector<RunTime>& normal, const std::vector<RunTime>& abnormal);

}  // namespace uscope::analyzer
