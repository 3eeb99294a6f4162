// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "tracer/recorder/signal_rule.h"

#include <gtest/gtest.h>

namespace uscope::tracer {
namespace {

constexpr bool kKernel = true;
constexpr bool kTraced = true;

TEST(SignalRule, WhatTracedProcessesSendIsForTheirGroup) {
  for (int number = 1; number <= 64; number++)
    EXPECT_EQ(effect_of({number, !kKernel, kTraced}, true), SignalEffect::kNone) << number;
  EXPECT_EQ(effect_of({SIGUSR1, !kKernel, kTraced}, false), SignalEffect::kNone);
  for (const int number : kEndSignals)  // `kill` in the traced shell
    EXPECT_EQ(effect_of({number, !kKernel, kTraced}, false), SignalEffect::kEnd) << number;
}

TEST(SignalRule, WhatOthersSendIsForTheCommand) {
  for (const int number : {SIGUSR1, SIGUSR2, SIGWINCH, SIGPIPE, SIGSEGV, SIGXCPU, SIGALRM, 32, 64}) {
    EXPECT_EQ(effect_of({number}, true), SignalEffect::kPassOn) << number;
    EXPECT_EQ(effect_of({number}, false), SignalEffect::kEnd) << number;
  }
  for (const int number : kEndSignals) {
    EXPECT_EQ(effect_of({number}, true), SignalEffect::kPassOnAndAsk) << number;
    EXPECT_EQ(effect_of({number}, false), SignalEffect::kEnd) << number;
  }
  for (const int number : {SIGCHLD, SIGCONT}) EXPECT_EQ(effect_of({number}, true), SignalEffect::kNone) << number;
}

TEST(SignalRule, TheTerminalHasSignalledTheCommandToo) {
  for (const int number : {SIGINT, SIGQUIT, SIGHUP}) {
    EXPECT_EQ(effect_of({number, kKernel}, true), SignalEffect::kAskToEnd) << number;
    EXPECT_EQ(effect_of({number, kKernel}, false), SignalEffect::kEnd) << number;
  }
  for (const int number : {SIGWINCH, SIGIO, SIGURG, SIGPIPE, SIGXFSZ, 40})
    for (const bool launched : {true, false})
      EXPECT_EQ(effect_of({number, kKernel}, launched), SignalEffect::kNone) << number;
}

TEST(SignalRule, TimersAreForTheCommandAndLimitsForUscope) {
  for (const int number : {SIGALRM, SIGVTALRM, SIGPROF}) {
    EXPECT_EQ(effect_of({number, kKernel}, true), SignalEffect::kPassOn) << number;
    EXPECT_EQ(effect_of({number, kKernel}, false), SignalEffect::kEnd) << number;
  }
  EXPECT_EQ(effect_of({SIGXCPU, kKernel}, true), SignalEffect::kEnd);
}

}  // namespace
}  // namespace uscope::tracer
