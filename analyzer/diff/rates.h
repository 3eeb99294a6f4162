// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// The events of one cell on both sides, run by run, as rates.
#pragma once

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>
#include <vector>

#include "analyzer/diff/shift_test.h"

namespace uscope::analyzer {

struct Rates {
  Counts before;
  Counts after;

  // The ratio of the two sides' rates.
  [[nodiscard]] double ratio() const {
    return std::max(after.total(), kHalfEvent) * sum(before.exposure) /
           (sum(after.exposure) * std::max(before.total(), kHalfEvent));
  }

  // The ratio between the nearest two runs of the two sides; 1 if the sides overlap.
  [[nodiscard]] double nearest_ratio() const {
    const auto [low_before, high_before] = range(before);
    const auto [low_after, high_after] = range(after);
    if (low_after > high_before) return high_before > 0 ? low_after / high_before : ratio();
    if (high_after < low_before) return high_after > 0 ? high_after / low_before : ratio();
    return 1;
  }

  // How many more or fewer events there are afterwards than the rate before predicts.
  [[nodiscard]] double excess() const { return std::abs(after.total() - before.rate() * sum(after.exposure)); }

  // The distance of the ratio's logarithm from 0, in standard deviations.
  [[nodiscard]] double deviations(double dispersion) const {
    double variance = 0;
    for (const Counts* side : {&before, &after})
      variance += 1 / std::max(side->total(), kHalfEvent) + dispersion / static_cast<double>(side->events.size());
    return std::abs(std::log(ratio())) / std::sqrt(variance);
  }

  // Drops runs without exposure, which carry no information. Returns false if a side has no run left.
  bool drop_unexposed() {
    for (Counts* side : {&before, &after}) {
      Counts kept;
      for (std::size_t i = 0; i < side->events.size(); i++) {
        if (side->exposure[i] <= 0) continue;
        kept.events.push_back(side->events[i]);
        kept.exposure.push_back(side->exposure[i]);
      }
      *side = std::move(kept);
    }
    return !before.events.empty() && !after.events.empty();
  }

 private:
  static double sum(const std::vector<double>& values) { return std::accumulate(values.begin(), values.end(), 0.0); }

  static std::pair<double, double> range(const Counts& side) {
    double low = side.events[0] / side.exposure[0];
    double high = low;
    for (std::size_t i = 1; i < side.events.size(); i++) {
      const double rate = side.events[i] / side.exposure[i];
      low = std::min(low, rate);
      high = std::max(high, rate);
    }
    return {low, high};
  }
};

}  // namespace uscope::analyzer
