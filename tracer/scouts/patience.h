// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// How long the tracer waits for an answer. What does not answer since it has no CPU is no reason to give anybody up: on
// a loaded machine, in an emulated one, or in one that was paused, the scout has none, or the process that it looks at,
// which may hold the lock that the scout needs. So the clock alone decides nothing:
// - time in which neither the scout nor that process runs, or waits for a CPU, counts;
// - time in which only the process does counts half, since it may run for ever and its other threads hold the lock;
// - a scout that runs has four times as long, by its own time on a CPU;
// - of the time between two looks a fifth of the patience counts, and 50 ms at most: there are five looks at least.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>

#include "support/clock.h"

namespace uscope::tracer {

// The time that has passed since it was made, as the tracer counts it.
class CountedTime {
 public:
  // The collector looks every 40 ms while it waits.
  static constexpr std::uint64_t kMostOfALookNs = 50 * kMillisecondNs;

  explicit CountedTime(std::uint64_t now_ns = monotonic_ns(), std::uint64_t most_of_a_look_ns = kMostOfALookNs)
      : most_of_a_look_ns_(most_of_a_look_ns), looked_ns_(now_ns) {}

  // A look at this time; returns what counts of the time since the last look.
  std::uint64_t step(std::uint64_t now_ns) {
    const std::uint64_t passed = std::min(now_ns - looked_ns_, most_of_a_look_ns_);
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
  std::uint64_t most_of_a_look_ns_;
  std::uint64_t looked_ns_;
  std::uint64_t total_ns_ = 0;
};

// What a look finds of those who may answer.
struct Activity {
  bool scout_runs = false;                         // or waits for a CPU; so is
  bool other_runs = false;                         // what the scout looks at
  std::optional<std::uint64_t> scout_ran_ns = {};  // for how long the scout has had a CPU, if that is known
};

// How much of a time counts that began at the look before, and in which the scout's own time on a CPU is not what
// counts.
[[nodiscard]] inline std::uint64_t counted_of(std::uint64_t passed_ns, const Activity& activity) {
  if (activity.scout_runs) return 0;
  return activity.other_runs ? passed_ns / 2 : passed_ns;
}

class Patience {
 public:
  explicit Patience(std::uint64_t most_ns, std::uint64_t now_ns = monotonic_ns())
      : most_ns_(most_ns), time_(now_ns, most_of_a_look_ns()) {}

  // An answer has come: the wait for the next one begins.
  void renew(std::uint64_t now_ns) {
    time_ = CountedTime(now_ns, most_of_a_look_ns());
    blocked_ns_ = 0;
    running_ns_ = 0;
    ran_ns_.reset();
  }
  // Looks at it anew; returns whether the wait is over.
  bool is_over(std::uint64_t now_ns, const Activity& activity) {
    const std::uint64_t passed = time_.step(now_ns);
    blocked_ns_ += counted_of(passed, activity);
    if (activity.scout_runs && activity.scout_ran_ns)
      running_ns_ += *activity.scout_ran_ns - ran_ns_.value_or(*activity.scout_ran_ns);
    else if (activity.scout_runs)
      running_ns_ += passed;
    ran_ns_ = activity.scout_ran_ns;
    return blocked_ns_ >= most_ns_ || blocked_ns_ + running_ns_ >= most_ns_ * kTimesWhileRunning;
  }

 private:
  static constexpr std::uint64_t kTimesWhileRunning = 4;
  static constexpr std::uint64_t kLeastLooks = 5;

  [[nodiscard]] std::uint64_t most_of_a_look_ns() const {
    return std::min(CountedTime::kMostOfALookNs, most_ns_ / kLeastLooks);
  }

  std::uint64_t most_ns_;
  CountedTime time_;
  std::uint64_t blocked_ns_ = 0;
  std::uint64_t running_ns_ = 0;
  std::optional<std::uint64_t> ran_ns_;
};

}  // namespace uscope::tracer
