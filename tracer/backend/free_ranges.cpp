// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "tracer/backend/free_ranges.h"

#include <algorithm>
#include <iterator>

namespace uscope::tracer {

std::optional<std::uint32_t> FreeRanges::take(std::uint32_t count) {
  if (count == 0) return 0;
  const auto at = std::find_if(free_.begin(), free_.end(), [&](const auto& range) { return range.second >= count; });
  if (at == free_.end()) return std::nullopt;
  const auto [start, size] = *at;
  free_.erase(at);
  if (size > count) free_[start + count] = size - count;
  return start;
}

void FreeRanges::give_back(std::uint32_t start, std::uint32_t count) {
  if (count == 0) return;
  auto next = free_.lower_bound(start);
  if (next != free_.end() && next->first == start + count) {
    count += next->second;
    next = free_.erase(next);
  }
  if (next != free_.begin()) {
    const auto before = std::prev(next);
    if (before->first + before->second == start) {
      before->second += count;
      return;
    }
  }
  free_[start] = count;
}

}  // namespace uscope::tracer
