// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// How long the collector has lately waited: the time of each wait, less a tenth of the time that has passed since.
#pragma once

#include <algorithm>
#include <cstdint>

#include "support/clock.h"

namespace uscope::tracer {

class WaitingDebt {
 public:
  void add(std::uint64_t waited_ns) {
    owed_ns_ = left_ns() + static_cast<double>(waited_ns);
    at_ns_ = monotonic_ns();
  }
  [[nodiscard]] double left_ms() const { return left_ns() / kNsInMs; }

 private:
  static constexpr double kForgottenPart = 0.1;
  static constexpr double kNsInMs = 1'000'000;

  [[nodiscard]] double left_ns() const {
    return std::max(0.0, owed_ns_ - static_cast<double>(monotonic_ns() - at_ns_) * kForgottenPart);
  }

  double owed_ns_ = 0;
  std::uint64_t at_ns_ = 0;
};

}  // namespace uscope::tracer
