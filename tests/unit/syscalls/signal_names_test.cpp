// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "syscalls/signal_names.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <csignal>
#include <string>
#include <vector>

#include "uscope/record.h"

namespace uscope::syscalls {
namespace {

TEST(SignalNames, OfKinds) {
  EXPECT_EQ(signal_kind_name(SIGTERM), "SIGTERM delivered");
  EXPECT_EQ(signal_kind_name(SIGTERM + USC_SIGNAL_KIND_SENT), "SIGTERM sent");
  EXPECT_EQ(signal_kind_name(34), "SIGRT_2 delivered");
  EXPECT_EQ(signal_kind_name(200), "signal_200 delivered");
}

TEST(SignalNames, ANameMeansBothKinds) {
  EXPECT_EQ(kinds_of_signal("SIGIO"), (std::vector<std::string>{"SIGIO sent", "SIGIO delivered"}));
  EXPECT_EQ(kinds_of_signal("SIGRT_32").size(), 2U);
  for (const char* name : {"", "SIG", "sigterm", "TERM", "SIGTERM sent", "kill"})
    EXPECT_TRUE(kinds_of_signal(name).empty()) << name;
}

TEST(SignalNames, OneWordMeansAllSignals) {
  const std::vector<std::string> all = kinds_of_signal(kAllSignals);
  EXPECT_EQ(all.size(), 128U);
  for (const char* kind : {"SIGHUP sent", "SIGTERM delivered", "SIGRT_32 delivered"})
    EXPECT_EQ(std::count(all.begin(), all.end(), kind), 1) << kind;
  for (const char* set : {"signal", "read,signal", "signal,!read"}) EXPECT_TRUE(asks_for_signals(set)) << set;
  for (const char* set : {"", "all", "%signal", "signalfd", "!signal", "!read,signal", "read,!signal"})
    EXPECT_FALSE(asks_for_signals(set)) << set;
}

TEST(SignalNames, CodesDependOnTheSignal) {
  EXPECT_EQ(signal_code_name(SIGSEGV, 1), "SEGV_MAPERR");
  EXPECT_EQ(signal_code_name(SIGCHLD, 1), "CLD_EXITED");
  EXPECT_EQ(signal_code_name(SIGSYS, 1), "SYS_SECCOMP");
  EXPECT_EQ(signal_code_name(SIGTERM, 1), "1");
  for (const int number : {SIGTERM, SIGSEGV, 40}) {
    EXPECT_EQ(signal_code_name(number, SI_USER), "SI_USER");
    EXPECT_EQ(signal_code_name(number, SI_KERNEL), "SI_KERNEL");
    EXPECT_EQ(signal_code_name(number, SI_QUEUE), "SI_QUEUE");
  }
  EXPECT_EQ(signal_code_name(SIGTERM, -77), "-77");
}

}  // namespace
}  // namespace uscope::syscalls
