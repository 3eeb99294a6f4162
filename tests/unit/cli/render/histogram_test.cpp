// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "cli/render/histogram.h"

#include <gtest/gtest.h>

#include <limits>

namespace uscope::cli {
namespace {

using Steps = std::vector<analyzer::LatencyStep>;

TEST(Bar, IsAsLongAsItsShare) {
  EXPECT_EQ(bar(0, 10, 4), "");
  EXPECT_EQ(bar(1, 1000, 4), "#");
  EXPECT_EQ(bar(5, 10, 4), "##");
  EXPECT_EQ(bar(10, 10, 4), "####");
  EXPECT_EQ(bar(1, 0, 4), "#");
}

TEST(SpreadOfDurations, HasOneScaleForAllCalls) {
  const Steps fast{{511, 1}, {1023, 10}, {4095, 1}};
  const Steps slow{{2047, 5}, {(1U << 30U) - 1, 5}};
  Spread spread;
  spread.include(fast);
  spread.include(slow);
  EXPECT_EQ(spread.scale(), "  1µs       1ms");
  EXPECT_EQ(spread.draw(fast), "▁█ ▁");
  EXPECT_EQ(spread.draw(slow), "  █                  █");
  EXPECT_EQ(spread.draw({}), "");
}

TEST(SpreadOfDurations, AlwaysShowsALabel) {
  Spread spread;
  spread.include({{(1U << 23U) - 1, 1}});
  EXPECT_EQ(spread.scale(), "1ms");
  EXPECT_EQ(spread.draw({{(1U << 23U) - 1, 1}}), "  █");
  Spread none;
  none.include({});
  EXPECT_EQ(none.scale(), "");
}

TEST(SpreadOfDurations, TakesWhatAnyDatabaseMayHold) {
  const Steps wild{
      {std::numeric_limits<std::uint64_t>::max(), std::numeric_limits<std::uint64_t>::max()}, {0, 1}, {7, 0}};
  Spread spread;
  spread.include(wild);
  EXPECT_FALSE(spread.draw(wild).empty());
  EXPECT_NE(spread.scale(), "");
}

}  // namespace
}  // namespace uscope::cli
