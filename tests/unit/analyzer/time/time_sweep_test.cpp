// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "analyzer/time/time_sweep.h"

#include <gtest/gtest.h>

#include <limits>

namespace uscope::analyzer {
namespace {

constexpr std::size_t kRead = 3;
constexpr std::size_t kExit = 4;

TimeEvent call_event(std::int64_t ts, std::optional<std::int64_t> dur, std::size_t call = kRead) {
  return {.thread = 0, .use = TimeUse::kCall, .call = call, .ts_ns = ts, .dur_ns = dur, .stack = StackRowId(7)};
}

TimeEvent off_event(std::int64_t ts, std::optional<std::int64_t> dur, TimeUse use = TimeUse::kSleeping,
                    std::int64_t then = 0, std::int64_t waker = 0) {
  return {.thread = 0,
          .use = use,
          .ts_ns = ts,
          .dur_ns = dur,
          .stack = StackRowId(7),
          .waker_tid = waker,
          .waker_pid = waker,
          .part_ns = then};
}

TimeEvent sample_event(std::int64_t ts, TimeUse use = TimeUse::kUser, std::int64_t period = 10) {
  return {.thread = 0, .use = use, .ts_ns = ts, .dur_ns = {}, .stack = StackRowId(8), .part_ns = period};
}

// Of the thread while it was in a call, or in none.
TimeParts parts_in(const TimeSweep& sweep, std::size_t call) {
  const auto at = sweep.by_thread().find({0, call});
  return at == sweep.by_thread().end() ? TimeParts() : at->second;
}

TEST(TimeSweepTest, WhatBeginsWithinACallBelongsToIt) {
  TimeSweep sweep({{.begin_ns = 0, .end_ns = 1000}});
  sweep.add(sample_event(50));
  sweep.add(call_event(100, 300));
  sweep.add(sample_event(110, TimeUse::kKernel));
  sweep.add(off_event(120, 200, TimeUse::kBlocked, 30));
  sweep.add(off_event(400, 50, TimeUse::kSleeping));
  sweep.add(sample_event(460));
  sweep.finish();
  const TimeParts inside = parts_in(sweep, kRead);
  EXPECT_EQ(inside.calls, 1U);
  EXPECT_EQ(inside.call_ns, 300U);
  EXPECT_EQ(inside.call_off_ns, 200U);
  EXPECT_EQ(inside.blocked_ns, 170U);
  EXPECT_EQ(inside.for_cpu_ns, 30U);
  EXPECT_EQ(inside.call_sampled_ns, 10U);
  EXPECT_EQ(inside.kernel_ns, 10U);
  EXPECT_EQ(inside.user_ns, 0U);
  const TimeParts outside = parts_in(sweep, 0);
  EXPECT_EQ(outside.sleeping_ns, 50U);
  EXPECT_EQ(outside.call_off_ns, 0U);
  EXPECT_EQ(outside.samples, 2U);
  EXPECT_EQ(outside.user_ns, 20U);
  EXPECT_DOUBLE_EQ(outside.squares, 200);
  EXPECT_EQ(sweep.lived_ns(0), 1000U);
  EXPECT_EQ(sweep.by_stack().at({7, kRead}).call_ns, 300U);
  EXPECT_EQ(sweep.by_stack().at({8, 0}).samples, 2U);
}

TEST(TimeSweepTest, WhatBeginsWithinACallHasItsStack) {
  TimeSweep sweep({{.begin_ns = 0, .end_ns = 1000}});
  sweep.add(call_event(100, 300));
  TimeEvent off = off_event(150, 100);
  off.stack = StackRowId(70);
  sweep.add(off);
  TimeEvent bare = call_event(500, 300);
  bare.stack = StackRowId();
  sweep.add(bare);
  off.ts_ns = 550;
  sweep.add(off);
  EXPECT_EQ(sweep.by_stack().at({7, kRead}).sleeping_ns, 100U);
  EXPECT_EQ(sweep.by_stack().at({70, kRead}).sleeping_ns, 100U);
}

TEST(TimeSweepTest, AThreadThatWasFoundAsleepInACallSleepsInThatCall) {
  for (const bool call_first : {true, false}) {
    TimeSweep sweep({{.begin_ns = 0, .end_ns = 1000}});
    TimeEvent off = off_event(call_first ? 20 : 10, 400);
    TimeEvent call = call_event(call_first ? 10 : 20, 500);
    off.attached = call.attached = true;
    off.stack = StackRowId();
    sweep.add(call_first ? call : off);
    sweep.add(call_first ? off : call);
    sweep.add(sample_event(700));
    sweep.finish();
    EXPECT_EQ(sweep.lived_ns(0), 990U);
    EXPECT_EQ(parts_in(sweep, kRead).call_ns, call_first ? 500U : 510U);
    EXPECT_EQ(parts_in(sweep, kRead).call_off_ns, 400U);
    EXPECT_EQ(parts_in(sweep, kRead).calls, 1U);
    EXPECT_EQ(sweep.by_stack().at({7, kRead}).sleeping_ns, 400U);
    EXPECT_EQ(parts_in(sweep, 0).samples, 1U);
  }
}

TEST(TimeSweepTest, AThreadThatWasFoundOffTheCpuOutsideOfCallsIsInNone) {
  for (const bool any_more : {true, false}) {
    TimeSweep sweep({{.begin_ns = 0, .end_ns = 1000}});
    TimeEvent off = off_event(10, 100);
    off.attached = true;
    sweep.add(off);
    if (any_more) sweep.add(call_event(200, 100));
    sweep.finish();
    EXPECT_EQ(parts_in(sweep, 0).sleeping_ns, 100U);
    EXPECT_EQ(parts_in(sweep, kRead).sleeping_ns, 0U);
  }
}

TEST(TimeSweepTest, ACallWithoutAnEndLastsUntilTheNextOneOrTheThreadsEnd) {
  TimeSweep sweep({{.begin_ns = 0, .end_ns = 1000}});
  sweep.add(call_event(100, {}));
  sweep.add(off_event(200, 100));
  sweep.add(call_event(400, {}, kExit));
  sweep.finish();
  EXPECT_EQ(parts_in(sweep, kRead).call_ns, 300U);
  EXPECT_EQ(parts_in(sweep, kRead).call_off_ns, 100U);
  EXPECT_EQ(parts_in(sweep, kExit).call_ns, 600U);
}

TEST(TimeSweepTest, OnlyWhatLiesInTheThreadsSpanCounts) {
  TimeSweep sweep({{.begin_ns = 100, .end_ns = 500}});
  sweep.add(off_event(0, 150));
  sweep.add(sample_event(50));
  sweep.add(call_event(200, 900));
  sweep.add(off_event(450, {}));
  sweep.add(sample_event(501));
  sweep.finish();
  EXPECT_EQ(parts_in(sweep, 0).sleeping_ns, 50U);
  EXPECT_EQ(parts_in(sweep, 0).samples, 0U);
  EXPECT_EQ(parts_in(sweep, kRead).call_ns, 300U);
  EXPECT_EQ(parts_in(sweep, kRead).sleeping_ns, 50U);
  EXPECT_EQ(parts_in(sweep, kRead).samples, 0U);
  EXPECT_EQ(sweep.lived_ns(0), 400U);
}

TEST(TimeSweepTest, AThreadWhoseBeginIsNotKnownBeginsWithItsFirstEvent) {
  TimeSweep sweep({{.begin_ns = {}, .end_ns = 500}});
  EXPECT_EQ(sweep.lived_ns(0), 0U);
  sweep.add(off_event(100, 10));
  EXPECT_EQ(sweep.lived_ns(0), 400U);
}

TEST(TimeSweepTest, ANewThreadWaitsForItsFirstCpu) {
  for (const bool is_new : {true, false}) {
    TimeSweep sweep({{.begin_ns = 100, .end_ns = 1000, .is_new = is_new}});
    sweep.add(sample_event(400));
    sweep.add(call_event(600, 10));
    sweep.finish();
    EXPECT_EQ(parts_in(sweep, 0).for_cpu_ns, is_new ? 290U : 0U);
    EXPECT_EQ(sweep.lived_ns(0), 900U);
  }
}

TEST(TimeSweepTest, WhoWasPreemptedWaitedForACpuAndForNobody) {
  TimeSweep sweep({{.begin_ns = 0, .end_ns = 1000}});
  sweep.add(off_event(100, 50, TimeUse::kPreempted, 0, 9));
  EXPECT_EQ(parts_in(sweep, 0).for_cpu_ns, 50U);
  EXPECT_EQ(parts_in(sweep, 0).waiting_ns(), 0U);
  EXPECT_TRUE(sweep.by_waker().empty());
}

TEST(TimeSweepTest, WaitsAreToldApartByWhoEndedThem) {
  TimeSweep sweep({{.begin_ns = 0, .end_ns = 1000}});
  sweep.add(off_event(100, 50, TimeUse::kSleeping, 20, 9));
  sweep.add(off_event(200, 60, TimeUse::kSleeping, 0, 9));
  sweep.add(off_event(300, 10, TimeUse::kSleeping, 0, 0));
  sweep.add(off_event(900, {}, TimeUse::kSleeping, 0, 0));
  const auto wait = [&](std::int64_t waker) {
    return sweep.by_waker().at({StackRowId(7), 0, TimeUse::kSleeping, waker, waker > 0 ? waker : 0});
  };
  EXPECT_EQ(wait(9).times, 2U);
  EXPECT_EQ(wait(9).waited_ns, 90U);
  EXPECT_EQ(wait(9).for_cpu_ns, 20U);
  EXPECT_EQ(wait(9).longest_ns, 60U);
  EXPECT_EQ(wait(0).waited_ns, 10U);
  EXPECT_EQ(wait(TimeSweep::kNobody).waited_ns, 100U);
}

TEST(TimeSweepTest, TooManyWakersAreOthers) {
  TimeSweep sweep({{.begin_ns = 0, .end_ns = 10'000}}, 2);
  for (int i = 1; i <= 5; i++) sweep.add(off_event(i * 100, 10, TimeUse::kSleeping, 0, i));
  sweep.add(off_event(1000, 10, TimeUse::kSleeping, 0, 1));
  EXPECT_EQ(sweep.by_waker().size(), 3U);
  EXPECT_EQ(sweep.by_waker().at({StackRowId(7), 0, TimeUse::kSleeping, TimeSweep::kSomebody, 0}).times, 3U);
  EXPECT_EQ(sweep.by_waker().at({StackRowId(7), 0, TimeUse::kSleeping, 1, 1}).times, 2U);
}

TEST(TimeSweepTest, AnyNumbersDoNoHarm) {
  constexpr auto kLeast = std::numeric_limits<std::int64_t>::min();
  constexpr auto kMost = std::numeric_limits<std::int64_t>::max();
  TimeSweep sweep({{.begin_ns = kLeast, .end_ns = kMost}});
  for (const std::int64_t ts : {kLeast, std::int64_t{-1}, kMost}) {
    for (const std::int64_t dur : {kLeast, kMost}) {
      sweep.add(call_event(ts, dur));
      sweep.add(off_event(ts, dur, TimeUse::kSleeping, dur, dur));
      sweep.add(sample_event(ts, TimeUse::kKernel, dur));
    }
  }
  sweep.finish();
  EXPECT_EQ(sweep.lived_ns(0), std::numeric_limits<std::uint64_t>::max());
}

}  // namespace
}  // namespace uscope::analyzer
