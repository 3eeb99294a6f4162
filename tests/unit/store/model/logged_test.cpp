// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// What other modules logged: events of their own kinds, with stacks from the kernel to main().
#include <gtest/gtest.h>

#include <cstddef>
#include <fstream>
#include <string>

#include "store/model/logged_stacks.h"
#include "tests/support/frame_word.h"
#include "tests/unit/store/load_support.h"

namespace uscope::store {
namespace {

class LoggedTest : public LoaderTest {
 protected:
  // Two frames, of libc and of the application.
  void with_stack() {
    usual();
    trace_->stack(7, {test::frame_word(3, 0x1010, true), test::frame_word(2, 0x1020, false)});
    trace_->place(1, "vmlinux+0x123 vfs_read+0x23");
    trace_->place(2, "ext4+0x40 ext4_file_read_iter+0x10 [ext4]");
  }
};

TEST_F(LoggedTest, AnEventWithValuesAndOneStackFromTheKernelToTheProgram) {
  with_stack();
  trace_->event({.entry = kStart + 10, .end = kStart + 30, .stack = 7});
  trace_->logged(1, kStart + 20, 5, {11, 12}, 7, {2, 1});
  load();
  EXPECT_EQ(rows("SELECT name, class, abi, nr FROM kind ORDER BY id"),
            "getpid|syscall|x86_64|39\nlogged_5|stap|none|5");
  EXPECT_EQ(rows("SELECT ts_ns - 1000000000000, dur_ns, how, result, a0, a1, a2, image_id, thread_id FROM event"),
            "10|20|returned|0|0|0|0|1|1\n20|-|logged|-|11|12|0|1|1");
  EXPECT_EQ(rows("SELECT kind, class, depth, ended, \"trigger\", folded FROM v_event"),
            "getpid|syscall|2|root|f401020|f401020;f401010!\n"
            "logged_5|stap|2|root|f401020|f401020;f401010!;vfs_read_[k];ext4_file_read_iter_[k]");
  EXPECT_EQ(rows("SELECT position, space, function, function_offset, rel_pc, module.path, class FROM stack_frame "
                 "JOIN frame ON frame.id = frame_id JOIN module ON module.id = module_id "
                 "JOIN event USING (stack_id) WHERE how = 'logged' ORDER BY position"),
            "0|kernel|ext4_file_read_iter|16|64|[ext4]|kernel\n"
            "1|kernel|vfs_read|35|291|[vmlinux]|kernel\n"
            "2|user|f401010!|4|4198416|/usr/lib/libc.so.6|library\n"
            "3|user|f401020|4|4198432|/opt/bin/app|app");
  EXPECT_EQ(rows("SELECT count(*) FROM loss WHERE cause <> 'cut_off'"), "0");
}

TEST_F(LoggedTest, KindsHaveTheNamesThatTheyWereGiven) {
  with_stack();
  trace_->logged(1, kStart + 20, USC_KIND_NAMED + 1, {}, 7, {});
  trace_->log_kind(USC_KIND_NAMED + 1, "vfs\xff");
  trace_->logged(1, kStart + 30, USC_KIND_NAMED + 2, {}, 7, {});
  load();
  EXPECT_EQ(rows("SELECT kind, stack_id FROM v_event"), "vfs\\xff|1\nlogged_2147483650|1");
}

TEST_F(LoggedTest, StacksAreOneWhereBothPartsAreAlike) {
  with_stack();
  trace_->stack(
      8, {test::frame_word(3, 0x1010, true), test::frame_word(2, 0x1020, false)});  // the same, of another processor
  trace_->place(3, "vmlinux+0x123 vfs_read+0x23");                                  // the same, told twice
  trace_->logged(1, kStart + 20, 5, {}, 7, {1});
  trace_->logged(1, kStart + 30, 5, {}, 8, {1});
  trace_->logged(1, kStart + 40, 5, {}, 7, {3});
  trace_->logged(1, kStart + 50, 5, {}, 7, {});
  load();
  EXPECT_EQ(rows("SELECT count(*), count(DISTINCT stack_id) FROM event"), "4|3");
  EXPECT_EQ(rows("SELECT count(*) FROM frame WHERE function = 'vfs_read'"), "1");
  EXPECT_EQ(rows("SELECT folded FROM v_event WHERE id = 4"), "f401020;f401010!");
  EXPECT_EQ(rows("SELECT events FROM cell"), "4");
}

TEST_F(LoggedTest, WithoutAUserStackThereAreKernelFramesAlone) {
  with_stack();
  trace_->logged(1, kStart + 20, 5, {}, 0, {1, 9});
  load();
  EXPECT_EQ(rows("SELECT depth, ended, \"trigger\", folded FROM v_event"), "0|kernel|-|[unknown]_[k];vfs_read_[k]");
  EXPECT_EQ(rows("SELECT count(*) FROM loss WHERE cause <> 'cut_off'"), "0");
}

TEST_F(LoggedTest, AUserStackThatIsNotDefinedIsLoss) {
  with_stack();
  trace_->logged(1, kStart + 20, 5, {}, 99, {1});
  trace_->logged(1, kStart + 30, 5, {}, 99, {});
  load();
  EXPECT_EQ(rows("SELECT sum(count) FROM loss WHERE cause = 'stack_undefined'"), "2");
}

TEST_F(LoggedTest, CallsOfADamagedTraceDoNotPassAsLogged) {
  with_stack();
  trace_->event({.entry = kStart + 1, .end = kStart + 2, .source = USC_SOURCE_LOGGED});
  // A reader goes on at two sound records in a row.
  for (const std::uint64_t at : {10, 20})
    trace_->event({.entry = kStart + at, .end = kStart + 30, .stack = 7, .abi = 255});
  trace_->event({.entry = kStart + 40, .end = kStart + 50, .how = USC_HOW_LOGGED});
  load();
  EXPECT_EQ(rows("SELECT how, folded FROM v_event"), "returned|f401020;f401010!\nreturned|f401020;f401010!");
  EXPECT_EQ(rows("SELECT class, abi FROM kind"), "syscall|abi_255");
  EXPECT_EQ(rows("SELECT sum(count) FROM loss WHERE cause = 'raw_damaged'"), "2");
}

TEST_F(LoggedTest, ACallThatWasSeenOpenInTheMomentOfALoggedEventStaysOpen) {
  with_stack();
  trace_->event({.entry = kStart + 20, .nr = 202, .stack = 7, .how = USC_HOW_OPEN});
  trace_->logged(1, kStart + 20, 202, {}, 7, {1});
  trace_->string(1, kStart + 20, 0, "of the call");
  load();
  EXPECT_EQ(rows("SELECT kind, how, value FROM v_event LEFT JOIN event_string ON event_id = v_event.id "
                 "LEFT JOIN string ON string.id = string_id ORDER BY how"),
            "logged_202|logged|-\nfutex|open|of the call");
}

TEST_F(LoggedTest, EventsOfAnUnknownSourceAreCountedAndLeftOut) {
  with_stack();
  trace_->event({.entry = kStart + 10, .end = kStart + 30});
  trace_->event({.entry = kStart + 40, .end = kStart + 50, .source = USC_SOURCE_COUNT});
  load();
  EXPECT_EQ(rows("SELECT kind FROM v_event"), "getpid");
  EXPECT_EQ(rows("SELECT value FROM meta WHERE key = 'raw_unknown_records'"), "1");
}

TEST(KernelPlace, IsReadFromWhatTheModuleSays) {
  const auto core = parse_kernel_place("vmlinux+0x1f0 do_syscall_64+0x5b");
  ASSERT_TRUE(core);
  EXPECT_EQ(core->module, "vmlinux");
  EXPECT_EQ(core->offset, 0x1f0U);
  EXPECT_EQ(core->function, "do_syscall_64");
  EXPECT_EQ(core->function_offset, 0x5bU);
  const auto made = parse_kernel_place("? bpf_prog_1234+0x10 [bpf]");
  ASSERT_TRUE(made);
  EXPECT_EQ(made->module, "");
  EXPECT_EQ(made->function, "bpf_prog_1234");
  for (const char* text : {"", "vmlinux", "vmlinux f+0x1", "vmlinux+0xzz f+0x1", "vmlinux+0x1 ", "+0x"})
    EXPECT_FALSE(parse_kernel_place(text)) << text;
  EXPECT_EQ(parse_kernel_place("a+0x1 f")->function_offset, std::nullopt);
}

}  // namespace
}  // namespace uscope::store
