// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "tracer/backend/free_ranges.h"

#include <gtest/gtest.h>

#include <map>
#include <random>

namespace uscope::tracer {
namespace {

TEST(FreeRanges, GivesTheFirstStretchThatIsLongEnough) {
  FreeRanges ranges(10);
  EXPECT_EQ(ranges.take(4), 0U);
  EXPECT_EQ(ranges.take(4), 4U);
  EXPECT_EQ(ranges.take(4), std::nullopt);
  EXPECT_EQ(ranges.take(0), 0U);
  EXPECT_EQ(ranges.take(2), 8U);
  EXPECT_EQ(ranges.take(1), std::nullopt);
  ranges.give_back(4, 4);
  EXPECT_EQ(ranges.take(3), 4U);
}

TEST(FreeRanges, NeighboursBecomeOne) {
  FreeRanges ranges(12);
  for (int i = 0; i < 3; i++) ASSERT_TRUE(ranges.take(4));
  ranges.give_back(0, 4);
  ranges.give_back(8, 4);
  EXPECT_EQ(ranges.take(5), std::nullopt);
  ranges.give_back(4, 4);
  EXPECT_EQ(ranges.take(12), 0U);
}

TEST(FreeRanges, NoTwoStretchesOverlapAndNothingGetsLost) {
  constexpr std::uint32_t kCount = 1000;
  std::mt19937 random(7);
  FreeRanges ranges(kCount);
  std::map<std::uint32_t, std::uint32_t> taken;
  for (int i = 0; i < 20'000; i++) {
    const std::uint32_t count = 1 + random() % 90;
    if (const auto start = random() % 2 == 0 ? ranges.take(count) : std::nullopt) {
      const auto next = taken.lower_bound(*start);
      if (next != taken.end()) {
        ASSERT_LE(*start + count, next->first);
      }
      if (next != taken.begin()) {
        const auto before = std::prev(next);
        ASSERT_LE(before->first + before->second, *start);
      }
      ASSERT_LE(*start + count, kCount);
      taken[*start] = count;
    } else if (!taken.empty()) {
      const auto any = std::next(taken.begin(), static_cast<std::ptrdiff_t>(random() % taken.size()));
      ranges.give_back(any->first, any->second);
      taken.erase(any);
    }
  }
  for (const auto& [start, count] : taken) ranges.give_back(start, count);
  EXPECT_EQ(ranges.take(kCount), 0U);
}

}  // namespace
}  // namespace uscope::tracer
