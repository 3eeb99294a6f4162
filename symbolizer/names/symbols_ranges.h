// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// Overlapping address ranges, flattened once so that every address has at most one owner.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

namespace uscope::symbolizer {

// The half-open range [low, high) with the owner's number and its claim: if ranges overlap, the greatest claim owns the
// address; of equal claims, the smaller owner number.
struct ClaimedRange {
  std::uint64_t low = 0;
  std::uint64_t high = 0;
  std::uint64_t claim = 0;
  std::uint32_t owner = 0;
};

class RangeMap {
 public:
  RangeMap() = default;

  // Ranges with low >= high are ignored. Takes O(n log n) time for any overlaps; keeps at most 2n segments.
  explicit RangeMap(std::vector<ClaimedRange> ranges);

  [[nodiscard]] std::optional<std::uint32_t> owner(std::uint64_t address) const;
  [[nodiscard]] bool empty() const { return segments_.empty(); }

  // Bytes of memory held.
  [[nodiscard]] std::size_t footprint() const { return segments_.capacity() * sizeof(Segment); }

  // Calls visit(owner) for each segment and stores the result as the segment's owner: used to renumber owners after
  // those without a segment have been dropped.
  template <typename Visit>
  void renumber(Visit visit) {
    for (Segment& segment : segments_)
      if (segment.owner != kNobody) segment.owner = visit(segment.owner);
  }

 private:
  static constexpr std::uint32_t kNobody = 0xffffffff;

  // Extends from `start` to the next segment's start.
  struct Segment {
    std::uint64_t start;
    std::uint32_t owner;
  };

  std::vector<Segment> segments_;
};

}  // namespace uscope::symbolizer
