// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// Clocks, in nanoseconds.
#pragma once

#include <cstdint>
#include <ctime>

namespace uscope {

inline constexpr std::int64_t kSecondNs = 1'000'000'000;
inline constexpr std::uint64_t kMillisecondNs = 1'000'000;

// CLOCK_MONOTONIC: the clock of every record's time.
[[nodiscard]] inline std::uint64_t monotonic_ns() {
  timespec now{};
  clock_gettime(CLOCK_MONOTONIC, &now);
  return static_cast<std::uint64_t>(now.tv_sec) * 1'000'000'000u + static_cast<std::uint64_t>(now.tv_nsec);
}

}  // namespace uscope
