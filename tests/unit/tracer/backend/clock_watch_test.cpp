// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// Which sampling clocks are opened anew, and how many ticks are missing.
#include "tracer/backend/clock_watch.h"

#include <gtest/gtest.h>

namespace uscope::tracer {
namespace {

constexpr std::uint64_t kSecond = 1'000'000'000;
constexpr std::uint64_t kPeriod = 10'000'000;

class ClockWatchTest : public testing::Test {
 protected:
  using Gaps = std::vector<ClockWatch::Gap>;
  Gaps look(double seconds) {
    return watch_.see_ticks([this](std::uint32_t cpu) { return ticked_.at(cpu); },
                            [this] {
                              asked_++;
                              return ran_;
                            },
                            at(seconds));
  }
  static std::uint64_t at(double seconds) { return static_cast<std::uint64_t>(seconds * kSecond); }

  ClockWatch watch_{2, kPeriod};
  std::vector<std::uint64_t> ticked_{0, 0};
  std::vector<std::uint64_t> ran_{0, 0};
  int asked_ = 0;
};

TEST_F(ClockWatchTest, ACpuThatComesOnlineGetsAClockAndLacksTheTicksSinceItWasAway) {
  EXPECT_TRUE(watch_.see_online({true, true}, at(10)).empty());
  EXPECT_TRUE(watch_.see_online({true, false}, at(11)).empty());
  EXPECT_FALSE(watch_.is_online(1));
  EXPECT_TRUE(watch_.see_online({true, false}, at(15)).empty());
  const Gaps gaps = watch_.see_online({true, true}, at(15.04));
  ASSERT_EQ(gaps.size(), 1U);
  EXPECT_EQ(gaps[0].cpu, 1U);
  EXPECT_EQ(gaps[0].from_ns, at(15));
  EXPECT_EQ(gaps[0].ticks, 4U);
  EXPECT_TRUE(watch_.see_online({true, true}, at(15.08)).empty());
}

TEST_F(ClockWatchTest, SoDoesOneThatWasOfflineAtTheStart) {
  EXPECT_TRUE(watch_.see_online({true, false}, at(10)).empty());
  const Gaps gaps = watch_.see_online({true, true}, at(10.001));
  ASSERT_EQ(gaps.size(), 1U);
  EXPECT_EQ(gaps[0].ticks, 1U) << "less than a period is one tick, since none is not said to be lost";
}

TEST_F(ClockWatchTest, AClockThatTicksIsNotSilent) {
  (void)watch_.see_online({true, true}, at(10));
  for (int second = 11; second < 20; second++) {
    ticked_ = {at(second), at(second)};
    EXPECT_TRUE(look(second).empty());
  }
  EXPECT_EQ(asked_, 0);
}

TEST_F(ClockWatchTest, ASilentClockOfACpuThatRestsIsLeftAlone) {
  (void)watch_.see_online({true, true}, at(10));
  for (int second = 11; second < 20; second++) {
    ticked_[0] = at(second);
    EXPECT_TRUE(look(second).empty());
  }
  EXPECT_GT(asked_, 0);
}

TEST_F(ClockWatchTest, ASilentClockOfACpuThatRunsHasStopped) {
  (void)watch_.see_online({true, true}, at(10));
  ticked_ = {at(11), at(11)};
  EXPECT_TRUE(look(11).empty());
  ticked_[0] = at(12);
  EXPECT_TRUE(look(12).empty()) << "it is silent; whether its CPU runs is seen from here on";
  ran_[1] = at(0.5);
  ticked_[0] = at(13);
  const Gaps gaps = look(13);
  ASSERT_EQ(gaps.size(), 1U);
  EXPECT_EQ(gaps[0].cpu, 1U);
  EXPECT_EQ(gaps[0].from_ns, at(11));
  EXPECT_EQ(gaps[0].ticks, 200U);
  // Opened anew: another silence is another gap.
  ticked_ = {at(14), at(14)};
  EXPECT_TRUE(look(14).empty());
}

// Offline and back between two looks: the list of CPUs does not show it, and its clock is gone.
TEST_F(ClockWatchTest, AClockWhoseEnabledTimeStandsStillIsLost) {
  (void)watch_.see_online({true, true}, at(10));
  std::vector<std::uint64_t> enabled{at(1), at(1)};
  const auto lost = [&](double seconds) {
    return watch_.see_lost([this](std::uint32_t cpu) { return ticked_.at(cpu); },
                           [&](std::uint32_t cpu) { return std::optional(enabled.at(cpu)); }, at(seconds));
  };
  ticked_ = {at(10.01), at(10.01)};
  EXPECT_TRUE(lost(10.01).empty());
  EXPECT_TRUE(lost(10.05).empty()) << "a tick may be late";
  EXPECT_TRUE(lost(10.07).empty()) << "asked for the first time";
  enabled[0] = at(1.02);  // it rests, and is there
  const Gaps gaps = lost(10.09);
  ASSERT_EQ(gaps.size(), 1U);
  EXPECT_EQ(gaps[0].cpu, 1U);
  EXPECT_EQ(gaps[0].from_ns, at(10.01));
  EXPECT_NEAR(static_cast<double>(gaps[0].ticks), 8, 1);
  enabled = {at(1.04), at(0.001)};  // opened anew
  EXPECT_TRUE(lost(10.11).empty());
  ticked_[1] = at(10.12);
  enabled[0] = at(1.06);
  EXPECT_TRUE(lost(10.13).empty());
}

TEST_F(ClockWatchTest, AClockThatCannotBeAskedIsNotLost) {
  (void)watch_.see_online({true, false}, at(10));
  for (const double seconds : {10.1, 10.2, 10.3, 11.0})
    EXPECT_TRUE(watch_
                    .see_lost([](std::uint32_t) { return 0; },
                              [](std::uint32_t) { return std::optional<std::uint64_t>(); }, at(seconds))
                    .empty());
}

TEST_F(ClockWatchTest, ASlowClockMayBeSilentForFourPeriods) {
  ClockWatch slow(1, kSecond);
  (void)slow.see_online({true}, at(10));
  const auto never = [](std::uint32_t) { return std::uint64_t{0}; };
  std::uint64_t ran_ns = 0;
  const auto runs = [&ran_ns] { return std::vector<std::uint64_t>{ran_ns += 10 * kSecond}; };
  EXPECT_TRUE(slow.see_ticks(never, runs, at(13.9)).empty());
  EXPECT_TRUE(slow.see_ticks(never, runs, at(14.1)).empty());
  EXPECT_EQ(slow.see_ticks(never, runs, at(15.1)).size(), 1U);
}

TEST_F(ClockWatchTest, AnOfflineCpuIsNotSilent) {
  (void)watch_.see_online({true, false}, at(10));
  ran_[1] = at(5);
  for (int second = 11; second < 15; second++) {
    ticked_[0] = at(second);
    EXPECT_TRUE(look(second).empty());
  }
}

TEST(CpusOf, ReadsTheKernelsLists) {
  EXPECT_EQ(cpus_of("0-1,3\n", 5), (std::vector<bool>{true, true, false, true, false}));
  EXPECT_EQ(cpus_of("0\n", 2), (std::vector<bool>{true, false}));
  EXPECT_EQ(cpus_of("0-9", 2), (std::vector<bool>{true, true}));
  EXPECT_EQ(cpus_of("", 1), (std::vector<bool>{false}));
  EXPECT_EQ(cpus_of("what", 1), (std::vector<bool>{false}));
}

TEST(RunningTimes, AreThoseOfEachCpuWithoutIdlenessAndTheHypervisors) {
  const std::string stat =
      "cpu  9 9 9 9 9 9 9 9 0 0\n"
      "cpu0 1 2 3 100 200 4 5 300 7 8\n"
      "cpu2 10 0 0 0 0 0 0 0 0 0\n"
      "intr 1 2 3\n";
  EXPECT_EQ(running_times(stat, 3, 100), (std::vector<std::uint64_t>{150'000'000, 0, 100'000'000}));
}

}  // namespace
}  // namespace uscope::tracer
