// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// Hits of probes in a store: samples, times off the CPU, tracepoints, functions.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "tests/support/frame_word.h"
#include "tests/unit/store/load_support.h"
#include "trace/hit.h"

namespace uscope::store {
namespace {

usc_hit hit_of(usc_source source, std::uint32_t kind, std::uint64_t entry, std::vector<std::uint64_t> args = {},
               std::uint32_t stack = 0, usc_how how = USC_HOW_HIT) {
  usc_hit hit{};
  hit.source = source;
  hit.kind = kind;
  hit.entry_ns = entry;
  hit.how = how;
  hit.stack = stack;
  hit.image = 1;
  hit.flags = USC_EVENT_NO_RESULT;
  std::copy(args.begin(), args.end(), std::begin(hit.args));
  return hit;
}

class HitsTest : public LoaderTest {
 protected:
  // Two frames, of libc and of the application; a sample in the kernel, a time off the CPU in a call of read, and a
  // function that failed there.
  void with_hits() {
    usual();
    trace_->stack(7, {test::frame_word(3, 0x1010, true), test::frame_word(2, 0x1020, false)});
    trace_->place(1, "vmlinux+0x123 vfs_read+0x23");
    trace_->kind(USC_SOURCE_SAMPLE, USC_SAMPLE_USER, "user", {"cpu:unsigned int", "period_ns:u64"});
    trace_->kind(USC_SOURCE_SAMPLE, USC_SAMPLE_KERNEL, "kernel", {"cpu:unsigned int", "period_ns:u64"});
    trace_->kind(USC_SOURCE_OFFCPU, USC_OFFCPU_SLEEPING, "sleeping",
                 {"waker_tid:pid_t", "waker_pid:pid_t", "queued_ns:u64", "state:unsigned int"});
    trace_->kind(USC_SOURCE_UFUNCTION, 1, "libc.so.6:read", {"fd:int", "buffer:void *", "path:const char *"});
    trace_->hit(1, kStart + 20, hit_of(USC_SOURCE_SAMPLE, USC_SAMPLE_KERNEL, kStart + 20, {1, 10101010}, 7), {1});
    trace_->hit(1, kStart + 90,
                hit_of(USC_SOURCE_OFFCPU, USC_OFFCPU_SLEEPING, kStart + 40, {9, 8, 3, 1}, 7, USC_HOW_RETURNED), {1});
    usc_hit function = hit_of(USC_SOURCE_UFUNCTION, 1, kStart + 10, {3, 0x7000, 0x9000}, 7, USC_HOW_RETURNED);
    function.flags = 0;
    function.result = -2;
    trace_->string(1, kStart + 10, 2, "/etc/passwd");
    trace_->hit(1, kStart + 100, function);
    trace_->event({.entry = kStart + 30, .end = kStart + 95, .result = -2, .nr = 0, .stack = 7});
  }
};

TEST_F(HitsTest, AreEventsOfTheirOwnClasses) {
  with_hits();
  load();
  EXPECT_EQ(rows("SELECT kind, class, ts_ns - 1000000000000, dur_ns, how, result, errno, a0, a1, \"trigger\" FROM "
                 "v_event ORDER BY id"),
            "libc.so.6:read|ufunction|10|90|returned|-2|-|3|28672|f401020\n"
            "kernel|sample|20|-|hit|-|-|1|10101010|f401020\n"
            "read|syscall|30|65|returned|-2|ENOENT|0|0|f401020\n"
            "sleeping|offcpu|40|50|returned|-|-|9|8|f401020");
  EXPECT_EQ(rows("SELECT folded FROM v_event WHERE class = 'sample'"), "f401020;f401010!;vfs_read_[k]");
  EXPECT_EQ(
      rows("SELECT space, function FROM stack_frame JOIN frame ON frame.id = frame_id JOIN event USING (stack_id) "
           "WHERE how = 'hit' ORDER BY position"),
      "kernel|vfs_read\nuser|f401010!\nuser|f401020");
  EXPECT_EQ(rows("SELECT count(*) FROM loss WHERE cause <> 'cut_off'"), "0");
}

TEST_F(HitsTest, AnArgumentThatCouldNotBeReadIsNotKnown) {
  usual();
  trace_->kind(USC_SOURCE_USDT, 1, "p:probe", {"a:int", "b:int", ":int"});
  usc_hit hit = hit_of(USC_SOURCE_USDT, 1, kStart + 10, {3, 0, 0}, 0);
  hit.unread = 1U << 1U;
  trace_->hit(1, kStart + 10, hit);
  load();
  EXPECT_EQ(rows("SELECT a0, a1, a2 FROM event JOIN kind ON kind.id = kind_id WHERE class = 'usdt'"), "3|-|0");
}

TEST_F(HitsTest, ArgumentsHaveNamesAndTypes) {
  with_hits();
  load();
  EXPECT_EQ(rows("SELECT kind.name, arg, kind_argument.name, type FROM kind_argument JOIN kind ON kind.id = kind_id "
                 "WHERE class = 'ufunction'"),
            "libc.so.6:read|0|fd|int\nlibc.so.6:read|1|buffer|void *\nlibc.so.6:read|2|path|const char *");
  EXPECT_EQ(rows("SELECT v_argument.name, v_argument.type, value, text FROM v_argument JOIN v_event ON v_event.id = "
                 "event_id WHERE class = 'ufunction' ORDER BY arg"),
            "fd|int|3|-\nbuffer|void *|28672|-\npath|const char *|36864|/etc/passwd");
  EXPECT_EQ(rows("SELECT sum(value) FROM v_argument WHERE name = 'period_ns'"), "10101010");
  EXPECT_EQ(rows("SELECT count(*) FROM kind WHERE name = 'user'"), "0") << "it has no event";
}

TEST_F(HitsTest, ResultsHaveTypes) {
  with_hits();
  trace_->kind(USC_SOURCE_UFUNCTION, 1, "libc.so.6:read", {"return:ssize_t"});
  trace_->kind(USC_SOURCE_KFUNCTION, 1, "vfs_read", {});
  trace_->hit(1, kStart + 40, hit_of(USC_SOURCE_KFUNCTION, 1, kStart + 40));
  load();
  EXPECT_EQ(rows("SELECT name, type, (SELECT count(*) FROM kind_argument WHERE kind_id = kind.id) FROM kind LEFT JOIN "
                 "kind_result ON kind_id = id WHERE class LIKE '_function' ORDER BY 1"),
            "libc.so.6:read|ssize_t|3\nvfs_read|-|0");
}

// Results of functions are no error numbers, and what lasts is no call that was slow, or that never returned.
TEST_F(HitsTest, WhatIsOfCallsLeavesThemAlone) {
  with_hits();
  trace_->hit(1, kStart + 300, hit_of(USC_SOURCE_OFFCPU, USC_OFFCPU_SLEEPING, kStart + 200, {}, 7, USC_HOW_OPEN));
  load();
  EXPECT_EQ(
      rows("SELECT class, events, errors, total_ns, open FROM cell JOIN kind ON kind.id = kind_id ORDER BY class"),
      "offcpu|2|0|50|1\nsample|1|0|0|0\nsyscall|1|1|65|0\nufunction|1|0|90|0");
  EXPECT_EQ(rows("SELECT class, events FROM error_cell JOIN kind ON kind.id = kind_id"), "syscall|1");
  EXPECT_EQ(rows("SELECT class, up_to_ns, latency.events FROM latency JOIN kind ON kind.id = kind_id ORDER BY class"),
            "offcpu|50|1\nsyscall|65|1\nufunction|90|1");
  EXPECT_EQ(rows("SELECT list, kind FROM notable_event JOIN v_event ON v_event.id = event_id"), "slowest|read");
  EXPECT_EQ(rows("SELECT events, errors, total_ns, wait_ns, gaps, gap_ns FROM thread_total"), "5|1|65|0|1|30");
  EXPECT_EQ(rows("SELECT kind, class, function, events FROM dual_space WHERE class <> 'syscall' ORDER BY 1"),
            "kernel|sample|f401020|1\nlibc.so.6:read|ufunction|f401020|1\nsleeping|offcpu|f401020|2");
}

TEST_F(HitsTest, AnOpenOneThatEndedIsOneEvent) {
  with_hits();
  trace_->hit(1, kStart + 60, hit_of(USC_SOURCE_OFFCPU, USC_OFFCPU_SLEEPING, kStart + 40, {}, 7, USC_HOW_OPEN));
  trace_->hit(1, kStart + 999, hit_of(USC_SOURCE_OFFCPU, USC_OFFCPU_SLEEPING, kStart + 500, {}, 7, USC_HOW_OPEN));
  load();
  EXPECT_EQ(rows("SELECT ts_ns - 1000000000000, dur_ns, how FROM v_event WHERE class = 'offcpu' ORDER BY id"),
            "40|50|returned\n500|-|open");
}

// Strings name no source: in one moment of a thread, they are the call's.
TEST_F(HitsTest, StringsAreOfTheCallWhereThereIsOne) {
  with_hits();
  trace_->event({.entry = kStart + 400, .end = kStart + 410, .nr = 2});
  trace_->hit(1, kStart + 400, hit_of(USC_SOURCE_UFUNCTION, 1, kStart + 400));
  trace_->string(1, kStart + 400, 0, "of the call");
  trace_->string(1, kStart + 500, 0, "of nobody");
  load();
  EXPECT_EQ(rows("SELECT kind, class, value FROM event_string JOIN v_event ON v_event.id = event_id JOIN string ON "
                 "string.id = string_id ORDER BY event_id"),
            "libc.so.6:read|ufunction|/etc/passwd\nopen|syscall|of the call");
}

TEST_F(HitsTest, KindsThatWereNotToldHaveNumbers) {
  usual();
  trace_->hit(1, kStart + 20, hit_of(USC_SOURCE_TRACEPOINT, 5, kStart + 20, {1, 2}));
  load();
  EXPECT_EQ(rows("SELECT kind.name, class, abi, nr, stack_id FROM event JOIN kind ON kind.id = kind_id"),
            "tracepoint_5|tracepoint|none|5|-");
}

TEST_F(HitsTest, KindsBeyondTheBoundAreOneOfEachSource) {
  usual();
  for (std::uint32_t kind = 1; kind <= trace::KindTable::kMost + 5; kind++)
    trace_->hit(1, kStart + kind, hit_of(USC_SOURCE_KFUNCTION, kind, kStart + kind));
  trace_->hit(1, kStart + 100'000, hit_of(USC_SOURCE_USDT, 1, kStart + 100'000));
  trace_->event({.entry = kStart + 100'001, .end = kStart + 100'002});
  load();
  EXPECT_EQ(
      rows("SELECT kind, class, count(*) FROM v_event WHERE kind NOT GLOB 'kfunction_[0-9]*' GROUP BY 1, 2 ORDER BY 1"),
      "getpid|syscall|1\nkfunction_other|kfunction|5\nusdt_other|usdt|1");
}

}  // namespace
}  // namespace uscope::store
