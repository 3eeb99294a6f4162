// Whether two groups of runs differ: counts of calls that scatter more than chance would have them (negative binomial),
// and durations. Pure functions.
//
// Counts: within a group a run of exposure E (seconds, or pieces of work) has about m = mu E events, with variance
// m + phi m². The cell's own dispersion phi is where Pearson's statistic equals its degrees of freedom; what is used is
// the larger of it and the one that is shared by all cells (their median), so that neither a cell that happens to agree
// in a few runs nor one that always scatters passes for changed. The logarithms of the groups' rates are compared by
// Student's t with as many degrees of freedom as there are runs less two, since phi is itself estimated from few runs.
// Limits: by the larger of two estimates the test is conservative, most so for three runs a side.
#pragma once

#include <span>
#include <vector>

namespace uscope::analyzer {

// One side of one cell: for each run its events, and what it had the opportunity for them in; exposures are above 0.
struct Counts {
  std::vector<double> events;
  std::vector<double> exposure;

  [[nodiscard]] double total() const;
  [[nodiscard]] double rate() const;  // events for each unit of exposure
};

// phi of one cell, from the scatter within each side; 0 where chance alone explains it, or there is one run a side.
[[nodiscard]] double own_dispersion(const Counts& a, const Counts& b);

// Probability of a difference in rate at least as large, both ways, if there is none. 1 where a side has no run, both
// together fewer than three, or no events at all.
[[nodiscard]] double count_test(const Counts& a, const Counts& b, double dispersion);

// The variance of logarithms within two groups of durations; 0 where no group has two.
[[nodiscard]] double own_variance(std::span<const double> a, std::span<const double> b);

// As count_test for durations, by their logarithms.
[[nodiscard]] double duration_test(std::span<const double> a, std::span<const double> b, double variance);

// Two-sided: the probability that Student's t is as far from 0.
[[nodiscard]] double student_p(double t, double degrees);

// The middle value; 0 of none.
[[nodiscard]] double median(std::vector<double> values);

// Benjamini and Hochberg's: for each p the share of false discoveries among all that are as small.
[[nodiscard]] std::vector<double> false_discovery_rates(const std::vector<double>& p);

}  // namespace uscope::analyzer
