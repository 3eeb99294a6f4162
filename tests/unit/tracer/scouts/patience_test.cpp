// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "tracer/scouts/patience.h"

#include <gtest/gtest.h>

#include "support/clock.h"

namespace uscope::tracer {
namespace {

constexpr std::uint64_t kFirstLookNs = 1'000'000 * kMillisecondNs;
constexpr std::uint64_t kMostBlockedNs = 250 * kMillisecondNs;

// The time from `begin` at which a wait is over that is looked at every `step`.
std::uint64_t end_of(Patience& patience, std::uint64_t begin, std::uint64_t step, bool (*runs_then)(std::uint64_t)) {
  std::uint64_t now = begin;
  while (!patience.is_over(now, {.scout_runs = runs_then(now - begin)})) now += step;
  return now - begin;
}

TEST(Patience, WhatIsBlockedIsGivenUp) {
  Patience patience(kMostBlockedNs, kFirstLookNs);
  EXPECT_EQ(end_of(patience, kFirstLookNs, 10 * kMillisecondNs, [](std::uint64_t) { return false; }), kMostBlockedNs);
}

TEST(Patience, WhatRunsHasFourTimesAsLong) {
  Patience patience(kMostBlockedNs, kFirstLookNs);
  EXPECT_EQ(end_of(patience, kFirstLookNs, 10 * kMillisecondNs, [](std::uint64_t) { return true; }),
            4 * kMostBlockedNs);
}

TEST(Patience, OnlyTimeInWhichNothingRunsCounts) {
  Patience patience(kMostBlockedNs, kFirstLookNs);
  // Every other look finds it running: 25 looks of 10 ms find it blocked.
  EXPECT_EQ(end_of(patience, kFirstLookNs, 10 * kMillisecondNs,
                   [](std::uint64_t past) { return past / (10 * kMillisecondNs) % 2 == 0; }),
            490 * kMillisecondNs);
}

TEST(Patience, OfALongTimeWithoutALookLittleCounts) {
  Patience patience(kMostBlockedNs, kFirstLookNs);
  EXPECT_FALSE(patience.is_over(kFirstLookNs + 900 * kMillisecondNs, {}));
  EXPECT_EQ(end_of(patience, kFirstLookNs + 900 * kMillisecondNs, 10 * kMillisecondNs,
                   [](std::uint64_t past) { return past > 90 * kMillisecondNs; }),
            950 * kMillisecondNs);
}

TEST(Patience, OfEachPauseOfTheMachineLittleCounts) {
  Patience patience(kMostBlockedNs, kFirstLookNs);
  std::uint64_t now = kFirstLookNs;
  for (int i = 0; i < 19; i++) EXPECT_FALSE(patience.is_over(now += 3'000 * kMillisecondNs, {.scout_runs = true})) << i;
  EXPECT_TRUE(patience.is_over(now + 3'000 * kMillisecondNs, {.scout_runs = true}));
}

// The scout waits for a lock, whose holder waits for a CPU; or whose holder waits, and another thread runs for ever.
TEST(Patience, TimeInWhichTheProcessItselfRunsCountsHalf) {
  Patience patience(kMostBlockedNs, kFirstLookNs);
  std::uint64_t now = kFirstLookNs;
  for (int i = 0; i < 49; i++) EXPECT_FALSE(patience.is_over(now += 10 * kMillisecondNs, {.other_runs = true})) << i;
  EXPECT_TRUE(patience.is_over(now + 10 * kMillisecondNs, {.other_runs = true}));
}

// On a machine that gives it a hundredth of a CPU.
TEST(Patience, AScoutThatRunsIsMeasuredByItsOwnTime) {
  Patience patience(kMostBlockedNs, kFirstLookNs);
  std::uint64_t now = kFirstLookNs;
  std::uint64_t ran = 77 * kMillisecondNs;
  int looks = 0;
  for (; looks < 20'000; looks++)
    if (patience.is_over(now += 10 * kMillisecondNs, {.scout_runs = true, .scout_ran_ns = ran += kMillisecondNs / 10}))
      break;
  EXPECT_EQ(looks, 10'000);  // the first of them begins to count
}

TEST(Patience, AShortOneTakesSeveralLooksToo) {
  Patience patience(30 * kMillisecondNs, kFirstLookNs);
  std::uint64_t now = kFirstLookNs;
  for (int i = 0; i < 4; i++) EXPECT_FALSE(patience.is_over(now += kSecondNs, {})) << i;
  EXPECT_TRUE(patience.is_over(now + kSecondNs, {}));
}

TEST(Patience, AnAnswerBeginsItAnew) {
  Patience patience(kMostBlockedNs, kFirstLookNs);
  std::uint64_t now = kFirstLookNs;
  for (int i = 0; i < 100; i++) {
    for (int look = 0; look < 4; look++) EXPECT_FALSE(patience.is_over(now += 50 * kMillisecondNs, {}));
    patience.renew(now);
  }
  EXPECT_EQ(end_of(patience, now, 10 * kMillisecondNs, [](std::uint64_t) { return false; }), kMostBlockedNs);
}

}  // namespace
}  // namespace uscope::tracer
