// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "analyzer/diff/diff.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "analyzer/diff/call_traits.h"
#include "tests/unit/analyzer/diff/diff_case.h"

namespace uscope::analyzer {
namespace {

TEST_F(DiffTest, RunsThatDoTheSameDoNotDiffer) {
  three_normal();
  for (int i = 0; i < 3; i++) abnormal({.calls = usual()});
  const Diff found = compared();
  EXPECT_TRUE(found.tested);
  EXPECT_EQ(found.normal_only.total + found.abnormal_only.total + found.changed.total, 0U);
  EXPECT_TRUE(found.warnings.empty()) << found.warnings[0];
}

// What another kernel module logs has its source before its name, and is no call, whatever its name is.
TEST_F(DiffTest, KindsOfOtherSourcesAndAbisAreTold) {
  three_normal();
  auto calls = usual();
  for (const char* kind : {"poll", "select", "getpid"}) calls.push_back({.kind = kind, .function = "work", .count = 9});
  abnormal({.calls = std::move(calls),
            .more_sql = "UPDATE kind SET class = 'stap', abi = 'none' WHERE name = 'poll';"
                        "UPDATE kind SET abi = 'i386' WHERE name = 'select';"});
  const Diff found = compared();
  std::set<std::string> kinds;
  for (const OnlyEntry& entry : found.abnormal_only.entries) kinds.insert(entry.cell.key.kind);
  EXPECT_EQ(kinds, (std::set<std::string>{"stap:poll", "i386:select", "getpid"}));
  EXPECT_TRUE(waits("i386:select"));
  EXPECT_FALSE(waits("stap:poll"));
}

// The dual space of any class. Their time lies within that of calls and gaps, and their results are no errors.
TEST_F(DiffTest, CellsOfProbesAreComparedLikeThoseOfCalls) {
  const auto run = [](int count, double seconds) {
    auto calls = usual();
    calls.push_back({.kind = "sleeping", .function = "work", .count = count, .result = -2, .dur_ns = 100'000'000});
    calls.push_back({.kind = "libc.so.6:read", .function = "work", .count = 9, .dur_ns = -1});
    return MadeRun{.calls = std::move(calls),
                   .seconds = seconds,
                   .more_sql =
                       "UPDATE kind SET class = 'offcpu', abi = 'none' WHERE name = 'sleeping';"
                       "UPDATE kind SET class = 'ufunction', abi = 'none' WHERE name = 'libc.so.6:read';"
                       "DELETE FROM notable_event WHERE event_id IN "
                       "(SELECT e.id FROM event e JOIN kind k ON k.id = e.kind_id WHERE k.class <> 'syscall');"};
  };
  for (int i = 0; i < 3; i++) normal(run(10 + i, 10));
  for (int i = 0; i < 3; i++) abnormal(run(900 + i, 100));
  for (const MatrixBy& by : {MatrixBy{}, MatrixBy{MatrixBy::Space::kDepth, 1}}) {
    options_.by = by;
    const Diff found = compared();
    bool shifted = false;
    for (const ChangedEntry& entry : found.changed.entries) {
      shifted = shifted || (entry.cell.key.kind == "offcpu:sleeping" && entry.cell.what == Shift::kRate);
      EXPECT_NE(entry.cell.what, Shift::kNeverReturned) << entry.cell.key.kind;
    }
    EXPECT_TRUE(shifted);
    for (const TimeEntry& entry : found.places.entries) {
      EXPECT_EQ(entry.shift.place.call.kind.find(':'), std::string::npos) << entry.shift.place.call.kind;
      EXPECT_EQ(entry.shift.place.next.kind.find(':'), std::string::npos) << entry.shift.place.next.kind;
    }
  }
  EXPECT_TRUE(is_call_kind("read"));
  EXPECT_TRUE(is_call_kind("i386:read"));
  for (const char* kind : {"stap:poll", "signal:SIGTERM sent", "sample:user", "ufunction:libc.so.6:read"})
    EXPECT_FALSE(is_call_kind(kind)) << kind;
}

TEST_F(DiffTest, AnErrorThatWasNeverThereIsACellOfItsOwn) {
  three_normal();
  auto calls = usual();
  calls[1].count = 88;
  calls.push_back({.kind = "openat", .function = "open_page", .count = 12, .result = -13, .argument = "/srv/page"});
  calls.push_back({.kind = "writev", .function = "log_error", .count = 12, .argument = "error.log"});
  // The thread had another name before and after.
  const auto named = [](std::int64_t since_ns, const std::string& name) {
    return "INSERT INTO thread_name VALUES(1, " + std::to_string(test::kStart + since_ns) + ", '" + name + "');";
  };
  abnormal({.calls = calls, .more_sql = named(0, "begins") + named(638'500, "opens") + named(651'500, "worker")});
  const Diff found = compared();
  EXPECT_FALSE(found.tested);
  EXPECT_TRUE(warned(found, "not tested"));
  ASSERT_EQ(found.abnormal_only.entries.size(), 2U);
  const OnlyEntry& first = found.abnormal_only.entries[0];
  EXPECT_EQ(first.cell.key, (CellKey{"openat", "open_page", "server"}));
  EXPECT_EQ(first.cell.error, 13);
  EXPECT_EQ(first.cell.events, 12U);
  EXPECT_EQ(first.cell.errors, (std::map<std::int64_t, std::uint64_t>{{13, 12}}));
  EXPECT_EQ(first.example.stack, "main;open_page");
  EXPECT_EQ(first.example.threads, std::vector<std::string>{"opens"});
  EXPECT_EQ(first.example.looked_at, 12U);
  ASSERT_EQ(first.example.strings.size(), 1U);
  EXPECT_EQ(first.example.strings[0].value, "/srv/page");
  EXPECT_EQ(first.example.strings[0].events, 12U);
  // After 88 + 100 + 300 + 50 + 100 events before it, a microsecond each.
  EXPECT_EQ(first.example.first_ns, 639'000);
  EXPECT_EQ(first.example.event_id, EventRowId(639));
  EXPECT_EQ(found.abnormal_only.entries[1].cell.key, (CellKey{"writev", "log_error", "server"}));
  EXPECT_EQ(found.normal_only.total, 0U);
  EXPECT_EQ(found.changed.total, 0U);
}

TEST_F(DiffTest, ErrorsNeverGivenByThatCallComeFirst) {
  auto calls = usual();
  calls.push_back({.kind = "openat", .function = "find_locale", .count = 20, .result = -2});
  for (int i = 0; i < 3; i++) normal({.calls = calls});
  calls.push_back({.kind = "openat", .function = "find_message", .count = 500, .result = -2});
  calls.push_back({.kind = "connect", .function = "ask_other", .count = 1, .result = -111, .argument = "10.0.0.1:80"});
  calls.push_back({.kind = "write", .function = "complain", .count = 5000});
  abnormal({.calls = calls});
  const Diff found = compared();
  ASSERT_EQ(found.abnormal_only.entries.size(), 3U);
  EXPECT_EQ(found.abnormal_only.entries[0].cell.key.function, "ask_other");
  EXPECT_EQ(found.abnormal_only.entries[1].cell.key.function, "find_message");
  EXPECT_EQ(found.abnormal_only.entries[2].cell.key.function, "complain");
}

// A traceback asks isatty() of source files that no normal run has opened; the missing file is the cause.
TEST_F(DiffTest, ErrorsOfNormalWorkExplainNothing) {
  auto calls = usual();
  calls.push_back({.kind = "ioctl", .function = "is_terminal", .count = 90, .result = -25, .argument = "/lib/a.py"});
  calls.push_back({.kind = "lseek", .function = "tell", .count = 4, .result = 0});
  for (int i = 0; i < 3; i++) normal({.calls = calls});
  calls.push_back({.kind = "ioctl", .function = "is_terminal", .count = 60, .result = -25, .argument = "/lib/b.py"});
  calls.push_back({.kind = "lseek", .function = "tell", .count = 100, .result = -29});
  calls.push_back({.kind = "mkdir", .function = "make", .count = 30, .result = -17});
  calls.push_back({.kind = "openat", .function = "load", .count = 1, .result = -2, .argument = "/srv/gone.crt"});
  for (int i = 0; i < 3; i++) abnormal({.calls = calls});
  const Diff found = compared();
  ASSERT_EQ(found.abnormal_only.entries.size(), 4U);
  EXPECT_EQ(found.abnormal_only.entries[0].cell.key.function, "load");
  for (std::size_t i = 1; i < 4; i++) EXPECT_LT(found.abnormal_only.entries[i].cell.score, 1000) << i;
}

// A few errors at the beginning come before the many that they lead to.
TEST_F(DiffTest, TheFirstErrorComesBeforeWhatItLeadsTo) {
  three_normal();
  auto calls = usual();
  calls.insert(calls.begin(), {.kind = "stat", .function = "load", .count = 1, .result = -13});
  calls.push_back({.kind = "unlink", .function = "clean", .count = 40, .result = -2});
  for (int i = 0; i < 3; i++) abnormal({.calls = calls});
  const Diff found = compared();
  ASSERT_EQ(found.abnormal_only.entries.size(), 2U);
  EXPECT_EQ(found.abnormal_only.entries[0].cell.key.function, "load");
}

TEST_F(DiffTest, ConsequencesComeLast) {
  const std::string off = "UPDATE kind SET class = 'offcpu' WHERE name IN ('blocked', 'preempted');";
  const auto run = [&](int blocked, int preempted, int more) {
    MadeRun made{.calls = usual(), .more_sql = off};
    made.calls.push_back({.kind = "blocked", .function = "flush", .count = blocked});
    if (preempted != 0) made.calls.push_back({.kind = "preempted", .function = "flush", .count = preempted});
    made.calls.push_back({.kind = "fsync", .function = "flush", .count = more});
    return made;
  };
  for (int i = 0; i < 3; i++) normal(run(20, 2, 20));
  for (int i = 0; i < 3; i++) abnormal(run(9000, 0, 300));
  Diff found = compared();
  EXPECT_EQ(found.normal_only.total, 0U);  // the machine was busy, or not
  ASSERT_EQ(found.changed.entries.size(), 2U);
  EXPECT_EQ(found.changed.entries[0].cell.key.kind, "fsync");
  EXPECT_EQ(found.changed.entries[1].cell.key.kind, "offcpu:blocked");
}

TEST_F(DiffTest, WhatOnlyOneOfSeveralNormalRunsDoesIsNoLoss) {
  three_normal();
  auto calls = usual();
  calls.push_back({.kind = "fsync", .function = "flush", .count = 40});
  normal({.calls = calls});
  abnormal({.calls = usual()});
  const Diff found = compared();
  EXPECT_EQ(found.normal_only.total, 0U);
  EXPECT_TRUE(warned(found, "1 cell is not reported"));
}

TEST_F(DiffTest, WhatAllNormalRunsDoAndNoAbnormalOneIsALoss) {
  auto calls = usual();
  calls.push_back({.kind = "fsync", .function = "flush", .count = 40});
  for (int i = 0; i < 3; i++) normal({.calls = calls});
  abnormal({.calls = usual()});
  const Diff found = compared();
  ASSERT_EQ(found.normal_only.total, 1U);
  EXPECT_EQ(found.normal_only.entries[0].cell.events, 120U);
  EXPECT_EQ(found.normal_only.entries[0].cell.runs, 3U);
}

TEST_F(DiffTest, RatesAreOfAllRunsAndShiftsBeyondEachOfThem) {
  for (const int count : {20, 30, 40})
    normal({.calls = {{.kind = "read", .count = count}, {.kind = "getpid", .count = 500}}});
  abnormal({.calls = {{.kind = "read", .count = 90}, {.kind = "getpid", .count = 500}}});
  const Diff found = compared();
  ASSERT_EQ(found.changed.total, 1U);
  const ChangedCell& cell = found.changed.entries[0].cell;
  EXPECT_EQ(cell.what, Shift::kRate);
  EXPECT_DOUBLE_EQ(cell.before, 3);
  EXPECT_DOUBLE_EQ(cell.after, 9);
  EXPECT_DOUBLE_EQ(cell.effect, 3);
  EXPECT_DOUBLE_EQ(cell.calls_before, 30);
  EXPECT_DOUBLE_EQ(cell.calls_after, 90);
  EXPECT_FALSE(cell.q);
}

TEST_F(DiffTest, AShiftWithinTheNormalRunsRangeIsNone) {
  for (const int count : {20, 30, 50}) normal({.calls = {{.kind = "read", .count = count}}});
  abnormal({.calls = {{.kind = "read", .count = 90}}});
  EXPECT_EQ(compared().changed.total, 0U);
}

TEST_F(DiffTest, ShiftsOfLessThanTenEventsAreNone) {
  normal({.calls = {{.kind = "read", .count = 9}, {.kind = "write", .count = 10}}});
  abnormal({.calls = {{.kind = "read", .count = 18}, {.kind = "write", .count = 20}}});
  const Diff found = compared();
  ASSERT_EQ(found.changed.total, 1U);
  EXPECT_EQ(found.changed.entries[0].cell.key.kind, "write");
}

TEST_F(DiffTest, ThreeRunsASideAreTested) {
  for (const int off : {-3, 0, 3}) {
    normal({.calls = {{.kind = "read", .count = 100 + off}, {.kind = "getpid", .count = 200 + off}}});
    abnormal({.calls = {{.kind = "read", .count = 300 - off}, {.kind = "getpid", .count = 200 - off}}});
  }
  const Diff found = compared();
  EXPECT_TRUE(found.tested);
  ASSERT_EQ(found.changed.total, 1U);
  const ChangedCell& cell = found.changed.entries[0].cell;
  EXPECT_DOUBLE_EQ(cell.effect, 3);
  ASSERT_TRUE(cell.q);
  EXPECT_LT(*cell.q, 0.001);
}

TEST_F(DiffTest, ThreeRunsASideThatScatterAreNotToldApart) {
  for (const int count : {10, 100, 400}) {
    normal({.calls = {{.kind = "read", .count = count}}});
    abnormal({.calls = {{.kind = "read", .count = count * 4}}});
  }
  EXPECT_EQ(compared().changed.total, 0U);
}

TEST_F(DiffTest, AShortRunsStartIsNoShift) {
  const auto run = [](int reads, double seconds) {
    return MadeRun{.calls = {{.kind = "mmap", .function = "start", .count = 100}, {.kind = "read", .count = reads}},
                   .seconds = seconds};
  };
  normal(run(6000, 60));
  abnormal(run(500, 5));
  const Diff found = compared();
  EXPECT_EQ(found.changed.total, 0U);
  EXPECT_TRUE(warned(found, "differ in length"));
}

TEST_F(DiffTest, RatesByWorkSeeWhatRatesByDurationDoNot) {
  normal({.calls = {{.kind = "accept4", .count = 100}, {.kind = "read", .count = 300}}});
  abnormal({.calls = {{.kind = "accept4", .count = 20},
                      {.kind = "accept4", .count = 50, .result = -24},
                      {.kind = "read", .count = 300}}});
  EXPECT_EQ(std::count_if(compared().changed.entries.begin(), compared().changed.entries.end(),
                          [](const ChangedEntry& entry) { return entry.cell.key.kind == "read"; }),
            0);
  options_.per = {"accept4"};
  const Diff found = compared();
  // Of accept4 itself more fail for each that succeeds.
  ASSERT_EQ(found.changed.entries.size(), 2U);
  const ChangedCell& cell = found.changed.entries[found.changed.entries[0].cell.key.kind == "read" ? 0 : 1].cell;
  EXPECT_EQ(cell.key.kind, "read");
  EXPECT_DOUBLE_EQ(cell.before, 3);
  EXPECT_DOUBLE_EQ(cell.after, 15);
  options_.per = {"listen"};
  auto none = diff(options_);
  ASSERT_FALSE(none);
  EXPECT_NE(none.error().what.find("no successful call of listen"), std::string::npos);
}

TEST_F(DiffTest, SharesOfErrorsThatBothSidesHave) {
  const auto run = [](int failed) {
    return MadeRun{.calls = {{.kind = "stat", .count = 200 - failed}, {.kind = "stat", .count = failed, .result = -2}}};
  };
  for (int i = 0; i < 3; i++) normal(run(10));
  abnormal(run(100));
  const Diff found = compared();
  ASSERT_EQ(found.changed.total, 1U);
  const ChangedCell& cell = found.changed.entries[0].cell;
  EXPECT_EQ(cell.what, Shift::kErrors);
  EXPECT_EQ(cell.error, 2);
  EXPECT_DOUBLE_EQ(cell.before, 0.05);
  EXPECT_DOUBLE_EQ(cell.after, 0.5);
}

TEST_F(DiffTest, CallsThatNeverReturnedAreTold) {
  three_normal();
  usual_and({.kind = "read", .function = "serve", .count = 3, .dur_ns = -1});
  const Diff found = compared();
  ASSERT_EQ(found.abnormal_only.total, 1U);
  EXPECT_TRUE(found.abnormal_only.entries[0].cell.never_returned);
  EXPECT_EQ(found.abnormal_only.entries[0].cell.open, 3U);
  EXPECT_EQ(found.abnormal_only.entries[0].cell.events, 3U);
  EXPECT_EQ(found.abnormal_only.entries[0].example.event_id, EventRowId(651));
}

// One connection: begun, told of by getsockopt, and closed, used or not.
std::vector<MadeCalls> connections(int count, bool used) {
  std::vector<MadeCalls> calls;
  for (int i = 0; i < count; i++) {
    calls.push_back({.kind = "connect", .function = "ask", .result = -115, .argument = "10.0.0.1:80", .a0 = 7});
    calls.push_back({.kind = "write", .function = "log_line", .result = 20, .a0 = 2});
    calls.push_back({.kind = "getsockopt", .function = "ask", .a0 = 7});
    calls.push_back({.kind = "write", .function = "ask", .result = used ? 100 : -11, .a0 = 7});
    calls.push_back({.kind = "close", .function = "ask", .a0 = 7});
  }
  return calls;
}

TEST_F(DiffTest, ConnectionsThatNeverCameAboutAreErrorsOfConnect) {
  for (int i = 0; i < 3; i++) normal({.calls = connections(12, true)});
  abnormal({.calls = connections(12, false)});
  const Diff found = compared();
  ASSERT_FALSE(found.abnormal_only.entries.empty());
  const OnlyEntry& first = found.abnormal_only.entries[0];
  EXPECT_EQ(first.cell.key, (CellKey{"connect", "ask", "server"}));
  EXPECT_EQ(first.cell.error, kUnconnected);
  EXPECT_EQ(first.cell.events, 12U);
  EXPECT_EQ(outcome_name(*first.cell.error), "unconnected");
  ASSERT_EQ(first.example.strings.size(), 1U);
  EXPECT_EQ(first.example.strings[0].value, "10.0.0.1:80");
  EXPECT_EQ(first.example.threads, std::vector<std::string>{"worker"});
  EXPECT_EQ(first.example.event_id, EventRowId(1));
}

// A function that looks for a file in several folders fails in good health too.
TEST_F(DiffTest, AnErrorOfANewFileIsTold) {
  auto calls = usual();
  calls.push_back({.kind = "openat", .function = "open_page", .count = 300, .result = -2, .argument = "/etc/locale"});
  for (int i = 0; i < 3; i++) normal({.calls = calls});
  calls[1].count = 97;
  calls.push_back({.kind = "openat", .function = "open_page", .count = 3, .result = -2, .argument = "/srv/page"});
  abnormal({.calls = calls});
  const Diff found = compared();
  ASSERT_EQ(found.abnormal_only.entries.size(), 1U);
  const OnlyEntry& first = found.abnormal_only.entries[0];
  EXPECT_TRUE(first.new_arguments);
  EXPECT_EQ(first.cell.error, 2);
  EXPECT_EQ(first.cell.events, 3U);
  ASSERT_EQ(first.example.strings.size(), 1U);
  EXPECT_EQ(first.example.strings[0].value, "/srv/page");
  EXPECT_EQ(first.example.event_id, EventRowId(948));
}

TEST_F(DiffTest, NewFilesOfEachRunAreNoSign) {
  const auto run = [](const std::string& file) {
    auto calls = usual();
    calls.push_back({.kind = "openat", .function = "open_page", .count = 30, .result = -2, .argument = file});
    return MadeRun{.calls = calls};
  };
  for (const char* name : {"/tmp/a1", "/tmp/b2", "/tmp/c3"}) normal(run(name));
  for (const char* name : {"/tmp/d4", "/tmp/e5", "/tmp/f6"}) abnormal(run(name));
  EXPECT_EQ(compared().abnormal_only.total, 0U);
}

// A run whose process and thread have another number than the other runs'.
std::string as_task(int number) {
  const std::string text = std::to_string(number);
  return "UPDATE process SET pid = " + text + ", ns_pid = " + text + "; UPDATE thread SET tid = " + text +
         ", ns_tid = " + text + ";";
}

TEST_F(DiffTest, NamesThatHoldTheRunsOwnNumbersAreNoSign) {
  for (const int number : {1001, 1002, 1003}) {
    const std::string name = "/run/server." + std::to_string(number);
    MadeRun run{.calls = usual(), .more_sql = as_task(number)};
    run.calls.push_back({.kind = "unlink", .function = "stop", .count = 20, .result = -2, .argument = name});
    number == 1003 ? abnormal(run) : normal(run);
  }
  Diff found = compared();
  EXPECT_TRUE(found.abnormal_only.entries.empty());
  EXPECT_TRUE(found.changed.entries.empty());
  // What stands out among arguments is told by what is the same in each run.
  MadeRun run{.calls = usual(), .more_sql = as_task(1004)};
  run.calls.push_back(
      {.kind = "unlink", .function = "stop", .count = 100, .result = -2, .argument = "/run/server.1004"});
  options_.abnormal.clear();
  abnormal(run);
  found = compared();
  ASSERT_EQ(found.changed.entries.size(), 1U);
  ASSERT_EQ(found.changed.entries[0].example.strings.size(), 1U);
  EXPECT_EQ(found.changed.entries[0].example.strings[0].value, "/run/server.*");
}

std::string ended(const std::string& columns) {
  return "UPDATE process SET end_ns = 9, " + columns + ";";
}

TEST_F(DiffTest, HowProcessesEndedIsTold) {
  for (int i = 0; i < 2; i++) normal({.calls = usual(), .more_sql = ended("exit_code = 0")});
  abnormal({.calls = usual(), .more_sql = ended("exit_code = 0")});
  EXPECT_TRUE(compared().endings.empty());
  abnormal({.calls = usual(), .more_sql = ended("exit_signal = 11")});
  const Diff found = compared();
  ASSERT_EQ(found.endings.size(), 1U);
  const ChangedEnding& ending = found.endings[0];
  EXPECT_EQ(ending.ending.program, "server");
  EXPECT_EQ(ending.ending.exit_signal, 11);
  EXPECT_EQ(ending.normal.ended, 0U);
  EXPECT_EQ(ending.normal.processes, 2U);
  EXPECT_EQ(ending.abnormal.ended, 1U);
  EXPECT_EQ(ending.abnormal.processes, 2U);
  EXPECT_EQ(ending.abnormal.runs, 1U);
}

TEST_F(DiffTest, EndingsAreInTheOrderOfTheirWeight) {
  normal({.calls = usual(), .more_sql = ended("exit_code = 0")});
  abnormal({.calls = usual(), .more_sql = ended("exit_code = 3")});
  abnormal({.calls = usual(), .more_sql = ended("exit_signal = 9")});
  abnormal({.calls = usual()});  // still runs
  const Diff found = compared();
  ASSERT_EQ(found.endings.size(), 4U);
  EXPECT_EQ(found.endings[0].ending.exit_signal, 9);
  EXPECT_EQ(found.endings[1].ending.exit_code, 3);
  EXPECT_FALSE(found.endings[2].ending.exit_code);
  EXPECT_EQ(found.endings[3].ending.exit_code, 0);
  EXPECT_EQ(found.endings[3].normal.ended, 1U);
}

TEST_F(DiffTest, FewerBytesOfAsManyCallsAreTold) {
  for (const auto space : {MatrixBy::Space::kFunction, MatrixBy::Space::kDepth}) {
    options_ = {};
    options_.by = {space, 2};
    for (const std::int64_t bytes : {4000, 4400, 400}) {
      auto calls = usual();
      calls.push_back({.kind = "sendto", .function = "reply", .count = 100, .result = bytes});
      calls.push_back({.kind = "lseek", .function = "seek", .count = 100, .result = bytes});  // moves none
      bytes == 400 ? abnormal({.calls = calls}) : normal({.calls = calls});
    }
    const Diff found = compared();
    ASSERT_EQ(found.changed.entries.size(), 1U);
    const ChangedCell& cell = found.changed.entries[0].cell;
    EXPECT_EQ(cell.what, Shift::kBytes);
    EXPECT_EQ(cell.key.kind, "sendto");
    EXPECT_NEAR(cell.before, 4195, 1);
    EXPECT_NEAR(cell.after, 400, 0.1);
  }
}

TEST_F(DiffTest, BytesAreToldByFile) {
  constexpr const char* kDescriptors = "UPDATE event_string SET arg = 0, source = 2;";
  for (const int count : {50, 55, 5}) {
    MadeRun run{.calls = {{.kind = "read", .count = 100, .result = 1000, .argument = "/srv/same"},
                          {.kind = "read", .count = count, .result = 1000, .argument = "/srv/less"},
                          {.kind = "write", .count = 100, .result = 1, .argument = "/srv/little"},
                          {.kind = "lseek", .count = count, .result = 100000, .argument = "/srv/none"}},
                .more_sql = kDescriptors};
    if (count == 5)
      run.calls.push_back({.kind = "pwrite64", .result = 8192, .argument = "socket:[to inet:1.2.3.4:55555]"});
    count == 5 ? abnormal(run) : normal(run);
  }
  const Diff found = compared();
  ASSERT_EQ(found.objects.entries.size(), 2U);
  EXPECT_EQ(found.objects.entries[0].object, "socket:[to inet:1.2.3.4:*]");
  EXPECT_EQ(found.objects.entries[0].direction, Direction::kWritten);
  EXPECT_EQ(found.objects.entries[0].before, 0);
  EXPECT_EQ(found.objects.entries[0].after, 8192);
  EXPECT_EQ(found.objects.entries[1].object, "/srv/less");
  EXPECT_EQ(found.objects.entries[1].direction, Direction::kRead);
  EXPECT_EQ(found.objects.entries[1].before, 52500);
  EXPECT_EQ(found.objects.entries[1].after, 5000);
}

TEST_F(DiffTest, NamelessFunctionsAreTheirOffsetsInTheSameBuild) {
  normal({.calls = {{.function = "server+0x1000", .count = 20}}});
  abnormal({.calls = {{.function = "server+0x1000", .count = 20}, {.function = "server+0x2000", .count = 20}}});
  const Diff found = compared();
  ASSERT_EQ(found.abnormal_only.total, 1U);
  EXPECT_EQ(found.abnormal_only.entries[0].cell.key.function, "server+0x2000");
  EXPECT_FALSE(warned(found, "builds"));
}

TEST_F(DiffTest, NamelessFunctionsOfOtherBuildsAreOne) {
  normal({.calls = {{.function = "server+0x1000", .count = 20}, {.function = "named.part.0", .count = 9}}});
  abnormal({.calls = {{.function = "server+0x1040", .count = 22}, {.function = "named", .count = 9}},
            .module = {"/usr/sbin/server", "bb"}});
  const Diff found = compared();
  EXPECT_EQ(found.abnormal_only.total + found.normal_only.total + found.changed.total, 0U);
  EXPECT_TRUE(warned(found, "different builds of server"));
}

TEST_F(DiffTest, ModulesAreRenamed) {
  normal({.calls = {{.count = 20}}, .module = {"/usr/sbin/server-1.0", "aa"}});
  abnormal({.calls = {{.count = 20}}, .module = {"/usr/sbin/server-1.1", "bb"}});
  EXPECT_EQ(compared().abnormal_only.total, 1U);
  options_.names = {{"server-1.0", "server-1.1"}};
  EXPECT_EQ(compared().abnormal_only.total, 0U);
}

TEST_F(DiffTest, ByDepthCallersTellCellsApart) {
  normal({.calls = {{.count = 20, .caller = "one"}}});
  abnormal({.calls = {{.count = 20, .dur_ns = 7000, .caller = "one"}, {.count = 15, .caller = "two"}}});
  EXPECT_EQ(compared().abnormal_only.total, 0U);
  options_.by = {MatrixBy::Space::kDepth, 2};
  const Diff found = compared();
  ASSERT_EQ(found.abnormal_only.total, 1U);
  EXPECT_EQ(found.abnormal_only.entries[0].cell.key, (CellKey{"read", "work < two", "server"}));
  EXPECT_EQ(found.abnormal_only.entries[0].cell.events, 15U);
  EXPECT_EQ(found.abnormal_only.entries[0].example.stack, "two;work");
  ASSERT_EQ(found.changed.total, 1U);
  EXPECT_EQ(found.changed.entries[0].cell.what, Shift::kLatency);
  options_.by = {MatrixBy::Space::kPath, 1};
  EXPECT_EQ(compared().abnormal_only.total, 0U);
}

TEST_F(DiffTest, WhatMakesRunsHardToCompareIsSaid) {
  normal({.calls = usual()});
  abnormal({.calls = {},
            .meta = {{"mode", "1"},
                     {"frames", "5"},
                     {"calls", "%file"},
                     {"target", "other"},
                     {"app_modules", "[\"x\"]"},
                     {"signals", "1"}},
            .programs = {"server", "cleaner"}});
  abnormal({.calls = usual(),
            .meta = {{"complete", "0"}},
            .more_sql = "INSERT INTO loss VALUES(1, 2, 'ring_full_event', 1, 1234), (1, 2, 'verify_skipped', 1, 9);"});
  const Diff found = compared();
  EXPECT_TRUE(warned(found, "is empty"));
  EXPECT_TRUE(warned(found, "ring_full_event 1,234"));
  EXPECT_FALSE(warned(found, "verify_skipped"));
  EXPECT_TRUE(warned(found, "different modes"));
  EXPECT_TRUE(warned(found, "budgets of frames"));
  EXPECT_TRUE(warned(found, "different calls"));
  EXPECT_TRUE(warned(found, "different targets"));
  EXPECT_TRUE(warned(found, "--app-module"));
  EXPECT_TRUE(warned(found, "--signals"));
  EXPECT_FALSE(warned(found, "--follow"));
}

TEST_F(DiffTest, MissingStacksAreSaidThoughNoEventIsMissing) {
  normal({.calls = usual()});
  abnormal({.calls = usual(),
            .more_sql = "INSERT INTO loss VALUES(1, 2, 'deferred_ring', 1, 5), (1, 2, 'ring_full_string', 1, 6);"});
  const Diff found = compared();
  EXPECT_TRUE(warned(found, "deferred_ring 5"));
  EXPECT_FALSE(warned(found, "ring_full_string"));
  EXPECT_EQ(found.abnormal[0].lost, 0U);
}

TEST_F(DiffTest, ProgramsOfOneSideAreSaid) {
  normal({.calls = usual(), .programs = {"server", "helper"}});
  abnormal({.calls = usual(), .programs = {"server", "cleaner"}});
  const Diff found = compared();
  EXPECT_TRUE(warned(found, "in every normal run and in no abnormal one: helper"));
  EXPECT_TRUE(warned(found, "in abnormal runs only: cleaner"));
}

TEST_F(DiffTest, ListsAreCutAndSaySo) {
  three_normal();
  auto calls = usual();
  for (int i = 0; i < 7; i++) calls.push_back({.kind = "fsync", .function = "f" + std::to_string(i), .count = 10 + i});
  abnormal({.calls = calls});
  options_.lines = 3;
  const Diff found = compared();
  EXPECT_EQ(found.abnormal_only.total, 7U);
  ASSERT_EQ(found.abnormal_only.entries.size(), 3U);
  // All about as many: what came first comes first.
  EXPECT_EQ(found.abnormal_only.entries[0].cell.key.function, "f0");
  EXPECT_TRUE(warned(found, "the list of what is only in abnormal runs is cut to the first 3 of 7"));
}

TEST(MedianOfSteps, IsWithinItsStep) {
  EXPECT_DOUBLE_EQ(median_of_steps({}), 0);
  EXPECT_DOUBLE_EQ(median_of_steps({{0, 4}}), 0);
  // Steps end at 7 and 9: ten calls above 7, evenly spread up to 9, none below: the middle is 8.
  EXPECT_DOUBLE_EQ(median_of_steps({{9, 10}}), 8);
  EXPECT_DOUBLE_EQ(median_of_steps({{9, 5}, {1, 10}, {9, 5}}), 1);
}

}  // namespace
}  // namespace uscope::analyzer
