// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "analyzer/summary/summary.h"

#include <algorithm>

#include "tests/unit/analyzer/sample_trace.h"

namespace uscope::analyzer {
namespace {

using test::SampleTrace;

class SummaryTest : public SampleTrace {
 protected:
  Summary summary(std::size_t lines = 0) {
    const auto database = open();
    auto result = summarize(database, {.lines = lines});
    if (!result) ADD_FAILURE() << result.error().what;
    return result ? std::move(*result) : Summary();
  }
};

TEST_F(SummaryTest, LossesComeWithTheirOwners) {
  const Summary s = summary();
  ASSERT_EQ(s.losses.size(), 2U);
  EXPECT_EQ(s.losses[0].cause, "ring_full_event");
  EXPECT_EQ(s.losses[0].meaning, "events dropped because the transport ring was full");
  EXPECT_EQ(s.losses[0].count, 17U);
  EXPECT_TRUE(s.losses[0].events_missing);
  ASSERT_EQ(s.losses[0].processes.size(), 2U);
  EXPECT_EQ(s.losses[0].processes[0].pid, 101);
  EXPECT_EQ(s.losses[0].processes[0].count, 15U);
  EXPECT_EQ(s.losses[0].processes[1].pid, std::nullopt);
  EXPECT_EQ(s.losses[0].processes[1].count, 2U);
  EXPECT_EQ(s.losses[1].cause, "verify_skipped");
  EXPECT_EQ(s.losses[1].count, 100U);
  EXPECT_FALSE(s.losses[1].events_missing);
}

TEST_F(SummaryTest, TraceFactsCount) {
  const Summary s = summary();
  EXPECT_EQ(s.trace.meta.at("mode"), "4");
  EXPECT_EQ(s.trace.start_ns, test::kStart);
  EXPECT_EQ(s.trace.began_ns, 1'700'001'000'000'000'000);
  EXPECT_EQ(s.trace.duration_ns, 2'000'000'000);
  EXPECT_EQ(s.trace.events, 14U);
  EXPECT_EQ(s.trace.errors, 4U);
  EXPECT_EQ(s.trace.open, 2U);
  EXPECT_EQ(s.trace.processes, 7U);
  EXPECT_EQ(s.trace.threads, 6U);
  EXPECT_EQ(s.trace.images, 5U);
  EXPECT_EQ(s.trace.program_starts, 5U);
  EXPECT_EQ(s.trace.stacks, 4U);
  EXPECT_DOUBLE_EQ(s.trace.events_per_second, 7.0);
}

TEST_F(SummaryTest, ProcessesCarryLineageImageAndEnd) {
  const Summary s = summary();
  EXPECT_EQ(s.processes.total, 8U);
  ASSERT_EQ(s.processes.lines.size(), 8U);
  const ProcessLine& make = s.processes.lines[0];
  EXPECT_EQ(make.pid, 100);
  EXPECT_EQ(make.name, "make");
  EXPECT_EQ(make.argv, R"(["make","-j2"])");
  EXPECT_EQ(make.parent_pid, std::nullopt);
  EXPECT_EQ(make.start_ns, 0);
  EXPECT_EQ(make.lifetime_ns, 2'000'000'000);
  EXPECT_EQ(make.exit_code, 0);
  EXPECT_EQ(make.threads, 2U);
  EXPECT_EQ(make.events, 5U);
  EXPECT_EQ(make.errors, 1U);
  const ProcessLine& gcc = s.processes.lines[1];
  EXPECT_EQ(gcc.pid, 101);
  EXPECT_EQ(gcc.parent_pid, 100);
  EXPECT_EQ(gcc.exit_code, 1);
  EXPECT_EQ(gcc.events, 4U);
  EXPECT_EQ(gcc.errors, 2U);
  const ProcessLine& orphan = s.processes.lines[2];
  EXPECT_EQ(orphan.pid, 104);
  EXPECT_EQ(orphan.events, 2U);
  const ProcessLine& before = s.processes.lines[3];  // what made one call, and executed make
  EXPECT_EQ(before.pid, 100);
  EXPECT_EQ(before.name, "bash");
  EXPECT_EQ(before.events, 1U);
  const ProcessLine& killed = s.processes.lines[4];
  EXPECT_EQ(killed.pid, 102);
  EXPECT_EQ(killed.name, "make");  // forked, never executed anything itself
  EXPECT_EQ(killed.exit_code, std::nullopt);
  EXPECT_EQ(killed.exit_signal, 9);
  const ProcessLine& running = s.processes.lines[5];
  EXPECT_EQ(running.pid, 103);
  EXPECT_EQ(running.argv, test::kHostile);
  EXPECT_EQ(running.lifetime_ns, std::nullopt);
  ASSERT_EQ(s.io_uring.size(), 1U);
  EXPECT_EQ(s.io_uring[0].pid, 103);
}

TEST_F(SummaryTest, CallsHaveErrorsAndPercentiles) {
  const Summary s = summary();
  ASSERT_EQ(s.calls.lines.size(), 4U);
  const CallLine& read = s.calls.lines[0];
  EXPECT_EQ(read.call, "read");
  EXPECT_EQ(read.abi, "x86_64");
  EXPECT_EQ(read.events, 4U);
  EXPECT_EQ(read.errors, 1U);
  EXPECT_EQ(read.total_ns, 8500U);
  EXPECT_EQ(read.mean_ns, 2125U);
  EXPECT_EQ(read.p50_ns, 1000U);
  EXPECT_EQ(read.p95_ns, 4000U);
  EXPECT_EQ(read.max_ns, 4000U);
  EXPECT_EQ(read.bytes, 12U);
  EXPECT_EQ(s.calls.lines[1].call, "openat");
  EXPECT_EQ(s.calls.lines[1].errors, 3U);
  EXPECT_EQ(s.calls.lines[1].bytes, std::nullopt);  // its result is a descriptor
  EXPECT_EQ(s.calls.lines[2].call, "getpid");
  EXPECT_EQ(s.calls.lines[2].abi, "i386");
  EXPECT_EQ(s.calls.lines[3].call, "exit_group");
}

TEST_F(SummaryTest, CallsThatWaitAreApart) {
  const Summary s = summary();
  ASSERT_EQ(s.waits.lines.size(), 2U);
  EXPECT_EQ(s.waits.lines[0].call, "nanosleep");
  EXPECT_EQ(s.waits.lines[0].events, 2U);
  EXPECT_EQ(s.waits.lines[0].errors, 0U);  // -516 is a restart, no error
  EXPECT_EQ(s.waits.lines[0].timed, 1U);
  EXPECT_EQ(s.waits.lines[0].total_ns, 600'000'000U);
  EXPECT_EQ(s.waits.lines[1].call, "futex");
  EXPECT_EQ(s.waits.lines[1].open, 2U);
  EXPECT_EQ(s.waits.lines[1].timed, 0U);
  ASSERT_EQ(s.longest_waits.lines.size(), 1U);
  EXPECT_EQ(s.longest_waits.lines[0].event_id, EventRowId(11));
  EXPECT_EQ(s.longest_waits.total, 1U);
}

TEST_F(SummaryTest, ThreadsSayWhereTheirTimeWent) {
  const Summary s = summary();
  ASSERT_EQ(s.threads.lines.size(), 7U);
  const ThreadLine& main = s.threads.lines[0];
  EXPECT_EQ(main.pid, 100);
  EXPECT_EQ(main.tid, 100);
  EXPECT_EQ(main.process, "make");
  EXPECT_EQ(main.thread, "make");
  EXPECT_EQ(main.events, 4U);  // as make; one more as bash
  EXPECT_EQ(main.errors, 1U);
  EXPECT_EQ(main.total_ns, 600'007'000U);
  EXPECT_EQ(main.wait_ns, 600'000'000U);
  EXPECT_EQ(main.between_ns, 129'992'000U);
}

TEST_F(SummaryTest, GapsHaveTheCallsOnBothSides) {
  const Summary s = summary();
  EXPECT_EQ(s.gaps.total, 9U);
  ASSERT_EQ(s.gaps.lines.size(), 9U);
  const GapLine& longest = s.gaps.lines[0];
  EXPECT_EQ(longest.dur_ns, 649'998'500);
  EXPECT_EQ(longest.ts_ns, 240'001'500);
  EXPECT_EQ(longest.tid, 101);
  EXPECT_EQ(longest.process, "gcc");
  ASSERT_TRUE(longest.before && longest.after);
  EXPECT_EQ(longest.before->event_id, EventRowId(6));
  EXPECT_EQ(longest.before->function, "compile");
  EXPECT_EQ(longest.after->event_id, EventRowId(10));
  EXPECT_EQ(longest.after->call, "exit_group");
  EXPECT_FALSE(longest.doubtful);
  EXPECT_FALSE(s.calls_left_out);
  ASSERT_TRUE(s.gaps.lines[1].before);
  EXPECT_EQ(s.gaps.lines[1].before->event_id, EventRowId(1));
  EXPECT_EQ(s.gaps.lines[1].dur_ns, 109'999'000);
}

TEST_F(SummaryTest, GapsMayHaveAnOpenEnd) {
  const Summary s = summary();
  const GapLine& last = s.gaps.lines[2];
  EXPECT_EQ(last.dur_ns, 69'999'910);
  EXPECT_EQ(last.tid, 104);
  EXPECT_EQ(last.until, GapEdge::kThread);
  ASSERT_TRUE(last.before);
  EXPECT_EQ(last.before->call, "getpid");
  EXPECT_FALSE(last.after);
  const GapLine& first = s.gaps.lines[3];
  EXPECT_EQ(first.dur_ns, 20'000'000);
  EXPECT_EQ(first.since, GapEdge::kThread);
  EXPECT_FALSE(first.before);
  ASSERT_TRUE(first.after);
  EXPECT_EQ(first.after->event_id, EventRowId(2));
  EXPECT_EQ(first.process, "gcc");
}

TEST_F(SummaryTest, GapsAreSummedByTheCallsAroundThem) {
  const Summary s = summary();
  EXPECT_EQ(s.gap_pairs.total, 7U);
  ASSERT_EQ(s.gap_pairs.lines.size(), 7U);
  EXPECT_EQ(s.gap_pairs.lines[0].gaps, 1U);
  EXPECT_EQ(s.gap_pairs.lines[0].longest.after->call, "exit_group");
  const GapPairLine& reads = s.gap_pairs.lines[1];
  EXPECT_EQ(reads.gaps, 2U);
  EXPECT_EQ(reads.total_ns, 119'996'000);
  EXPECT_EQ(reads.longest.dur_ns, 109'999'000);
  EXPECT_EQ(reads.longest.before->event_id, EventRowId(1));
  EXPECT_EQ(reads.longest.after->event_id, EventRowId(3));
  EXPECT_EQ(summary(2).gap_pairs.lines.size(), 2U);
  EXPECT_EQ(summary(2).gap_pairs.total, 7U);
}

TEST_F(SummaryTest, GapsAreWithinAFunction) {
  const Summary s = summary();
  const auto reads = std::find_if(s.gaps.lines.begin(), s.gaps.lines.end(), [](const GapLine& line) {
    return line.before && line.before->event_id == EventRowId(3);
  });
  ASSERT_NE(reads, s.gaps.lines.end());
  ASSERT_TRUE(reads->within);
  EXPECT_EQ(reads->within->function, "helper");
  EXPECT_EQ(reads->within->module, "/usr/bin/make");
  EXPECT_FALSE(s.gaps.lines[0].within);  // its stacks are broken
  EXPECT_FALSE(s.gaps.lines[1].within);  // another program runs after it
  EXPECT_FALSE(s.gaps.lines[2].within);  // it has one end
}

TEST_F(SummaryTest, GapsThatLookAlikeAreOneLine) {
  test::write_store(path(), std::string(test::kSampleRows) + R"sql(
INSERT INTO frame(id, module_id, rel_pc, function, function_offset, file, line, inlined) VALUES(9, 1, 8250, 'run_job', 58, '/src/job.c', 44, 0);
INSERT INTO stack(id, depth, ended, trigger_frame_id, trigger_fallback, folded) VALUES(5, 2, 'root', 9, 0, 'main;run_job');
INSERT INTO stack_frame VALUES(5, 0, 0, 9, 'user'), (5, 1, 0, 4, 'user'), (5, 2, 0, 5, 'user');
INSERT INTO event VALUES(15, 1000135000000, 1000, 'returned', 1, 2, 1, 5, 5, 3, 140000000000000, 100, 0, 0, 0, NULL),
  (16, 1000137000000, 1000, 'returned', 1, 2, 1, 5, 5, 3, 140000000000000, 100, 0, 0, 0, NULL);)sql" +
                                test::kCountEvents);
  const Summary s = summary();
  EXPECT_EQ(s.gap_pairs.total, s.gap_places.list.total + 1);
  EXPECT_TRUE(s.gap_places.all);
  const auto reads = std::find_if(s.gap_places.list.lines.begin(), s.gap_places.list.lines.end(), [](const auto& line) {
    return line.longest.within && line.longest.within->function == "run_job" && line.longest.after->call == "read";
  });
  ASSERT_NE(reads, s.gap_places.list.lines.end());
  EXPECT_EQ(reads->gaps, 2U);  // 4 to 15 and 15 to 16, from different places
  EXPECT_EQ(reads->longest.before->event_id, EventRowId(4));
  EXPECT_EQ(reads->total_ns, 4'996'000 + 1'999'000);
  EXPECT_EQ(summary(1).gap_places.list.lines.size(), 1U);
  EXPECT_EQ(summary(1).gap_places.list.total, s.gap_places.list.total);
}

TEST_F(SummaryTest, FilesAreListed) {
  const Summary s = summary(1);
  EXPECT_EQ(s.files.total, 4U);
  ASSERT_EQ(s.files.lines.size(), 1U);
  EXPECT_EQ(s.files.lines[0].name, std::nullopt);
  EXPECT_EQ(s.files.lines[0].bytes_read, 12U);
}

TEST_F(SummaryTest, TriggersAreCellsOfTheMatrix) {
  const Summary s = summary();
  EXPECT_EQ(s.triggers.total, 10U);
  const TriggerLine& read = s.triggers.lines[0];
  EXPECT_EQ(read.call, "read");
  EXPECT_EQ(read.function, "run_job");
  EXPECT_EQ(read.module, "/usr/bin/make");
  EXPECT_EQ(read.events, 3U);
  EXPECT_EQ(read.errors, 1U);
  EXPECT_EQ(read.total_ns, 8000U);
  EXPECT_FALSE(read.fallback);
  const TriggerLine& openat = s.triggers.lines[1];
  EXPECT_EQ(openat.call, "openat");
  EXPECT_EQ(openat.function, "compile");
  EXPECT_EQ(openat.errors, 2U);
  const TriggerLine& fallback = s.triggers.lines[6];  // behind those of the application
  EXPECT_EQ(fallback.call, "nanosleep");
  EXPECT_EQ(fallback.function, "read");
  EXPECT_EQ(fallback.total_ns, 600'000'000U);
  EXPECT_TRUE(fallback.fallback);
}

TEST_F(SummaryTest, ErrorsByCallNumberAndTrigger) {
  const Summary s = summary();
  ASSERT_EQ(s.errors.lines.size(), 3U);
  EXPECT_EQ(s.errors.lines[0].call, "openat");
  EXPECT_EQ(s.errors.lines[0].number, 2);
  EXPECT_EQ(s.errors.lines[0].name, "ENOENT");
  EXPECT_EQ(s.errors.lines[0].function, "compile");
  EXPECT_EQ(s.errors.lines[0].events, 2U);
  EXPECT_EQ(s.errors.lines[1].name, "EPERM");
  EXPECT_EQ(s.errors.lines[1].function, "");
  EXPECT_EQ(s.errors.lines[2].call, "read");
  EXPECT_EQ(s.errors.lines[2].name, "EAGAIN");
  EXPECT_EQ(s.errors.lines[2].function, "run_job");
}

TEST_F(SummaryTest, WhatCallsFailedAtIsListed) {
  const Summary s = summary();
  std::vector<std::string> names;
  for (const FailedLine& line : s.failed.lines.lines) names.push_back(line.objects.front().name.value_or("(unknown)"));
  std::sort(names.begin(), names.end());
  EXPECT_EQ(names, (std::vector<std::string>{"(unknown)", "(unknown)", "/etc/passwd", "/tmp/c"}));
}

TEST_F(SummaryTest, SlowestAndOpenCallsAreNamed) {
  const Summary s = summary();
  EXPECT_EQ(s.slowest.total, 8U);
  const std::vector<std::int64_t> expected{4, 3, 5, 2, 6, 1, 9, 14};
  std::vector<std::int64_t> found;
  for (const CallInstance& call : s.slowest.lines) found.push_back(call.event_id.value());
  EXPECT_EQ(found, expected);
  EXPECT_EQ(s.slowest.lines[0].dur_ns, 4000);
  EXPECT_EQ(s.slowest.lines[0].ts_ns, 130'000'000);
  EXPECT_EQ(s.slowest.lines[0].function, "run_job");
  EXPECT_EQ(s.slowest.lines[0].result, -11);
  ASSERT_EQ(s.open.lines.size(), 2U);
  EXPECT_EQ(s.open.lines[0].event_id, EventRowId(12));
  EXPECT_EQ(s.open.lines[0].how, "attached");
  EXPECT_EQ(s.open.lines[0].dur_ns, 1'999'999'999);
  EXPECT_EQ(s.open.lines[1].event_id, EventRowId(8));
  EXPECT_EQ(s.open.lines[1].dur_ns, 1'840'000'000);
  EXPECT_EQ(s.open.lines[1].pid, 100);
  EXPECT_EQ(s.open.lines[1].tid, 110);
  EXPECT_EQ(s.open.lines[1].thread, "worker");
  EXPECT_EQ(s.open.lines[1].process, "make");
}

TEST_F(SummaryTest, StackEndsCountEventsAndStacks) {
  const Summary s = summary();
  ASSERT_EQ(s.stack_ends.size(), 4U);
  EXPECT_EQ(s.stack_ends[0].ended, "root");
  EXPECT_EQ(s.stack_ends[0].events, 6U);
  EXPECT_EQ(s.stack_ends[0].stacks, 2U);
  EXPECT_EQ(s.stack_ends[1].ended, "broken:no_rows");
  EXPECT_EQ(s.stack_ends[1].meaning, "the binary has no unwind information for this address");
  EXPECT_EQ(s.stack_ends[1].events, 4U);
  EXPECT_EQ(s.stack_ends[2].ended, "budget");
  EXPECT_EQ(s.stack_ends[2].events, 2U);
  EXPECT_EQ(s.stack_ends[3].ended, "none");
  EXPECT_EQ(s.stack_ends[3].events, 2U);
}

TEST_F(SummaryTest, WalksAreTheTracersOwnFigures) {
  const Summary s = summary();
  ASSERT_TRUE(s.walks);
  EXPECT_EQ(s.walks->walks, 12U);
  EXPECT_EQ(s.walks->deferred, 3U);
  EXPECT_EQ(s.walks->stopped_early, 4U);
}

TEST_F(SummaryTest, FilesAreNamedWhoseDebugInformationWasNotRead) {
  const TopList<DebugTrouble>& troubles = summary().debug_troubles;
  EXPECT_EQ(troubles.total, 2U);
  ASSERT_EQ(troubles.lines.size(), 2U);
  EXPECT_EQ(troubles.lines[0].path, "/usr/bin/gcc");
  EXPECT_EQ(troubles.lines[0].why, "it is damaged");
}

TEST_F(SummaryTest, UnwindTablesAreSummedAndTheirTroublesNamed) {
  const UnwindTables& unwind = summary().unwind;
  EXPECT_EQ(unwind.files, 2U);
  EXPECT_EQ(unwind.rows, 31'000U);
  EXPECT_EQ(unwind.bytes, 24'000U);  // the other file's rows are not in the kernel
  EXPECT_EQ(unwind.without, 2U);
  ASSERT_EQ(unwind.troubles.size(), 2U);
  EXPECT_EQ(unwind.troubles[0].state, "unreachable");  // by path, and that one begins with ESC
  EXPECT_EQ(unwind.troubles[1].path, "/tmp/refused");
  EXPECT_EQ(unwind.troubles[1].state, "none");
  EXPECT_EQ(unwind.troubles[1].trouble, "/tmp/refused is not an ELF file");
}

TEST_F(SummaryTest, VerifyNamesTheDifference) {
  const Summary s = summary();
  ASSERT_TRUE(s.verify);
  EXPECT_EQ(s.verify->samples, 3U);
  EXPECT_EQ(s.verify->equal, 2U);
  ASSERT_EQ(s.verify->differences.size(), 1U);
  EXPECT_EQ(s.verify->differences[0].event_id, EventRowId(4));
  EXPECT_EQ(s.verify->differences[0].call, "read");
  EXPECT_EQ(s.verify->differences[0].uscope_depth, 4);
  EXPECT_EQ(s.verify->differences[0].oracle_depth, 5);
  EXPECT_EQ(s.verify->differences[0].first_difference, 2);
  EXPECT_EQ(s.verify->differences[0].function, "main");
}

TEST_F(SummaryTest, AComparedStackWhoseEventWasLostNamesNoEvent) {
  test::write_store(folder_ / "lost.db",
                    "INSERT INTO meta VALUES('verify_every', '1'); INSERT INTO verify VALUES(NULL, 0, 3, 4, 1);");
  const auto summary = summarize(test::open_store(folder_ / "lost.db"), {});
  ASSERT_TRUE(summary) << summary.error().what;
  ASSERT_TRUE(summary->verify);
  ASSERT_EQ(summary->verify->differences.size(), 1U);
  EXPECT_EQ(summary->verify->differences[0].event_id, std::nullopt);
}

TEST_F(SummaryTest, ALimitCutsListsAndKeepsTotals) {
  const Summary s = summary(2);
  EXPECT_EQ(s.processes.lines.size(), 2U);
  EXPECT_EQ(s.processes.total, 8U);
  EXPECT_EQ(s.triggers.lines.size(), 2U);
  EXPECT_EQ(s.triggers.total, 10U);
  ASSERT_EQ(s.slowest.lines.size(), 2U);
  EXPECT_EQ(s.slowest.lines[1].event_id, EventRowId(3));
  EXPECT_EQ(s.slowest.total, 8U);
}

TEST(Summary, AnEmptyTraceIsNoError) {
  const test::TemporaryFolder folder;
  test::write_store(folder / "empty.db", "");
  const auto database = test::open_store(folder / "empty.db");
  const auto result = summarize(database);
  ASSERT_TRUE(result) << result.error().what;
  EXPECT_EQ(result->trace.events, 0U);
  EXPECT_EQ(result->trace.events_per_second, 0.0);
  EXPECT_TRUE(result->losses.empty());
  EXPECT_FALSE(result->verify);
}

// A store from elsewhere may refer to rows that are not there and hold numbers that overflow.
TEST(Summary, DanglingIdsAndExtremeTimesAreSurvived) {
  const test::TemporaryFolder folder;
  test::write_store(folder / "odd.db", R"sql(
    INSERT INTO meta VALUES('start_ns', '-9223372036854775808'), ('duration_ns', '9223372036854775807');
    INSERT INTO process(id, pid, ns_pid, parent_id, start_ns, end_ns, exit_code, exit_signal, uses_io_uring) VALUES(-5, NULL, NULL, -5, 9223372036854775807, -9223372036854775808, NULL, NULL, 0);
    INSERT INTO event VALUES
      (1, 9223372036854775807, -1, 'open', 77, 77, 77, -9223372036854775808, 77, 0, 0, 0, 0, 0, 0, NULL),
      (4611686018427387904, -9223372036854775808, 9223372036854775807, '?', -5, -5, -5, -1, -5, 0, 0, 0, 0, 0, 0, NULL);
    INSERT INTO verify VALUES(77, 0, 1, 2, NULL);
    INSERT INTO loss VALUES(0, 0, 'a cause of the future', 77, 5);)sql" +
                                           std::string(test::kCountEvents));
  const auto database = test::open_store(folder / "odd.db");
  const auto result = summarize(database);
  ASSERT_TRUE(result) << result.error().what;
  EXPECT_EQ(result->trace.events, 2U);
  EXPECT_EQ(result->trace.errors, 1U);
  EXPECT_EQ(result->losses[0].cause, "a cause of the future");
  EXPECT_EQ(result->losses[0].meaning, "");
  EXPECT_EQ(result->losses[0].processes[0].pid, std::nullopt);
  EXPECT_EQ(result->verify->differences[0].first_difference, std::nullopt);
}

}  // namespace
}  // namespace uscope::analyzer
