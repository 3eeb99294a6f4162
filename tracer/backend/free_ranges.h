// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// Which stretches of an array are free. What lies in the array is never moved.
#pragma once

#include <cstdint>
#include <map>
#include <optional>

namespace uscope::tracer {

class FreeRanges {
 public:
  explicit FreeRanges(std::uint32_t count = 0) { give_back(0, count); }

  // The first stretch of `count` places: its start. Nothing if no free stretch is that long.
  std::optional<std::uint32_t> take(std::uint32_t count);
  // A stretch that was taken as a whole.
  void give_back(std::uint32_t start, std::uint32_t count);

 private:
  std::map<std::uint32_t, std::uint32_t> free_;  // start → count; no two of them touch
};

}  // namespace uscope::tracer
