// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// The differences between the system's other clocks and CLOCK_MONOTONIC, which records have their times of.
#pragma once

#include <cstdint>
#include <ctime>

#include "support/clock.h"

namespace uscope {

// Differences of other clocks to CLOCK_MONOTONIC, which is affected neither by setting the clock nor by suspension.
struct ClockOffsets {
  std::int64_t real = 0;
  std::int64_t boot = 0;
};

[[nodiscard]] inline ClockOffsets clock_offsets() {
  const auto read = [](clockid_t clock) {
    timespec time{};
    clock_gettime(clock, &time);
    return static_cast<std::int64_t>(time.tv_sec) * kSecondNs + time.tv_nsec;
  };
  const std::int64_t monotonic = read(CLOCK_MONOTONIC);
  return {read(CLOCK_REALTIME) - monotonic, read(CLOCK_BOOTTIME) - monotonic};
}

}  // namespace uscope
