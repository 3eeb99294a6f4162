// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "store/loader.h"

#include <gtest/gtest.h>

#include <cstring>
#include <fstream>
#include <string>
#include <vector>

#include "tests/support/frame_word.h"
#include "tests/unit/store/load_support.h"
#include "trace/loss_class.h"

namespace uscope::store {
namespace {

std::uint64_t frame(std::uint32_t file, std::uint64_t offset, bool exact = false) {
  return test::frame_word(file, offset, exact);
}

TEST_F(LoaderTest, EveryHowKeepsItsMeaning) {
  usual();
  trace_->event({.entry = kStart + 10, .end = kStart + 15, .result = -2, .nr = 257});
  trace_->event({.entry = kStart + 20, .end = kStart + 20, .result = 5, .nr = 231, .how = USC_HOW_NORETURN});
  trace_->event({.entry = kStart + 30, .end = kStart + 39, .result = 5, .nr = 0, .how = USC_HOW_KILLED});
  trace_->event({.entry = kStart + 40, .end = kStart + 99, .nr = 0, .how = USC_HOW_OPEN});
  trace_->event({.entry = kStart + 50, .end = kStart + 99, .nr = 0, .how = USC_HOW_ATTACHED});
  trace_->event({.entry = kStart + 60, .end = kStart + 60, .result = -1, .nr = 1, .how = USC_HOW_NO_ENTRY});
  trace_->event({.entry = kStart + 70, .end = kStart + 71, .result = 9, .nr = 15, .flags = USC_EVENT_NO_RESULT});
  trace_->event({.entry = kStart + 80, .end = kStart + 81, .result = -512, .nr = 0});
  trace_->totals();
  load();
  EXPECT_EQ(rows("SELECT ts_ns - 1000000000000, dur_ns, how, result, errno FROM v_event ORDER BY id"),
            "10|5|returned|-2|ENOENT\n"
            "20|-|noreturn|-|-\n"
            "30|-|killed|-|-\n"
            "40|-|open|-|-\n"
            "50|-|attached|-|-\n"
            "60|-|no_entry|-1|EPERM\n"
            "70|1|returned|-|-\n"
            "80|1|returned|-512|ERESTARTSYS");
  EXPECT_EQ(rows("SELECT sum(events), sum(errors), sum(total_ns), sum(open) FROM cell"), "8|2|7|2");
  EXPECT_EQ(rows("SELECT a0, a5 FROM event WHERE id = 1"), "0|-1");
  EXPECT_EQ(summary_.lost, 0U);
  EXPECT_TRUE(summary_.complete);
}

// What comes before is uscope's: it forks the command long before it lets it go.
TEST_F(LoaderTest, ALaunchedCommandBeginsWithItsFirstExec) {
  begin();
  trace_->task({.flags = USC_TASK_PROCESS | USC_TASK_LAUNCHED, .time = kStart + 30});
  trace_->exec(1, 1, 1, 2, "/opt/bin/app", std::string("app\0", 4), kStart + 40);
  trace_->task({.task = 2, .process = 2, .parent_task = 1, .pid = 101, .tid = 101, .time = kStart + 50});
  trace_->totals();
  load();
  EXPECT_EQ(rows("SELECT pid, start_ns - 1000000000000 FROM process ORDER BY id"), "100|30\n101|45");
  EXPECT_EQ(rows("SELECT tid, start_ns - 1000000000000 FROM thread ORDER BY id"), "100|30\n101|45");
}

// Before it there was uscope itself, which is not traced.
TEST_F(LoaderTest, TheExecThatStartsTheCommandIsTheCommands) {
  begin();
  trace_->task({.flags = USC_TASK_PROCESS | USC_TASK_LAUNCHED, .time = kStart + 30});
  trace_->event({.entry = kStart + 30, .end = kStart + 60, .nr = 59, .image = 0});
  trace_->exec(1, 1, 1, 4, "/bin/first", "", kStart + 50);
  trace_->event({.entry = kStart + 70, .end = kStart + 90, .nr = 59, .image = 1});
  trace_->exec(1, 1, 2, 4, "/bin/second", "", kStart + 80);
  trace_->totals();
  load();
  EXPECT_EQ(rows("SELECT process FROM v_event ORDER BY id"), "first\nfirst");
}

TEST_F(LoaderTest, AReturnReplacesTheOpenRecordInEitherOrder) {
  usual();
  trace_->event({.entry = kStart + 10, .end = kStart + 2'000'000'000, .how = USC_HOW_OPEN});
  trace_->event({.entry = kStart + 5'000'000'000, .end = kStart + 5'000'000'001});
  trace_->event({.entry = kStart + 10, .end = kStart + 4'000'000'010, .result = 3});
  trace_->event({.entry = kStart + 20, .end = kStart + 3'000'000'020, .result = 4});
  trace_->event({.entry = kStart + 20, .end = kStart + 2'000'000'000, .how = USC_HOW_OPEN});
  trace_->event({.entry = kStart + 30, .end = kStart + 40, .how = USC_HOW_ATTACHED});
  trace_->event({.entry = kStart + 30, .end = kStart + 90, .result = 6});
  load();
  EXPECT_EQ(rows("SELECT id, ts_ns - 1000000000000, dur_ns, how, result FROM event ORDER BY id"),
            "1|10|4000000000|returned|3\n"
            "2|20|3000000000|returned|4\n"
            "3|30|60|attached|6\n"
            "4|5000000000|1|returned|0");
  EXPECT_EQ(rows("SELECT sum(open) FROM cell"), "0");
  EXPECT_EQ(rows("SELECT value FROM meta WHERE key = 'ordered'"), "1");
}

TEST_F(LoaderTest, DefinitionsMayComeAfterTheirUse) {
  begin();
  trace_->event({.entry = kStart + 10, .stack = 7});
  trace_->stack(7, {frame(3, 0x1010, true), frame(2, 0x1020)});
  trace_->file(3, "/usr/lib/libc.so.6");
  trace_->file(2, "/opt/bin/app");
  trace_->exec(1, 1, 1, 2, "/opt/bin/app", std::string("app\0", 4));
  trace_->task({});
  trace_->totals();
  load();
  EXPECT_EQ(rows("SELECT pid, tid, process, thread, \"trigger\", trigger_module, depth, ended, folded FROM v_event"),
            "100|100|app|app|f401020|/opt/bin/app|2|root|f401020;f401010!");
  EXPECT_EQ(rows("SELECT count(*) FROM loss"), "0");
}

TEST_F(LoaderTest, ForkExecLineageAndLifetimes) {
  usual();
  trace_->task({.task = 2, .process = 2, .parent_task = 1, .pid = 200, .tid = 200, .image = 1, .time = kStart + 100});
  trace_->event({.task = 2, .entry = kStart + 110, .image = 0});
  trace_->exec(2, 2, 2, 4, "./tools/child.sh", std::string("child.sh\0", 9), kStart + 120, 5000);
  trace_->event({.task = 2, .entry = kStart + 130, .image = 2});
  trace_->task({.task = 3, .process = 2, .parent_task = 2, .pid = 200, .tid = 201, .flags = 0, .time = kStart + 140});
  trace_->name(3, "worker", kStart + 150);
  trace_->exit(2, 2, 3 << 8, kStart + 200);
  trace_->exit(1, 1, 0x80 | 11, kStart + 300);
  trace_->io_uring(2);
  load();
  EXPECT_EQ(rows("SELECT id, pid, ns_pid, parent_id, start_ns - 1000000000000, end_ns - 1000000000000, exit_code, "
                 "exit_signal, uses_io_uring FROM process ORDER BY id"),
            "1|100|10|-|-5|300|-|11|0\n"
            "2|200|110|1|95|200|3|-|1");
  EXPECT_EQ(rows("SELECT process_id, path, argv FROM image ORDER BY id"),
            "1|/opt/bin/app|[\"app\",\"-x\"]\n"
            "2|./tools/child.sh|[\"child.sh\",null]");
  EXPECT_EQ(rows("SELECT id, process_id, tid, ns_tid, name FROM thread ORDER BY id"),
            "1|1|100|10|app\n2|2|200|110|child.sh\n3|2|201|111|worker");
  EXPECT_EQ(rows("SELECT pid, process, thread FROM v_event ORDER BY id"), "200|app|app\n200|child.sh|child.sh");
}

// As redis-server is a link to redis-check-rdb, and runc executes itself.
TEST_F(LoaderTest, AnImageHasTheNamesThatItsProcessGoesBy) {
  usual();
  trace_->file(9, "/usr/bin/python3.11");
  trace_->task({.task = 2, .process = 2, .parent_task = 1, .pid = 200, .tid = 200, .image = 1, .time = kStart + 100});
  trace_->exec(2, 2, 2, 9, "/usr/bin/python3", std::string("python3\0-u\0/srv/serve.py\0", 24), kStart + 120);
  trace_->exec(2, 2, 3, 9, "/proc/self/exe", std::string("/usr/bin/py init\0", 17), kStart + 130);
  trace_->event({.task = 2, .entry = kStart + 140, .image = 3});
  load();
  EXPECT_EQ(rows("SELECT id, name FROM image ORDER BY id"), "1|app\n2|python3\n3|py");
  for (const char* name : {"python3", "python3.11", "serve.py"})
    EXPECT_EQ(
        rows(std::string("SELECT count(*) FROM image, json_each(names) WHERE image.id = 2 AND value = '") + name + "'"),
        "1")
        << name;
  EXPECT_EQ(rows("SELECT process FROM v_event"), "py");
}

// The last one that is told of, in whatever order the records come.
TEST_F(LoaderTest, AProcessHasTheAddressSpaceOfItsLastProgram) {
  begin();
  trace_->exec(1, 1, 7, 2, "/opt/bin/app", std::string("app\0", 4), kStart + 100);
  trace_->task({.task = 1, .process = 1, .time = kStart + 10});
  trace_->task({.task = 2, .process = 2, .parent_task = 1, .pid = 200, .tid = 200, .time = kStart + 20});
  trace_->totals();
  load();
  EXPECT_EQ(rows("SELECT id, space FROM process ORDER BY id"), "1|7\n2|-");
}

TEST_F(LoaderTest, AProcessGotItsMemoryByExecForkOrClone) {
  begin();
  trace_->exec(2, 2, 7, 2, "/opt/bin/app", std::string("app\0", 4), kStart + 100);  // after a fork
  for (std::uint32_t i = 1; i <= 4; i++) {
    const std::uint32_t by = i == 2 || i == 3 ? USC_TASK_OWN_TID : i == 4 ? USC_TASK_EXECUTED : 0;
    trace_->task({.task = i, .process = i, .pid = 100 + i, .tid = 100 + i, .flags = USC_TASK_PROCESS | by});
  }
  trace_->task({.task = 5, .process = 5, .pid = 105, .tid = 106, .flags = 0});  // its first thread was lost
  load();
  EXPECT_EQ(rows("SELECT id, origin FROM process ORDER BY id"), "1|clone\n2|exec\n3|fork\n4|exec\n5|-");
}

TEST_F(LoaderTest, WhetherThereIsARingMayNotBeKnown) {
  begin();
  for (std::uint32_t i = 1; i <= 3; i++) trace_->task({.task = i, .process = i, .pid = 100 + i, .tid = 100 + i});
  trace_->io_uring(1, false);
  trace_->io_uring(2);
  trace_->io_uring(2, false);
  load();
  EXPECT_EQ(rows("SELECT id, uses_io_uring FROM process ORDER BY id"), "1|-\n2|1\n3|0");
}

// Of processes that ran before: the child's record may come before its parent's, and pids are given out again.
TEST_F(LoaderTest, AParentIsFoundByItsPid) {
  begin();
  trace_->task({.task = 1, .process = 1, .pid = 300, .tid = 300, .time = kStart + 100, .parent_pid = 200});
  trace_->task({.task = 2, .process = 2, .pid = 200, .tid = 200, .time = kStart + 50, .parent_pid = 7});
  trace_->task({.task = 3, .process = 3, .pid = 200, .tid = 200, .time = kStart + 10});
  trace_->exit(3, 3, 0, kStart + 20);
  trace_->task({.task = 4, .process = 4, .pid = 200, .tid = 200, .time = kStart + 200});
  trace_->task(
      {.task = 5, .process = 5, .parent_task = 4, .pid = 301, .tid = 301, .time = kStart + 300, .parent_pid = 300});
  trace_->task({.task = 6, .process = 6, .pid = 7, .tid = 7, .time = kStart + 400, .parent_pid = 7});
  load();
  EXPECT_EQ(rows("SELECT id, parent_id FROM process ORDER BY id"), "1|2\n2|-\n3|-\n4|-\n5|4\n6|-");
}

TEST_F(LoaderTest, AnExecByAnotherThreadKeepsItsEventAtTheThreadItEnteredUnder) {
  usual();
  trace_->task({.task = 2, .process = 1, .parent_task = 1, .pid = 100, .tid = 101, .flags = 0, .time = kStart + 10});
  trace_->exec(2, 1, 2, 4, "/bin/next", std::string("next\0", 5), kStart + 30);
  trace_->task({.task = 3, .process = 1, .parent_task = 2, .flags = USC_TASK_EXEC_TID, .time = kStart + 31});
  trace_->event({.task = 2, .entry = kStart + 20, .end = kStart + 40, .nr = 59, .image = 1});
  trace_->event({.task = 3, .entry = kStart + 50, .end = kStart + 51, .image = 2});
  load();
  EXPECT_EQ(
      rows("SELECT tid, pid, process, kind_id FROM (SELECT v.*, e.kind_id FROM v_event v JOIN event e USING (id)) "
           "ORDER BY id"),
      "101|100|app|1\n100|100|next|2");
  EXPECT_EQ(rows("SELECT id, start_ns - 1000000000000, end_ns - 1000000000000 FROM thread ORDER BY id"),
            "1|-5|-\n2|5|31\n3|31|-");
  EXPECT_EQ(rows("SELECT id, parent_id FROM process"), "1|-");
}

TEST_F(LoaderTest, EqualStacksAreOneRowAndUnequalOnesAreNot) {
  usual();
  const std::vector<std::uint64_t> frames{frame(3, 0x1010, true), frame(2, 0x1020)};
  trace_->stack(1, frames);
  trace_->stack(2, frames, USC_ENDED_ROOT, 0, 1);
  trace_->stack(3, frames, USC_ENDED_BUDGET);
  trace_->stack(4, {frame(3, 0x1010, true)}, USC_ENDED_BROKEN + static_cast<std::uint8_t>(USC_BROKEN_REGISTER));
  trace_->stack(5, {frame(0, 0x7000, true)}, USC_ENDED_SCOPE, 1);
  trace_->stack(USC_STACK_USER | 5, {frame(0, 0x7000, true)}, USC_ENDED_SCOPE, 2);
  std::uint64_t entry = kStart;
  for (const std::uint32_t stack : {1U, 2U, 3U, 4U, 5U, USC_STACK_USER | 5})
    trace_->event({.entry = ++entry, .stack = stack});
  load();
  EXPECT_EQ(rows("SELECT stack_id FROM event ORDER BY id"), "1\n1\n2\n3\n4\n5");
  EXPECT_EQ(rows("SELECT id, depth, ended, folded FROM stack ORDER BY id"),
            "1|2|root|f401020;f401010!\n"
            "2|2|budget|f401020;f401010!\n"
            "3|1|broken:register|f401010!\n"
            "4|1|scope|[anon]+0x7000\n"
            "5|1|scope|[anon]+0x7000");
  EXPECT_EQ(rows("SELECT path, class FROM module WHERE class = 'jit'"), "[anon]|jit\n[anon]|jit");
}

// A walk went on from a frame without a file, by a frame pointer that its code may not keep.
TEST_F(LoaderTest, StacksThatRestOnAGuessAreListed) {
  usual();
  const std::uint64_t jit = frame(0, 0x7000);
  const auto no_mapping = static_cast<std::uint8_t>(USC_ENDED_BROKEN + int{USC_BROKEN_NO_MAPPING});
  trace_->stack(1, {frame(3, 0x1010, true), jit, frame(2, 0x1020)}, USC_ENDED_ROOT, 1);
  trace_->stack(2, {frame(3, 0x1010, true), jit}, no_mapping, 1);       // the guess led nowhere
  trace_->stack(3, {frame(3, 0x1010, true), jit, jit}, no_mapping, 1);  // and so did the second one
  trace_->stack(4, {frame(3, 0x1010, true), frame(2, 0x1020)}, no_mapping);
  trace_->stack(5, {frame(3, 0x1010, true), frame(2, 0x1020)}, USC_ENDED_ROOT);
  // The scope left the frame out: of two address spaces, since none of the frames depends on it.
  trace_->stack(6, {frame(3, 0x1010, true), frame(2, 0x1020)}, USC_ENDED_ROOT, 1);
  trace_->stack(7, {frame(3, 0x1010, true), frame(2, 0x1020)}, USC_ENDED_ROOT, 2);
  std::uint64_t entry = kStart;
  for (const std::uint32_t stack : {1U, 1U, 2U, 3U, 4U, 5U, 6U, 7U}) trace_->event({.entry = ++entry, .stack = stack});
  load();
  EXPECT_EQ(rows("SELECT s.id, ended, g.events FROM stack s LEFT JOIN guessed_stack g ON g.stack_id = s.id ORDER BY 1"),
            "1|root|2\n2|broken:frame_pointer|-\n3|broken:frame_pointer|1\n4|broken:no_mapping|-\n5|root|-\n6|root|2");
}

// Nothing that a file holds now names what it held.
TEST_F(LoaderTest, ChangedFilesAreCountedAndAModuleOfTheirOwn) {
  class Namer : public FakeNamer {
   public:
    symbolizer::ModuleState state_of(const symbolizer::ModuleRequest& module) override {
      return module.file == trace::FileId(3) || module.file == trace::FileId(5) ? symbolizer::ModuleState::kChanged
                                                                                : symbolizer::ModuleState::kUsable;
    }
  };
  usual();
  trace_->file(5, "/opt/bin/app", "IDA");
  trace_->file(6, "/opt/bin/app", "IDA");
  trace_->stack(1, {frame(3, 0x1010, true), frame(2, 0x1020), frame(5, 0x1020), frame(6, 0x1020)});
  trace_->event({.entry = kStart + 1, .stack = 1});
  trace_->totals();
  trace_->close();
  trace_.reset();
  LoadOptions options;
  options.namer = std::make_unique<Namer>();
  ASSERT_TRUE(store::load(folder_ / "raw", folder_ / "db", options));
  auto database = Database::open(folder_ / "db");
  ASSERT_TRUE(database);
  database_.emplace(std::move(*database));
  EXPECT_EQ(rows("SELECT cause, count FROM loss"), "file_changed|2");
  EXPECT_EQ(rows("SELECT m.path, count(*) FROM stack_frame s JOIN frame f ON f.id = frame_id JOIN module m ON m.id = "
                 "f.module_id "
                 "GROUP BY m.id ORDER BY m.id"),
            "/usr/lib/libc.so.6|1\n/opt/bin/app|2\n/opt/bin/app|1");
}

TEST_F(LoaderTest, FramesWithoutAFileHaveTheFirstNameThatCoversTheirCall) {
  usual();
  trace_->jit_name(1, 0x7000, 0x6ff0, 0x20, "read");
  trace_->jit_name(1, 0x7000, 0x7000, 0x20, "a later name");
  trace_->jit_name(1, 0x701f, 0x7010, 0x10, "call\xff");
  trace_->jit_name(1, 0x7030, 0x7000, 0x30, "not around it");
  trace_->jit_name(1, 0x7040, 0x7040, 1, "");
  trace_->stack(1,
                {frame(0, 0x7000, true), frame(0, 0x7020), frame(0, 0x7030), frame(0, 0x7031), frame(0, 0x7040, true)},
                USC_ENDED_ROOT, 1);
  trace_->stack(2, {frame(0, 0x7000, true)}, USC_ENDED_ROOT, 2);  // another address space
  trace_->event({.entry = kStart + 1, .stack = 1});
  trace_->event({.entry = kStart + 2, .stack = 2});
  load();
  EXPECT_EQ(rows("SELECT folded FROM stack ORDER BY id"),
            "[anon]+0x7040;[anon]+0x7031;[anon]+0x7030;call\\xff;read\n[anon]+0x7000");
  EXPECT_EQ(rows("SELECT function, function_offset, rel_pc FROM frame JOIN module m ON m.id = module_id "
                 "WHERE path = '[jit]' AND class = 'jit' ORDER BY rel_pc"),
            "read|16|28672\ncall\\xff|16|28704");
}

TEST_F(LoaderTest, TriggersInlinedFramesAndTheirFallbacks) {
  usual();
  trace_->stack(1, {frame(3, 0x1010, true), frame(4, 0x1030), frame(2, 0x1500), frame(2, 0x1600)});
  trace_->stack(2, {frame(3, 0x1010, true), frame(4, 0x1030)});
  trace_->stack(3, {frame(3, 0x1010, true), frame(USC_FILE_VDSO, 0x30)});
  for (std::uint32_t stack = 1; stack <= 3; stack++)
    trace_->event({.entry = kStart + stack, .end = kStart + 10, .result = -5, .nr = stack, .stack = stack});
  load();
  EXPECT_EQ(rows("SELECT s.id, f.function, f.inlined, trigger_fallback FROM stack s LEFT JOIN frame f ON f.id = "
                 "trigger_frame_id ORDER BY s.id"),
            "1|g;h|1|0\n2|f401030|0|1\n3|-|-|0");
  EXPECT_EQ(rows("SELECT folded FROM stack WHERE id = 1"), "f401600;f401500;g:h;f401030;f401010!");
  EXPECT_EQ(
      rows("SELECT position, inline_depth, function, file, line, inlined, function_offset, space FROM stack_frame "
           "JOIN frame ON frame.id = frame_id WHERE stack_id = 1 AND position = 2 ORDER BY 2"),
      "2|0|g;h|a.c|7|1|1|user\n2|1|f401500|a.c|9|0|2|user");
  EXPECT_EQ(rows("SELECT function, module, events, errors, total_ns, open FROM dual_space ORDER BY total_ns DESC"),
            "g;h|/opt/bin/app|1|1|9|0\nf401030|/usr/lib/libz.so.1|1|1|8|0\n-|-|1|1|7|0");
  EXPECT_EQ(rows("SELECT path, class, build_id FROM module ORDER BY path"),
            "/opt/bin/app|app|494441\n/usr/lib/libc.so.6|library|494443\n/usr/lib/libz.so.1|library|49445a\n"
            "[vdso]|vdso|-");
}

constexpr const char* kTriggers =
    "SELECT s.id, f.function, m.path, trigger_fallback FROM stack s LEFT JOIN frame f ON f.id = trigger_frame_id "
    "LEFT JOIN module m ON m.id = f.module_id ORDER BY s.id";

TEST_F(LoaderTest, ATriggerThatTheBudgetCutOffIsSaidToBe) {
  usual();
  trace_->stack(1, {frame(3, 0x1010, true), frame(4, 0x1030)}, USC_ENDED_BUDGET);
  trace_->stack(2, {frame(3, 0x1010, true)}, USC_ENDED_BUDGET);
  trace_->stack(3, {frame(4, 0x1030), frame(4, 0x1040)}, USC_ENDED_BUDGET);
  trace_->stack(4, {frame(4, 0x1030), frame(2, 0x1600)}, USC_ENDED_BUDGET);
  for (std::uint32_t stack = 1; stack <= 4; stack++) trace_->event({.entry = kStart + stack, .stack = stack});
  load();
  EXPECT_EQ(rows(kTriggers),
            "1|(cut)|/usr/lib/libz.so.1|1\n2|(cut)|/usr/lib/libc.so.6|1\n3|(cut)|/usr/lib/libz.so.1|1\n"
            "4|f401600|/opt/bin/app|0");
  EXPECT_EQ(rows("SELECT count(*) FROM frame WHERE function = '(cut)'"), "2");
  EXPECT_EQ(rows("SELECT function, module, events FROM dual_space ORDER BY module, function"),
            "f401600|/opt/bin/app|1\n(cut)|/usr/lib/libc.so.6|1\n(cut)|/usr/lib/libz.so.1|2");
}

TEST_F(LoaderTest, AProgramsOwnLibrariesAreTheApplications) {
  usual();
  trace_->file(5, "/opt/bin/libown.so", "IDO");
  trace_->stack(1, {frame(3, 0x1010, true), frame(4, 0x1030), frame(5, 0x1040), frame(3, 0x1050), frame(2, 0x1600)},
                USC_ENDED_ROOT);
  trace_->event({.entry = kStart + 1, .stack = 1});
  load();
  EXPECT_EQ(rows(kTriggers), "1|f401040|/opt/bin/libown.so|0");
  EXPECT_EQ(rows("SELECT class FROM module WHERE path = '/opt/bin/libown.so'"), "app");
}

TEST_F(LoaderTest, ALibraryThatHoldsMainIsTheApplications) {
  usual();
  trace_->stack(1, {frame(4, 0x1030), frame(3, 0x1050), frame(3, 0x1060), frame(2, 0x1600)}, USC_ENDED_ROOT);
  trace_->stack(2, {frame(3, 0x1010, true), frame(4, 0x1040)}, USC_ENDED_BUDGET);
  for (std::uint32_t stack = 1; stack <= 2; stack++) trace_->event({.entry = kStart + stack, .stack = stack});
  load();
  EXPECT_EQ(rows(kTriggers), "1|f401030|/usr/lib/libz.so.1|0\n2|f401040|/usr/lib/libz.so.1|0");
  EXPECT_EQ(rows("SELECT class FROM module WHERE path = '/usr/lib/libz.so.1'"), "app");
}

TEST_F(LoaderTest, ATriggerIsNoFunctionOfTheRunTimeSystem) {
  usual();
  trace_->stack(1, {frame(3, 0x1010, true), frame(2, 0x1800), frame(2, 0x1700), frame(2, 0x1600)});
  trace_->stack(2, {frame(2, 0x1800, true), frame(2, 0x1a00)}, USC_ENDED_ROOT);
  trace_->stack(3, {frame(2, 0x1800, true), frame(2, 0x1800)}, USC_ENDED_BUDGET);
  for (std::uint32_t stack = 1; stack <= 3; stack++) trace_->event({.entry = kStart + stack, .stack = stack});
  load();
  EXPECT_EQ(rows(kTriggers), "1|f401700|/opt/bin/app|0\n2|std::open|/opt/bin/app|1\n3|(cut)|/opt/bin/app|1");
  EXPECT_EQ(rows("SELECT function, inlined, origin FROM frame WHERE rel_pc = 0x401700 ORDER BY id"),
            "std::read|1|runtime\nf401700|0|own");
}

TEST_F(LoaderTest, ALibraryThatALaunchersMainCallsIsTheApplications) {
  usual();
  trace_->stack(1, {frame(4, 0x1030), frame(2, 0x1900), frame(3, 0x1050), frame(3, 0x1060), frame(2, 0x1600)},
                USC_ENDED_ROOT);
  trace_->stack(2, {frame(3, 0x1010, true), frame(4, 0x1040)}, USC_ENDED_BUDGET);
  for (std::uint32_t stack = 1; stack <= 2; stack++) trace_->event({.entry = kStart + stack, .stack = stack});
  load();
  EXPECT_EQ(rows(kTriggers), "1|f401030|/usr/lib/libz.so.1|0\n2|f401040|/usr/lib/libz.so.1|0");
}

TEST_F(LoaderTest, AProgramThatTheLoaderWasToldToRunIsTheApplications) {
  begin();
  trace_->task({});
  trace_->exec(1, 1, 1, 2, "/lib/ld-linux-x86-64.so.2", std::string("ld.so\0/srv/app/svc\0", 19));
  trace_->file(2, "/lib/ld-linux-x86-64.so.2", "IDL");
  trace_->file(3, "/usr/lib/libc.so.6", "IDC");
  trace_->file(5, "/srv/app/svc", "IDS");
  trace_->file(6, "/srv/app/libown.so", "IDO");
  trace_->stack(1, {frame(6, 0x1030), frame(5, 0x1040), frame(3, 0x1050), frame(3, 0x1060), frame(5, 0x1a00)},
                USC_ENDED_ROOT);
  trace_->stack(2, {frame(3, 0x1010, true), frame(5, 0x1040), frame(3, 0x1050)}, USC_ENDED_BUDGET);
  trace_->stack(3, {frame(2, 0x1010, true), frame(2, 0x1020)}, USC_ENDED_ROOT);
  for (std::uint32_t stack = 1; stack <= 3; stack++) trace_->event({.entry = kStart + stack, .stack = stack});
  load();
  EXPECT_EQ(rows(kTriggers),
            "1|f401030|/srv/app/libown.so|0\n2|f401040|/srv/app/svc|0\n3|f401010!|/lib/ld-linux-x86-64.so.2|1");
}

TEST_F(LoaderTest, GeneratedCodeCountsBeforeTheMachineThatRunsIt) {
  usual();
  trace_->jit_name(1, 0x701f, 0x7010, 0x10, "py::load:/srv/app.py");
  trace_->jit_name(1, 0x702f, 0x7020, 0x10, "py::open:/usr/lib/python3.12/pathlib.py");
  trace_->jit_name(1, 0x703f, 0x7030, 0x10, "trampoline");
  trace_->stack(1, {frame(2, 0x1030), frame(0, 0x7040), frame(0, 0x7030), frame(2, 0x1030), frame(0, 0x7020)},
                USC_ENDED_ROOT, 1);
  trace_->stack(2, {frame(2, 0x1030), frame(0, 0x7030), frame(2, 0x1600)}, USC_ENDED_ROOT, 1);
  trace_->stack(3, {frame(2, 0x1030), frame(2, 0x1600)}, USC_ENDED_ROOT, 1);
  trace_->stack(4, {frame(2, 0x1040), frame(2, 0x1600)}, USC_ENDED_ROOT, 2);
  for (std::uint32_t stack = 1; stack <= 4; stack++) trace_->event({.entry = kStart + stack, .stack = stack});
  load();
  EXPECT_EQ(rows(kTriggers),
            "1|py::load:/srv/app.py|[jit]|0\n2|py::open:/usr/lib/python3.12/pathlib.py|[jit]|1\n"
            "3|f401030|/opt/bin/app|1\n4|f401040|/opt/bin/app|1");
  EXPECT_EQ(rows("SELECT managed FROM stack ORDER BY id"), "1\n1\n1\n1");  // the module runs such code elsewhere
}

TEST_F(LoaderTest, WhatIsUndefinedIsCountedAsLoss) {
  usual();
  trace_->event({.entry = kStart + 10, .stack = 99});
  trace_->event({.entry = kStart + 20, .stack = 99});
  trace_->event({.task = 50, .entry = kStart + 30});
  trace_->loss(USC_LOSS_RING_FULL_EVENT, 3, 1);
  trace_->skip(0);
  trace_->skip(0);
  trace_->skip(1);
  trace_->totals();
  load();
  EXPECT_EQ(
      rows("SELECT cause, process_id, count, ts_ns - 1000000000000, until_ns - 1000000000000 FROM loss ORDER BY 1"),
      "ring_full_event|1|3|40|50\nstack_undefined|1|2|10|20\ntask_undefined|-|1|30|30");
  EXPECT_EQ(summary_.lost, 3U);  // the events without a stack or a task are there
  EXPECT_EQ(summary_.lost_beside, 3U);
  EXPECT_EQ(rows("SELECT id, stack_id, thread_id FROM event ORDER BY id"), "1|-|1\n2|-|1\n3|-|50");
  EXPECT_EQ(rows("SELECT process_id, tid FROM thread WHERE id = 50"), "-|-");
}

// The same number as the recorder's status line (collector_test.cpp): the causes whose class counts events, and no
// other.
TEST_F(LoaderTest, OnlyMissingEventsAreCountedAsLost) {
  usual();
  std::uint64_t events = 0;
  for (std::uint32_t cause = 0; cause < USC_LOSS_COUNT; cause++) {
    trace_->loss(cause, std::uint64_t{1} << cause);
    if (trace::counts_events(trace::loss_class(cause))) events += std::uint64_t{1} << cause;
    if (usc_loss_is_numbered(cause)) trace_->skip(0, std::uint64_t{1} << cause);
  }
  trace_->loss(USC_LOSS_COUNT + 7, 1U << 30);  // a later version's
  trace_->totals();
  load();
  EXPECT_EQ(rows("SELECT count(*) FROM loss"), std::to_string(USC_LOSS_COUNT + 1));
  EXPECT_EQ(summary_.lost, events + (1U << 30));
}

TEST_F(LoaderTest, AGapThatNobodyExplainsIsDamage) {
  usual();
  trace_->skip(0);
  trace_->event({.entry = kStart + 10});
  trace_->skip(1);
  trace_->skip(1);
  trace_->loss(USC_LOSS_RING_FULL_STACK, 1);
  trace_->totals();
  load();
  EXPECT_EQ(rows("SELECT count FROM loss WHERE cause = 'raw_damaged'"), "2");
}

TEST_F(LoaderTest, UnwindTablesAreKeptWithTheirTrouble) {
  usual();
  trace_->unwind_data(40, "/opt/bin/good", USC_FILE_READY, 120);
  trace_->unwind_data(41, "/opt/bin/large", USC_FILE_USER_ONLY, 5000);
  trace_->unwind_data(42, "/opt/bin/bad\xff", USC_FILE_WITHOUT, 0, "/opt/bin/bad\xff is not an ELF file");
  trace_->unwind_data(43, "/opt/bin/later", 77, 0);
  load();
  EXPECT_EQ(rows("SELECT id, path, state, rows, rules, bytes, trouble FROM unwind_table WHERE id >= 40 ORDER BY id"),
            "40|/opt/bin/good|kernel|120|12|960|-\n41|/opt/bin/large|user|5000|500|40000|-\n"
            "42|/opt/bin/bad\\xff|none|0|0|0|/opt/bin/bad\\xff is not an ELF file\n43|/opt/bin/later|unknown|0|0|0|-");
}

TEST_F(LoaderTest, VerifyRowsFindTheirEvent) {
  usual();
  trace_->verify(1, kStart + 20, -1);
  trace_->event({.entry = kStart + 10});
  trace_->event({.entry = kStart + 20});
  trace_->verify(1, kStart + 10, 2);
  trace_->verify(1, kStart + 77, -1);
  load();
  EXPECT_EQ(rows("SELECT event_id, equal, uscope_depth, oracle_depth, first_difference FROM verify ORDER BY event_id"),
            "-|1|3|4|-\n1|0|3|4|2\n2|1|3|4|-");
}

TEST_F(LoaderTest, MetaHoldsTheHeaderAndWhatTheTraceSays) {
  usual();
  trace_->meta("host", "box\xff");
  trace_->meta("utc_offset_ns", "wrong");
  trace_->event({.entry = kStart + 10, .end = kStart + 500});
  load();
  EXPECT_EQ(rows("SELECT key, value FROM meta ORDER BY key"),
            "boot_id|00010203-0405-0607-0809-0a0b0c0d0e0f\ncomplete|0\ncpus|2\nduration_ns|500\nhost|box\\xff\n"
            "isa|x86_64\nkernel|6.1.0-test\nordered|1\npage_bytes|4096\nraw_skipped_bytes|0\n"
            "raw_unknown_records|0\nschema|" +
                std::to_string(kSchemaVersion) + "\nstart_ns|1000000000000\nutc_offset_ns|77");
}

TEST_F(LoaderTest, TracingBeganWhenTheTracerSaysOrWithItsFile) {
  usual();
  trace_->meta("start_ns", std::to_string(kStart + 200));
  trace_->event({.entry = kStart + 210, .end = kStart + 500});
  load();
  EXPECT_EQ(rows("SELECT key, value FROM meta WHERE key IN ('duration_ns', 'start_ns') ORDER BY key"),
            "duration_ns|300\nstart_ns|1000000000200");
}

class BeginningThatCannotBe : public LoaderTest, public ::testing::WithParamInterface<const char*> {};

TEST_P(BeginningThatCannotBe, IsNotTaken) {
  usual();
  trace_->meta("start_ns", GetParam());
  trace_->event({.entry = kStart + 210, .end = kStart + 500});
  load();
  EXPECT_EQ(rows("SELECT value FROM meta WHERE key = 'start_ns'"), "1000000000000");
}

INSTANTIATE_TEST_SUITE_P(Texts, BeginningThatCannotBe,
                         ::testing::Values("soon", "", "-5", "999999999999", "18446744073709551615", "1000000000200x"));

TEST_F(LoaderTest, EventsOfManyProcessorsComeOutByEntry) {
  usual();
  std::uint64_t seed = 42;
  const auto random = [&] { return (seed = seed * 6364136223846793005ULL + 1442695040888963407ULL) >> 33; };
  constexpr std::uint64_t kEvents = 200'000;
  for (std::uint64_t i = 0; i < kEvents; i++) {
    const std::uint64_t end = kStart + 1'000'000'000 + i * 10'000;
    const std::uint64_t duration = random() % 1000 == 0 ? 800'000'000 : random() % 50'000'000;
    trace_->event({.entry = end - duration, .end = end, .cpu = static_cast<std::uint16_t>(i % 2)});
  }
  load();
  EXPECT_EQ(rows("SELECT count(*), count(DISTINCT id), max(id) FROM event"), "200000|200000|200000");
  EXPECT_EQ(rows("SELECT count(*) FROM event a JOIN event b ON b.id = a.id + 1 WHERE b.ts_ns < a.ts_ns"), "0");
  EXPECT_EQ(rows("SELECT value FROM meta WHERE key = 'ordered'"), "1");
}

TEST_F(LoaderTest, AFailedLoadLeavesNothingAndKeepsTheOldStore) {
  usual();
  trace_->event({});
  load();
  database_.reset();
  std::filesystem::resize_file(folder_ / "raw", 10);
  auto summary = store::load(folder_ / "raw", folder_ / "db");
  ASSERT_FALSE(summary);
  EXPECT_NE(summary.error().what.find("is not a raw trace"), std::string::npos);
  EXPECT_FALSE(std::filesystem::exists(folder_ / "db.part"));
  EXPECT_TRUE(Database::open(folder_ / "db"));
  EXPECT_EQ(std::filesystem::status(folder_ / "db").permissions(), std::filesystem::perms(0600));
}

TEST_F(LoaderTest, FlippedBytesNeverCrashAndWholeRecordsLoad) {
  usual();
  trace_->stack(1, {frame(3, 0x1010, true), frame(2, 0x1020)});
  constexpr int kEvents = 50;
  for (int i = 0; i < kEvents; i++)
    trace_->event(
        {.entry = kStart + 10 + i, .end = kStart + 20 + i, .stack = 1, .cpu = static_cast<std::uint16_t>(i % 2)});
  trace_->meta("host", "box");
  trace_->totals();
  const std::uint64_t size = trace_->close();
  trace_.reset();
  std::ifstream file(folder_ / "raw", std::ios::binary);
  const std::string whole((std::istreambuf_iterator<char>(file)), {});
  std::uint64_t seed = 7;
  const auto random = [&] { return (seed = seed * 6364136223846793005ULL + 1442695040888963407ULL) >> 33; };
  int damaged = 0;
  for (int round = 0; round < 300; round++) {
    std::string bytes = whole;
    const std::uint64_t at = sizeof(usc_raw_header) + random() % (size - sizeof(usc_raw_header));
    bytes[at] = static_cast<char>(bytes[at] ^ (1 + random() % 255));
    std::ofstream(folder_ / "raw", std::ios::binary | std::ios::trunc) << bytes;
    database_.reset();
    load();
    ASSERT_FALSE(HasFatalFailure()) << at;
    // The flipped record, and at most one neighbour that a grown length swallowed.
    EXPECT_GE(summary_.events, kEvents - 2U) << at;
    EXPECT_EQ(rows("PRAGMA integrity_check"), "ok");
    if (summary_.damaged_bytes != 0) {
      damaged++;
      EXPECT_NE(rows("SELECT sum(count) FROM loss WHERE cause = 'raw_damaged'"), "-") << at;
    }
    if (summary_.events < kEvents) {
      EXPECT_GT(summary_.lost, 0U) << at;
    }
  }
  EXPECT_GT(damaged, 10);
}

}  // namespace
}  // namespace uscope::store
