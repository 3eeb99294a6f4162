// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// How long to wait for a process of uscope's own that never waits for another process. As long as it gets on, it is
// waited for, however slow the machine: it runs, or waits for a CPU, or has done so since the last look. Else something
// keeps it from running: somebody stopped it, a debugger holds it, its control group is frozen. Of the time between two
// looks 50 ms count at most, as in patience.h.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "support/clock.h"
#include "tracer/process/thread_state.h"
#include "tracer/scouts/patience.h"

namespace uscope::tracer {

class Standstill {
 public:
  // `in_kernel_ns`: for how long it may stay at one place in the kernel, where it may wait for all CPUs (RCU), or is
  // frozen.
  explicit Standstill(std::uint64_t now_ns = monotonic_ns(), std::uint64_t in_kernel_ns = 60 * kSecondNs)
      : time_(now_ns), in_kernel_ns_(in_kernel_ns) {}

  // Looks at it anew: returns whether it has stood still for too long. A process that has ended never does.
  bool is_over(std::uint64_t now_ns, const std::optional<ThreadState>& process) {
    const std::uint64_t passed = time_.step(now_ns);
    if (!process) return false;
    const bool gets_on = process->state == 'R' || process->switches != switches_;
    still_ns_ = gets_on ? 0 : still_ns_ + passed;
    switches_ = process->switches;
    state_ = process->state;
    return still_ns_ >= most_ns(state_);
  }

  // In the words of a message; to be asked after is_over().
  [[nodiscard]] std::string_view why() const {
    if (state_ == 'T') return "is stopped";
    if (state_ == 't') return "is held by a debugger";
    return "does not answer";
  }

 private:
  [[nodiscard]] std::uint64_t most_ns(char state) const {
    constexpr std::uint64_t kStoppedNs = kSecondNs;  // only somebody else can let it run on
    constexpr std::uint64_t kAsleepNs = 5 * kSecondNs;
    if (state == 'T' || state == 't') return kStoppedNs;
    return state == 'D' ? in_kernel_ns_ : kAsleepNs;
  }

  CountedTime time_;
  std::uint64_t in_kernel_ns_;
  std::uint64_t still_ns_ = 0;
  std::uint64_t switches_ = 0;
  char state_ = '?';
};

}  // namespace uscope::tracer
