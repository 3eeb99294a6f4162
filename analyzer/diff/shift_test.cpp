// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "analyzer/diff/shift_test.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <numeric>

namespace uscope::analyzer {
namespace {

// Pearson's statistic of one side under a dispersion.
double pearson(const Counts& side, double dispersion) {
  double sum = 0;
  const double rate = side.rate();
  for (std::size_t i = 0; i < side.events.size(); i++) {
    const double mean = rate * side.exposure[i];
    if (mean <= 0) continue;
    const double off = side.events[i] - mean;
    sum += off * off / (mean + dispersion * mean * mean);
  }
  return sum;
}

double degrees_of(std::size_t a, std::size_t b) {
  return static_cast<double>(a + b) - 2;
}

// Mean and variance of the logarithm of a side's rate.
struct LogRate {
  double mean = 0;
  double variance = 0;
};

LogRate log_rate(const Counts& side, double dispersion) {
  const double exposure = std::accumulate(side.exposure.begin(), side.exposure.end(), 0.0);
  const double total = std::max(side.total(), kHalfEvent);
  double variance = 0;
  for (const double part : side.exposure) {
    const double mean = total * part / exposure;
    variance += mean + dispersion * mean * mean;
  }
  return {std::log(total / exposure), variance / (total * total)};
}

// Lentz's continued fraction for the incomplete beta function (Abramowitz and Stegun 26.5.8).
double beta_fraction(double x, double a, double b) {
  constexpr int kMostSteps = 500;
  constexpr double kTiny = 1e-300;
  constexpr double kEnough = 1e-15;
  double c = 1;
  double d = 1 - (a + b) * x / (a + 1);
  d = 1 / (std::abs(d) < kTiny ? kTiny : d);
  double value = d;
  for (int i = 1; i <= kMostSteps; i++) {
    const double m = i;
    const double even = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m));
    d = 1 + even * d;
    c = 1 + even / c;
    d = 1 / (std::abs(d) < kTiny ? kTiny : d);
    c = std::abs(c) < kTiny ? kTiny : c;
    value *= d * c;
    const double odd = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1));
    d = 1 + odd * d;
    c = 1 + odd / c;
    d = 1 / (std::abs(d) < kTiny ? kTiny : d);
    c = std::abs(c) < kTiny ? kTiny : c;
    value *= d * c;
    if (std::abs(d * c - 1) < kEnough) break;
  }
  return value;
}

// The regularised incomplete beta function I_x(a, b).
double incomplete_beta(double x, double a, double b) {
  if (x <= 0) return 0;
  if (x >= 1) return 1;
  const double front =
      std::exp(std::lgamma(a + b) - std::lgamma(a) - std::lgamma(b) + a * std::log(x) + b * std::log1p(-x));
  if (x < (a + 1) / (a + b + 2)) return front * beta_fraction(x, a, b) / a;
  return 1 - front * beta_fraction(1 - x, b, a) / b;
}

double sum_of_squares(std::span<const double> values) {
  if (values.empty()) return 0;
  double mean = 0;
  for (const double value : values) mean += std::log(value);
  mean /= static_cast<double>(values.size());
  double sum = 0;
  for (const double value : values) sum += (std::log(value) - mean) * (std::log(value) - mean);
  return sum;
}

double mean_log(std::span<const double> values) {
  double sum = 0;
  for (const double value : values) sum += std::log(value);
  return sum / static_cast<double>(values.size());
}

}  // namespace

double Counts::total() const {
  return std::accumulate(events.begin(), events.end(), 0.0);
}

double Counts::rate() const {
  const double all = std::accumulate(exposure.begin(), exposure.end(), 0.0);
  return all > 0 ? total() / all : 0;
}

double own_dispersion(const Counts& a, const Counts& b) {
  const double degrees = degrees_of(a.events.size(), b.events.size());
  const auto statistic = [&](double phi) { return pearson(a, phi) + pearson(b, phi); };
  if (degrees < 1 || statistic(0) <= degrees) return 0;
  double low = 0;
  double high = 1;
  constexpr double kMost = 1e6;
  while (high < kMost && statistic(high) > degrees) high *= 4;
  constexpr int kHalvings = 60;
  for (int i = 0; i < kHalvings; i++) {
    const double middle = (low + high) / 2;
    (statistic(middle) > degrees ? low : high) = middle;
  }
  return high;
}

double count_test(const Counts& a, const Counts& b, double dispersion) {
  const double degrees = degrees_of(a.events.size(), b.events.size());
  if (a.events.empty() || b.events.empty() || degrees < 1 || a.total() + b.total() <= 0) return 1;
  const LogRate before = log_rate(a, dispersion);
  const LogRate after = log_rate(b, dispersion);
  return student_p((after.mean - before.mean) / std::sqrt(before.variance + after.variance), degrees);
}

double own_variance(std::span<const double> a, std::span<const double> b) {
  const double degrees = degrees_of(a.size(), b.size());
  return degrees < 1 ? 0 : (sum_of_squares(a) + sum_of_squares(b)) / degrees;
}

double duration_test(std::span<const double> a, std::span<const double> b, double variance) {
  const double degrees = degrees_of(a.size(), b.size());
  if (a.empty() || b.empty() || degrees < 1 || variance <= 0) return 1;
  const double parts = 1 / static_cast<double>(a.size()) + 1 / static_cast<double>(b.size());
  return student_p((mean_log(b) - mean_log(a)) / std::sqrt(variance * parts), degrees);
}

double student_p(double t, double degrees) {
  return incomplete_beta(degrees / (degrees + t * t), degrees / 2, 0.5);
}

double median(std::vector<double> values) {
  if (values.empty()) return 0;
  std::sort(values.begin(), values.end());
  const std::size_t half = values.size() / 2;
  return values.size() % 2 == 1 ? values[half] : (values[half - 1] + values[half]) / 2;
}

std::vector<double> false_discovery_rates(const std::vector<double>& p) {
  std::vector<std::size_t> order(p.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::sort(order.begin(), order.end(), [&](std::size_t x, std::size_t y) { return p[x] > p[y]; });
  std::vector<double> q(p.size());
  double least = 1;
  for (std::size_t i = 0; i < order.size(); i++) {
    const auto rank = static_cast<double>(p.size() - i);
    least = std::min(least, p[order[i]] * static_cast<double>(p.size()) / rank);
    q[order[i]] = least;
  }
  return q;
}

}  // namespace uscope::analyzer
