// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "trace/signal_info.h"

#include <gtest/gtest.h>

#include <csignal>

namespace uscope::trace {
namespace {

SignalInfo info_of(int number, int code, std::uint64_t first, std::uint64_t second, std::uint8_t flags = 0) {
  usc_signal signal{};
  signal.number = static_cast<__u8>(number);
  signal.code = code;
  signal.info[0] = first;
  signal.info[1] = second;
  signal.flags = flags;
  return signal_info(signal);
}

constexpr std::uint64_t kSender = std::uint64_t{1000} << 32 | 77;  // uid 1000, pid 77

TEST(SignalInfo, OfAKillHasItsSender) {
  const SignalInfo info = info_of(SIGTERM, SI_USER, kSender, 5);
  EXPECT_EQ(info.pid, 77);
  EXPECT_EQ(info.uid, 1000);
  EXPECT_FALSE(info.value);
  EXPECT_FALSE(info.address);
  EXPECT_FALSE(info_of(SIGTERM, SI_TKILL, kSender, 5).value);
}

TEST(SignalInfo, OfAQueuedSignalHasItsValueToo) {
  const SignalInfo info = info_of(SIGUSR1, SI_QUEUE, kSender, 42);
  EXPECT_EQ(info.pid, 77);
  EXPECT_EQ(info.value, 42);
  EXPECT_EQ(info_of(SIGUSR1, SI_MESGQ, kSender, 43).value, 43);
}

TEST(SignalInfo, OfAFaultHasItsAddress) {
  for (const int number : {SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGTRAP}) {
    const SignalInfo info = info_of(number, 1, 0xffff'ffff'0000'0010, 9);
    EXPECT_EQ(info.address, static_cast<std::int64_t>(0xffff'ffff'0000'0010)) << number;
    EXPECT_FALSE(info.pid) << number;
  }
  EXPECT_EQ(info_of(SIGSEGV, SI_KERNEL, 0, 0).address, 0);
  EXPECT_EQ(info_of(SIGSEGV, SI_USER, kSender, 0).pid, 77);
}

TEST(SignalInfo, OfAChildHasItsStatus) {
  const SignalInfo info = info_of(SIGCHLD, CLD_EXITED, kSender, 3);
  EXPECT_EQ(info.pid, 77);
  EXPECT_EQ(info.status, 3);
}

TEST(SignalInfo, OfTimersDescriptorsAndSeccomp) {
  const SignalInfo timer = info_of(SIGALRM, SI_TIMER, std::uint64_t{2} << 32 | 1, 7);
  EXPECT_EQ(timer.timer, 1);
  EXPECT_EQ(timer.overrun, 2);
  EXPECT_EQ(timer.value, 7);
  EXPECT_FALSE(timer.pid);
  for (const int code : {static_cast<int>(POLL_IN), static_cast<int>(SI_SIGIO)}) {
    const SignalInfo poll = info_of(SIGIO, code, 0x41, 5);
    EXPECT_EQ(poll.band, 0x41);
    EXPECT_EQ(poll.fd, 5);
  }
  const SignalInfo denied = info_of(SIGSYS, 1, 0x401000, std::uint64_t{0xc000003e} << 32 | 59);
  EXPECT_EQ(denied.address, 0x401000);
  EXPECT_EQ(denied.syscall, 59);
}

TEST(SignalInfo, OfTheKernelsOwnHasNothing) {
  const SignalInfo info = info_of(SIGINT, SI_KERNEL, 0, 0);
  EXPECT_FALSE(info.pid || info.uid || info.address || info.value);
  EXPECT_FALSE(info_of(SIGPIPE, SI_USER, 0, 0, USC_SIGNAL_NO_INFO).pid);
}

TEST(SignalInfo, ASignalIsAnEventOfItsOwnSource) {
  usc_signal signal{};
  signal.head.task = 5;
  signal.head.time = 99;
  signal.number = SIGTERM;
  signal.stack = 7;
  signal.image = 3;
  const usc_event sent = event_of_signal(signal);
  EXPECT_EQ(sent.source, USC_SOURCE_SIGNAL);
  EXPECT_EQ(sent.kind, SIGTERM + USC_SIGNAL_KIND_SENT);
  EXPECT_EQ(sent.how, USC_HOW_SENT);
  EXPECT_EQ(sent.entry_ns, 99U);
  EXPECT_EQ(sent.stack, 7U);
  EXPECT_EQ(sent.image, 3U);
  EXPECT_EQ(sent.head.task, 5U);
  signal.flags = USC_SIGNAL_DELIVERED;
  EXPECT_EQ(event_of_signal(signal).kind, static_cast<unsigned>(SIGTERM));
  EXPECT_EQ(event_of_signal(signal).how, USC_HOW_DELIVERED);
}

TEST(SignalInfo, ResultsHaveNames) {
  EXPECT_EQ(signal_result_name(USC_SIGNAL_RESULT_IGNORED), "ignored");
  EXPECT_EQ(signal_result_name(USC_SIGNAL_RESULT_COUNT), "");
}

}  // namespace
}  // namespace uscope::trace
