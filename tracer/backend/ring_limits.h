// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// Bounds of the per-CPU rings, the same for both backends.
#pragma once

#include <cstdint>

namespace uscope::tracer {

// The size of one ring: `asked`, halved until all rings together stay within 256 MiB, but not below 1 MiB.
[[nodiscard]] constexpr std::uint32_t bounded_ring_bytes(std::uint32_t asked, std::uint64_t cpus) {
  constexpr std::uint64_t kMostBytes = std::uint64_t{256} << 20;
  constexpr std::uint32_t kLeastBytes = 1u << 20;
  while (asked > kLeastBytes && asked * cpus > kMostBytes) asked /= 2;
  return asked;
}

}  // namespace uscope::tracer
