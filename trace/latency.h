// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// Percentiles of call durations in bounded memory.
//
// Up to kExactValues durations are kept as they are, and percentiles are exact. Beyond, they are counted in buckets of
// equal relative width: each power of two is cut into 64, so a percentile is at most 1/64 (1.6 %) above the true value
// and never below it. Count, total and maximum are always exact.
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace uscope::trace {

class LatencySketch {
 public:
  static constexpr std::size_t kExactValues = 4096;

  void add(std::uint64_t nanoseconds);
  void add(const LatencySketch& other);

  // Calls `use(up_to, count)` by rising value: so many durations above the value before, up to this one. Percentiles of
  // these are those of the sketch; the last value is the maximum.
  template <typename Use>
  void each(const Use& use) const {
    for (const auto& [up_to, count] : steps()) use(up_to, count);
  }

  [[nodiscard]] std::uint64_t count() const { return count_; }
  [[nodiscard]] std::uint64_t total() const { return total_; }
  [[nodiscard]] std::uint64_t max() const { return max_; }

  // The smallest value that at least `percent` of all values do not exceed (nearest rank); 0 where there are none.
  [[nodiscard]] std::uint64_t percentile(double percent) const;

 private:
  void spill();
  [[nodiscard]] std::vector<std::pair<std::uint64_t, std::uint64_t>> steps() const;

  std::uint64_t count_ = 0;
  std::uint64_t total_ = 0;
  std::uint64_t max_ = 0;
  mutable std::vector<std::uint64_t> values_;  // while exact; sorted by percentile()
  std::vector<std::uint64_t> buckets_;         // empty while exact
};

// The rank of a percentile among `count` values, from 1: the nearest rank.
[[nodiscard]] std::uint64_t percentile_rank(double percent, std::uint64_t count);

}  // namespace uscope::trace
