// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "tracer/scouts/standstill.h"

#include <gtest/gtest.h>

#include <functional>

namespace uscope::tracer {
namespace {

constexpr std::uint64_t kStepNs = 10 * kMillisecondNs;

// After how long it is over, looked at every 10 ms; 0: not within 1000 s.
std::uint64_t given_up_after(const std::function<ThreadState(std::uint64_t past)>& process) {
  Standstill standstill(0);
  for (std::uint64_t now = kStepNs; now <= 1'000 * kSecondNs; now += kStepNs)
    if (standstill.is_over(now, process(now))) return now;
  return 0;
}

TEST(Standstill, AStoppedProcessIsNotWaitedForLong) {
  // The first look only sees how often it has run so far.
  EXPECT_EQ(given_up_after([](auto) { return ThreadState{'T', 7}; }), kSecondNs + kStepNs);
  EXPECT_EQ(given_up_after([](auto) { return ThreadState{'t', 7}; }), kSecondNs + kStepNs);
  EXPECT_EQ(given_up_after([](auto) { return ThreadState{'S', 7}; }), 5 * kSecondNs + kStepNs);
}

TEST(Standstill, WhatGetsOnIsWaitedFor) {
  EXPECT_EQ(given_up_after([](auto) { return ThreadState{'R', 7}; }), 0U);
  // Each of many places takes the kernel some time (D), in an emulated machine ten seconds.
  EXPECT_EQ(given_up_after([](std::uint64_t past) { return ThreadState{'D', past / (10 * kSecondNs)}; }), 0U);
  // Stopped and continued again and again.
  EXPECT_EQ(given_up_after([](std::uint64_t past) { return ThreadState{'T', past / (kSecondNs / 2)}; }), 0U);
  EXPECT_GT(given_up_after([](auto) { return ThreadState{'D', 7}; }), 30 * kSecondNs);
}

TEST(Standstill, OfAPauseOfTheMachineLittleCounts) {
  Standstill standstill(0);
  EXPECT_FALSE(standstill.is_over(kStepNs, ThreadState{'T', 7}));
  EXPECT_FALSE(standstill.is_over(3'600 * kSecondNs, ThreadState{'T', 7}));
}

TEST(Standstill, ItSaysWhy) {
  for (const auto& [state, why] :
       {std::pair('T', "is stopped"), {'t', "is held by a debugger"}, {'S', "does not answer"}}) {
    Standstill standstill(0);
    (void)standstill.is_over(kStepNs, ThreadState{state, 7});
    EXPECT_EQ(standstill.why(), why);
  }
}

}  // namespace
}  // namespace uscope::tracer
