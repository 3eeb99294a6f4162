// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// How long the tracer waits for an answer. A machine with too few CPUs, a paused one, or an emulated one whose host is
// busy, delays those that answer and the tracer alike, and that is no reason to give anybody up. So time counts while
// nothing runs that could answer, and of the time between two looks 50 ms at most. Whoever runs all the time has four
// times as long.
#pragma once

#include <algorithm>
#include <cstdint>

#include "support/clock.h"

namespace uscope::tracer {

// The time that has passed since it was made, as the tracer counts it.
class CountedTime {
 public:
  explicit CountedTime(std::uint64_t now_ns = monotonic_ns()) : looked_ns_(now_ns) {}

  // A look at this time; returns what counts of the time since the last look.
  std::uint64_t step(std::uint64_t now_ns) {
    const std::uint64_t passed = std::min(now_ns - looked_ns_, kMostOfALookNs);
    looked_ns_ = now_ns;
    total_ns_ += passed;
    return passed;
  }
  // The same; returns all that counts.
  std::uint64_t look(std::uint64_t now_ns = monotonic_ns()) {
    step(now_ns);
    return total_ns_;
  }

 private:
  // The collector looks every 40 ms while it waits.
  static constexpr std::uint64_t kMostOfALookNs = 50 * kMillisecondNs;

  std::uint64_t looked_ns_;
  std::uint64_t total_ns_ = 0;
};

class Patience {
 public:
  explicit Patience(std::uint64_t most_ns, std::uint64_t now_ns = monotonic_ns()) : most_ns_(most_ns), time_(now_ns) {}

  // An answer has come: the wait for the next one begins.
  void renew(std::uint64_t now_ns) {
    time_ = CountedTime(now_ns);
    blocked_ns_ = 0;
  }
  // Looks at it anew, `running`: whether something that could answer runs, or waits for a CPU. Returns whether the wait
  // is over.
  bool is_over(std::uint64_t now_ns, bool running) {
    const std::uint64_t passed = time_.step(now_ns);
    if (!running) blocked_ns_ += passed;
    return blocked_ns_ >= most_ns_ || time_.look(now_ns) >= most_ns_ * kTimesWhileRunning;
  }

 private:
  // What runs for this many times as long hangs as well, on something endless.
  static constexpr std::uint64_t kTimesWhileRunning = 4;

  std::uint64_t most_ns_;
  CountedTime time_;
  std::uint64_t blocked_ns_ = 0;
};

}  // namespace uscope::tracer
