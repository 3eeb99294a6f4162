// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// Tests whether two groups of runs differ: counts of calls that scatter more than by chance (negative binomial), and
// durations. Pure functions.
//
// Counts: within a group a run of exposure E (seconds, or units of work) has about m = mu E events, with variance m +
// phi m². The cell's own dispersion phi is where Pearson's statistic equals its degrees of freedom. The test uses the
// larger of that and the dispersion shared by all cells (their median), so that neither a cell that happens to agree in
// a few runs nor one that always scatters counts as changed. The logarithms of the groups' rates are compared by
// Student's t with as many degrees of freedom as there are runs less two, since phi itself is estimated from few runs.
// Limits: taking the larger of two estimates makes the test conservative, most so for three runs a side.
#pragma once

#include <span>
#include <vector>

namespace uscope::analyzer {

constexpr double kHalfEvent = 0.5;  // stands for zero events, which have no logarithm

// One side of one cell: for each run the number of events, and the exposure, which is above 0.
struct Counts {
  std::vector<double> events;
  std::vector<double> exposure;

  [[nodiscard]] double total() const;
  [[nodiscard]] double rate() const;  // events for each unit of exposure
};

// phi of one cell, from the scatter within each side; 0 if chance alone explains it, or if a side has only one run.
[[nodiscard]] double own_dispersion(const Counts& a, const Counts& b);

// Two-sided p-value of the difference in rate. Returns 1 if a side has no run, both together have fewer than three, or
// there are no events at all.
[[nodiscard]] double count_test(const Counts& a, const Counts& b, double dispersion);

// The variance of logarithms within two groups of durations; 0 if neither group has two.
[[nodiscard]] double own_variance(std::span<const double> a, std::span<const double> b);

// Like count_test(), for durations, by their logarithms.
[[nodiscard]] double duration_test(std::span<const double> a, std::span<const double> b, double variance);

// The two-sided p-value of Student's t.
[[nodiscard]] double student_p(double t, double degrees);

// The middle value; 0 if there are none.
[[nodiscard]] double median(std::vector<double> values);

// Benjamini and Hochberg: for each p, the share of false discoveries among all values that are as small.
[[nodiscard]] std::vector<double> false_discovery_rates(const std::vector<double>& p);

}  // namespace uscope::analyzer
