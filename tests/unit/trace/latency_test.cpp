// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "trace/latency.h"

#include <gtest/gtest.h>

namespace uscope::trace {
namespace {

TEST(LatencySketch, EmptyHasNothing) {
  const LatencySketch sketch;
  EXPECT_EQ(sketch.count(), 0U);
  EXPECT_EQ(sketch.percentile(50), 0U);
}

TEST(LatencySketch, FewValuesAreExactByNearestRank) {
  LatencySketch sketch;
  for (std::uint64_t value = 100; value >= 1; value--) sketch.add(value * 10);
  EXPECT_EQ(sketch.count(), 100U);
  EXPECT_EQ(sketch.total(), 50500U);
  EXPECT_EQ(sketch.max(), 1000U);
  EXPECT_EQ(sketch.percentile(50), 500U);
  EXPECT_EQ(sketch.percentile(95), 950U);
  EXPECT_EQ(sketch.percentile(99), 990U);
  EXPECT_EQ(sketch.percentile(0), 10U);
  EXPECT_EQ(sketch.percentile(100), 1000U);
}

TEST(LatencySketch, ManyValuesAreNeverBelowAndWithinOneSixtyFourth) {
  LatencySketch sketch;
  constexpr std::uint64_t kValues = 100000;
  for (std::uint64_t i = 1; i <= kValues; i++) sketch.add(i * 37);
  for (const double percent : {1.0, 50.0, 95.0, 99.0, 99.9}) {
    const auto exact = static_cast<std::uint64_t>(percent * kValues / 100) * 37;
    EXPECT_GE(sketch.percentile(percent), exact) << percent;
    EXPECT_LE(sketch.percentile(percent), exact + exact / 64 + 1) << percent;
  }
  EXPECT_EQ(sketch.percentile(100), kValues * 37);
  EXPECT_EQ(sketch.total(), 37 * kValues * (kValues + 1) / 2);
}

TEST(LatencySketch, TwoAreAddedAsIfTheyWereOne) {
  for (const std::uint64_t values : {100, 5000}) {
    LatencySketch whole;
    LatencySketch odd;
    LatencySketch even;
    for (std::uint64_t i = 1; i <= values; i++) {
      whole.add(i * 37);
      (i % 2 != 0 ? odd : even).add(i * 37);
    }
    odd.add(even);
    LatencySketch first;
    first.add(whole);
    for (const LatencySketch& sum : {odd, first}) {
      EXPECT_EQ(sum.count(), whole.count());
      EXPECT_EQ(sum.total(), whole.total());
      EXPECT_EQ(sum.max(), whole.max());
      for (const double percent : {1.0, 50.0, 99.0}) EXPECT_EQ(sum.percentile(percent), whole.percentile(percent));
    }
  }
}

TEST(LatencySketch, HoldsTheSmallestAndTheLargestNumbers) {
  LatencySketch sketch;
  for (std::size_t i = 0; i < LatencySketch::kExactValues; i++) sketch.add(0);
  sketch.add(~std::uint64_t{0});
  EXPECT_EQ(sketch.percentile(50), 0U);
  EXPECT_EQ(sketch.percentile(100), ~std::uint64_t{0});
}

}  // namespace
}  // namespace uscope::trace
