// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// Signals in the store: events of their own source, what they come with, and their handlers.
#include <gtest/gtest.h>

#include <csignal>
#include <cstring>
#include <string>

#include "tests/support/frame_word.h"
#include "tests/unit/store/load_support.h"

namespace uscope::store {
namespace {

class SignalsTest : public LoaderTest {
 protected:
  static usc_signal sent(int number, std::uint8_t flags = 0) {
    usc_signal signal{};
    signal.number = static_cast<__u8>(number);
    signal.flags = flags;
    signal.receiver_pid = 300;
    signal.receiver_tid = 301;
    std::strcpy(signal.receiver, "server");
    if ((flags & USC_SIGNAL_BY_KERNEL) == 0) {
      signal.sender_pid = 100;
      signal.sender_tid = 101;
      std::strcpy(signal.sender, "sh\x1b");
    }
    return signal;
  }
  static usc_signal delivered(int number, std::uint64_t handler, std::uint64_t frame) {
    usc_signal signal = sent(number, USC_SIGNAL_DELIVERED | USC_SIGNAL_BY_KERNEL);
    signal.handler = handler;
    signal.handler_frame = frame;
    signal.mm = 4;
    return signal;
  }
};

TEST_F(SignalsTest, ASignalIsAnEventOfItsSender) {
  usual();
  trace_->stack(7, {test::frame_word(2, 0x1020, true)});
  usc_signal signal = sent(SIGTERM, USC_SIGNAL_TO_GROUP | USC_SIGNAL_BLOCKED);
  signal.stack = 7;
  signal.image = 1;
  signal.info[0] = std::uint64_t{1000} << 32 | 100;
  trace_->signal(1, kStart + 20, signal);
  load();
  EXPECT_EQ(rows("SELECT name, class, abi, nr FROM kind"), "SIGTERM sent|signal|none|271");
  EXPECT_EQ(rows("SELECT ts_ns - 1000000000000, dur_ns, how, thread_id, image_id, result, a0, a5 FROM event"),
            "20|-|sent|1|1|-|0|0");
  EXPECT_EQ(rows("SELECT kind, folded, \"trigger\" FROM v_event"), "SIGTERM sent|f401020!|f401020!");
  EXPECT_EQ(rows("SELECT number, code, result, blocked, sender_pid, sender_tid, receiver_pid, receiver_tid, receiver, "
                 "info_pid, info_uid, info_value, handler, handler_frame_id FROM signal"),
            "15|0|queued|1|100|101|300|-|server|100|1000|-|-|-");
  EXPECT_EQ(rows("SELECT sender FROM signal"), "sh\x1b");
  EXPECT_EQ(rows("SELECT events FROM cell"), "1");
  EXPECT_EQ(rows("SELECT events, gaps FROM thread_total"), "1|0");
  EXPECT_EQ(summary_.events, 1U);
}

TEST_F(SignalsTest, TheKernelIsNoProcessAndAThreadIsNamed) {
  usual();
  usc_signal signal = sent(SIGSEGV, USC_SIGNAL_BY_KERNEL);
  signal.code = 1;
  signal.info[0] = 0x10;
  signal.result = USC_SIGNAL_RESULT_IGNORED;
  trace_->signal(1, kStart + 20, signal);
  load();
  EXPECT_EQ(rows("SELECT result, blocked, sender_pid, sender_tid, sender, receiver_tid, info_address, info_pid "
                 "FROM signal"),
            "ignored|0|-|-|-|301|16|-");
}

TEST_F(SignalsTest, AHandlerIsAFrameThatIsInNoStack) {
  usual();
  trace_->stack(7, {test::frame_word(2, 0x1020, true)});
  trace_->signal(1, kStart + 10,
                 delivered(SIGUSR1, 0x555500, test::frame_word(2, 0x1500, 1)));  // with something inlined
  trace_->signal(1, kStart + 20, delivered(SIGUSR1, 0x7f00, test::frame_word(0, 0x7f00, 1)));
  trace_->signal(1, kStart + 30, delivered(SIGUSR1, 0x9999, 0));
  trace_->signal(1, kStart + 40, delivered(SIGUSR2, 0, 0));
  trace_->jit_name(4, 0x7f00, 0x7f00, 0x40, "jit_handler");
  load();
  EXPECT_EQ(rows("SELECT kind.name, how, handler, function, signal.result, blocked FROM signal "
                 "JOIN event ON event.id = event_id JOIN kind ON kind.id = kind_id "
                 "LEFT JOIN frame ON frame.id = handler_frame_id ORDER BY event_id"),
            "SIGUSR1 delivered|delivered|5592320|f401500!|-|-\n"
            "SIGUSR1 delivered|delivered|32512|jit_handler|-|-\n"
            "SIGUSR1 delivered|delivered|39321|-|-|-\n"
            "SIGUSR2 delivered|delivered|0|-|-|-");
  EXPECT_EQ(rows("SELECT count(*) FROM stack"), "1");
  EXPECT_EQ(rows("SELECT sum(stacks) FROM stack_end"), "1");
}

TEST_F(SignalsTest, OfOneMomentEachIsKept) {
  usual();
  for (const int number : {SIGUSR1, SIGUSR2, SIGTERM}) trace_->signal(1, kStart + 20, sent(number));
  trace_->event({.entry = kStart + 20, .nr = 62, .how = USC_HOW_OPEN});
  load();
  EXPECT_EQ(
      rows("SELECT name, number FROM event JOIN kind ON kind.id = kind_id LEFT JOIN signal ON event_id = event.id "
           "ORDER BY number"),
      "kill|-\nSIGUSR1 sent|10\nSIGUSR2 sent|12\nSIGTERM sent|15");
}

TEST_F(SignalsTest, CallsDoNotPassAsSignals) {
  usual();
  trace_->event({.entry = kStart + 1, .end = kStart + 2});
  trace_->event({.entry = kStart + 3, .end = kStart + 4, .source = USC_SOURCE_SIGNAL});
  trace_->logged(1, kStart + 5, 15, {}, 0, {}, USC_SOURCE_SIGNAL);
  load();
  EXPECT_EQ(rows("SELECT DISTINCT class FROM kind"), "syscall");
  EXPECT_EQ(rows("SELECT count(*) FROM signal"), "0");
}

}  // namespace
}  // namespace uscope::store
