// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// How long the calls of one cell took, in little memory: each power of two is cut into four, so a step's end is at most
// a quarter above the durations in it. A cell's steps, not all durations, are what two runs are compared by.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace uscope::store {

class CellLatency {
 public:
  void add(std::uint64_t nanoseconds) {
    const std::size_t step = step_of(nanoseconds);
    if (counts_.empty()) first_ = step;
    if (step < first_) {
      counts_.insert(counts_.begin(), first_ - step, 0);
      first_ = step;
    }
    if (step - first_ >= counts_.size()) counts_.resize(step - first_ + 1);
    counts_[step - first_]++;
  }

  // Calls `use(up_to, count)` by rising duration for the steps that have any.
  template <typename Use>
  void each(const Use& use) const {
    for (std::size_t i = 0; i < counts_.size(); i++)
      if (counts_[i] != 0) use(step_top(first_ + i), counts_[i]);
  }

  // Below 4, a step for each value; above, the two bits behind the leading one choose the step of their octave.
  [[nodiscard]] static std::size_t step_of(std::uint64_t value) {
    if (value < 4) return value;
    const unsigned shift = static_cast<unsigned>(std::bit_width(value)) - 3;
    return (std::size_t{shift} + 1) * 4 + ((value >> shift) - 4);
  }

  // The longest duration that falls into a step.
  [[nodiscard]] static std::uint64_t step_top(std::size_t step) {
    if (step < 4) return step;
    const auto shift = static_cast<unsigned>(step / 4) - 1;
    return ((std::uint64_t{4} + step % 4) << shift) + ((std::uint64_t{1} << shift) - 1);
  }

 private:
  std::size_t first_ = 0;              // step of counts_[0]
  std::vector<std::uint64_t> counts_;  // from the shortest step met to the longest
};

}  // namespace uscope::store
