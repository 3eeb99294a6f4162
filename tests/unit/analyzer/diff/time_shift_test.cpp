// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "analyzer/diff/time_shift.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <utility>

namespace uscope::analyzer {
namespace {

constexpr double kMs = 1e6;

TimePlace times_inside(const char* kind) {
  return {.call = {kind, "work", "server"}, .next = {}};
}

TimePlace between(const char* one, const char* next) {
  return {.outside = true, .call = {one, "work", "server"}, .next = {next, "work", "server"}};
}

RunTime timed_run(double length_ms, const std::vector<std::pair<TimePlace, double>>& places) {
  RunTime time{.length_ns = length_ms * kMs, .places = {}};
  for (const auto& [place, ms] : places) time.places[place] = {.ns = ms * kMs, .times = 7};
  return time;
}

// A run that asks a peer `poll` ms long, and whose parent waits for it.
RunTime asking(double poll, double noise) {
  return timed_run(100 + poll + noise, {{times_inside("poll"), poll + noise},
                                        {times_inside("wait4"), 90 + poll + noise},
                                        {between("read", "write"), 60 - noise}});
}

std::vector<RunTime> three(double poll) {
  return {asking(poll, -2), asking(poll, 0), asking(poll, 3)};
}

TEST(TimeShift, RunsAlikeHaveNoNotableChange) {
  EXPECT_FALSE(compare_time(three(10), three(10)).notable);
  EXPECT_FALSE(compare_time({asking(10, 0)}, {asking(10, 3)}).notable);
  EXPECT_TRUE(compare_time(three(10), three(10)).places.empty());
}

TEST(TimeShift, TheCauseComesBeforeWhatWaitsForIt) {
  const TimeChanges found = compare_time(three(10), three(900));
  EXPECT_TRUE(found.notable);
  EXPECT_NEAR(found.length.change(), 890 * kMs, kMs);
  EXPECT_NEAR(found.inside.change(), 1780 * kMs, kMs);
  ASSERT_EQ(found.places.size(), 2U);
  EXPECT_EQ(found.places[0].place.call.kind, "poll");
  EXPECT_EQ(found.places[1].place.call.kind, "wait4");
  ASSERT_TRUE(found.places[0].time.q);
  EXPECT_LT(*found.places[0].time.q, 0.01);
  EXPECT_NEAR(found.places[0].time.normal.least, 8 * kMs, 1);
  EXPECT_NEAR(found.places[0].time.abnormal.most, 903 * kMs, 1);
  EXPECT_DOUBLE_EQ(found.places[0].time.normal.times, 7);
}

TEST(TimeShift, TimeOutsideOfCallsCounts) {
  const auto computing = [](double ms) {
    return timed_run(ms + 20,
                     {{between("brk", "write"), ms}, {between("read", "close"), 4}, {times_inside("read"), 16}});
  };
  const TimeChanges found = compare_time({computing(3400)}, {computing(11300)});
  EXPECT_TRUE(found.notable);
  ASSERT_EQ(found.places.size(), 1U);
  EXPECT_TRUE(found.places[0].place.outside);
  EXPECT_EQ(found.places[0].place.next.kind, "write");
  EXPECT_FALSE(found.places[0].time.q);
  EXPECT_NEAR(found.outside.change(), 7900 * kMs, 1);
  EXPECT_NEAR(found.inside.change(), 0, 1);
}

// A server that is traced for the same time may compute more in it.
TEST(TimeShift, RunsOfOneLengthMayDiffer) {
  const auto serving = [](double ms) {
    return timed_run(10'000, {{times_inside("epoll_wait"), 10'000 - ms}, {between("read", "write"), ms}});
  };
  EXPECT_TRUE(compare_time({serving(200)}, {serving(6000)}).notable);
  EXPECT_FALSE(compare_time({serving(200)}, {serving(400)}).notable);
}

TEST(TimeShift, WhatLiesWithinTheRangeOfRunsIsNoChange) {
  const std::vector<RunTime> scattered{asking(10, 0), asking(400, 0), asking(1500, 0)};
  EXPECT_FALSE(compare_time(scattered, {asking(900, 0)}).notable);
  EXPECT_FALSE(compare_time(scattered, three(1000)).notable);
}

// A busy machine delays short runs by tens of milliseconds.
TEST(TimeShift, WithoutATestShortRunsMustDifferByMore) {
  const auto computing = [](double ms) { return timed_run(ms, {{between("brk", "write"), ms}}); };
  EXPECT_FALSE(compare_time({computing(60)}, {computing(126)}).notable);
  EXPECT_TRUE(compare_time({computing(60)}, {computing(160)}).notable);
  EXPECT_FALSE(compare_time({computing(3400)}, {computing(4400)}).notable);
  EXPECT_TRUE(compare_time({computing(3400)}, {computing(5400)}).notable);
}

TEST(TimeShift, ThreadsThatWaitDoNotHideWork) {
  const auto saving = [](double ms) {
    return timed_run(1000 + ms, {{times_inside("fsync"), ms}, {times_inside("epoll_wait"), 50 * (1000 + ms)}});
  };
  const TimeChanges found = compare_time({saving(100)}, {saving(1100)});
  EXPECT_TRUE(std::any_of(found.places.begin(), found.places.end(),
                          [](const PlaceShift& shift) { return shift.place.call.kind == "fsync"; }));
}

// The same time, told of other neighbours.
TEST(TimeShift, GapsThatCancelAreLeftOut) {
  const auto run = [](double fsync, double after_fsync, double after_write) {
    return timed_run(100 + fsync, {{times_inside("fsync"), fsync},
                                   {between("fsync", "write"), after_fsync},
                                   {between("write", "write"), after_write}});
  };
  TimeChanges found = compare_time({run(10, 1, 80)}, {run(200, 41.5, 40.4)});
  ASSERT_EQ(found.places.size(), 1U);
  EXPECT_EQ(found.places[0].place.call.kind, "fsync");
  // One that is taken apart by a call within it.
  const auto split = [](double whole, double first, double second) {
    return timed_run(500 + whole, {{times_inside("poll"), 400 + whole},
                                   {between("read", "write"), whole},
                                   {between("read", "close"), first},
                                   {between("close", "write"), second}});
  };
  found = compare_time({split(300, 0, 0)}, {split(0, 180, 119)});
  for (const PlaceShift& shift : found.places) EXPECT_FALSE(shift.place.outside) << shift.place.call.kind;
  // What is gained beside that stays, and so does what other calls lie around.
  found = compare_time({run(10, 1, 80)}, {run(200, 241.5, 40.4)});
  EXPECT_EQ(found.places.size(), 3U);
  found = compare_time({timed_run(900, {{between("a", "b"), 400}, {times_inside("poll"), 100}})},
                       {timed_run(100, {{between("c", "d"), 400}, {times_inside("poll"), 10}})});
  EXPECT_EQ(found.places.size(), 3U);
}

TEST(TimeShift, PlacesOfLittleTimeAreLeftOut) {
  const TimeChanges found = compare_time({timed_run(100, {{times_inside("poll"), 50}, {times_inside("read"), 1}})},
                                         {timed_run(900, {{times_inside("poll"), 850}, {times_inside("read"), 20}})});
  ASSERT_EQ(found.places.size(), 1U);
  EXPECT_EQ(found.places[0].place.call.kind, "poll");
}

}  // namespace
}  // namespace uscope::analyzer
