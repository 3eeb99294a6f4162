// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "tracer/waits/timers.h"

#include <gtest/gtest.h>
#include <sys/time.h>

#include <csignal>
#include <sstream>

namespace uscope::tracer {
namespace {

bool signals(const std::string& timers) {
  std::istringstream in(timers);
  return has_signal_timer(in);
}

RealTimers list(const std::string& text) {
  std::istringstream in(text);
  return real_timers_in(in);
}

TEST(Timers, OfTimerCreate) {
  EXPECT_FALSE(signals(""));
  EXPECT_FALSE(signals("ID: 0\nsignal: 0/0000000000000000\nnotify: none/pid.41\nClockID: 1\n"));
  EXPECT_TRUE(signals("ID: 0\nsignal: 14/0000000000000000\nnotify: signal/pid.41\nClockID: 1\n"));
  EXPECT_TRUE(signals("ID: 0\nsignal: 32/00005581dca0a2b0\nnotify: signal/tid.42\nClockID: 1\n"));
}

TEST(Timers, OfTheMachine) {
  EXPECT_EQ(list(""), RealTimers::kUnknown);
  EXPECT_EQ(list(" #0: <0000000051>, 0xffffffff8112, S:01\n"), RealTimers::kUnknown);
  EXPECT_EQ(list(" #0: <0000000051>, tick_sched_timer, S:01\n"), RealTimers::kNone);
  EXPECT_EQ(list(" #0: <0000000051>, hrtimer_wakeup, S:01\n"), RealTimers::kNone);
  EXPECT_EQ(list(" #0: <0000000051>, hrtimer_wakeup, S:01\n #1: <00000052>, it_real_fn, S:01\n"), RealTimers::kSome);
  EXPECT_EQ(list(std::string(std::size_t{2} << 20, ' ') + "\nhrtimer_wakeup\n"), RealTimers::kUnknown);
}

TEST(Timers, SignalsThatTheyMaySend) {
  const auto bit = [](int signal) { return std::uint64_t{1} << (signal - 1); };
  EXPECT_EQ(signals_of_timers(RealTimers::kSome, false), bit(SIGALRM) | bit(SIGVTALRM) | bit(SIGPROF));
  EXPECT_EQ(signals_of_timers(RealTimers::kUnknown, true), bit(SIGALRM));
  EXPECT_EQ(signals_of_timers(RealTimers::kNone, false), bit(SIGVTALRM) | bit(SIGPROF));
  EXPECT_EQ(signals_of_timers(RealTimers::kNone, true), 0U);
}

// The kernel's own list, where it shows one: a timer of this process is in it, by the name that is looked for.
TEST(Timers, TheKernelsListHasAnArmedOne) {
  const itimerval hour{{0, 0}, {3600, 0}};
  const itimerval none{};
  ASSERT_EQ(setitimer(ITIMER_REAL, &hour, nullptr), 0);
  const RealTimers armed = real_timers();
  ASSERT_EQ(setitimer(ITIMER_REAL, &none, nullptr), 0);
  EXPECT_NE(armed, RealTimers::kNone);
}

}  // namespace
}  // namespace uscope::tracer
