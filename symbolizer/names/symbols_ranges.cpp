// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// One sweep over the sorted range starts with a heap of the live ranges: at each start, and at the end of the heap's
// top, the owner may change, and if it does a segment is written. Ranges that have ended are popped when they reach the
// top, so each is pushed and popped once. A hostile file with a million symbols of the whole address space costs a
// million heap operations and nothing more.
#include "symbolizer/names/symbols_ranges.h"

#include <algorithm>
#include <queue>

namespace uscope::symbolizer {
namespace {

struct LesserClaim {
  bool operator()(const ClaimedRange& a, const ClaimedRange& b) const {
    return a.claim != b.claim ? a.claim < b.claim : a.owner > b.owner;
  }
};

}  // namespace

RangeMap::RangeMap(std::vector<ClaimedRange> ranges) {
  std::erase_if(ranges, [](const ClaimedRange& range) { return range.low >= range.high; });
  std::sort(ranges.begin(), ranges.end(), [](const auto& a, const auto& b) { return a.low < b.low; });
  std::priority_queue<ClaimedRange, std::vector<ClaimedRange>, LesserClaim> alive;
  const auto emit = [&](std::uint64_t start, std::uint32_t owner) {
    if (!segments_.empty() && segments_.back().start == start) segments_.pop_back();
    const std::uint32_t before = segments_.empty() ? kNobody : segments_.back().owner;
    if (before != owner) segments_.push_back({start, owner});
  };
  // Changes the owner at the end of each range on top, up to the address `until`.
  const auto retire = [&](std::uint64_t until) {
    while (!alive.empty() && alive.top().high <= until) {
      const std::uint64_t end = alive.top().high;
      while (!alive.empty() && alive.top().high <= end) alive.pop();
      emit(end, alive.empty() ? kNobody : alive.top().owner);
    }
  };
  for (const ClaimedRange& range : ranges) {
    retire(range.low);
    alive.push(range);
    emit(range.low, alive.top().owner);
  }
  retire(UINT64_MAX);
  segments_.shrink_to_fit();
}

std::optional<std::uint32_t> RangeMap::owner(std::uint64_t address) const {
  const auto after =
      std::upper_bound(segments_.begin(), segments_.end(), address,
                       [](std::uint64_t value, const Segment& segment) { return value < segment.start; });
  if (after == segments_.begin()) return std::nullopt;
  const std::uint32_t owner = std::prev(after)->owner;
  if (owner == kNobody) return std::nullopt;
  return owner;
}

}  // namespace uscope::symbolizer
