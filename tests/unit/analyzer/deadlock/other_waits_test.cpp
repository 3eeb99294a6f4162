// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// What threads wait in where it is no futex.
#include "tests/unit/analyzer/deadlock/diagnosis_test.h"

namespace uscope::test {
namespace {

using OtherWaits = DeadlockTest;

MadeThread inside(int tid, const std::string& call, const std::string& object, double waited = 10) {
  MadeThread thread = elsewhere(tid, "t", call);
  thread.a0 = 3;
  thread.object = object;
  thread.waited = waited;
  return thread;
}

TEST_F(OtherWaits, AreListedWhereNoFutexIsWaitedFor) {
  HungTrace trace{.threads = {inside(100, "epoll_wait", "anon_inode:[eventpoll]", 5),
                              inside(101, "read", "/tmp/fifo", 12), running(102, "r")}};
  trace.threads[1].doubtful = true;
  trace.threads[1].how = "attached";
  const Diagnosis diagnosis = diagnose(trace);
  EXPECT_EQ(diagnosis.verdict, Verdict::kNone);
  EXPECT_EQ(diagnosis.reason,
            "no thread waits for a futex at the end, but 2 threads wait in other calls, which may be what hangs");
  ASSERT_EQ(diagnosis.other_waits.size(), 2U);
  const auto& read = diagnosis.other_waits[0];
  EXPECT_EQ(read.call, "read");
  EXPECT_EQ(read.object.name, "/tmp/fifo");
  EXPECT_TRUE(read.object.doubtful);
  EXPECT_EQ(read.object.number, 3);
  EXPECT_EQ(read.function, "serve");
  ASSERT_EQ(read.threads.size(), 1U);
  EXPECT_EQ(read.threads[0].pid, 100);
  EXPECT_EQ(read.threads[0].tid, 101);
  EXPECT_EQ(read.threads[0].process, "app");
  EXPECT_EQ(read.threads[0].waited_ns, 12'000'000'000);
  EXPECT_TRUE(read.threads[0].at_least);
  EXPECT_EQ(diagnosis.other_waits[1].call, "epoll_wait");
  EXPECT_FALSE(diagnosis.other_waits[1].object.doubtful);
}

TEST_F(OtherWaits, OfAPoolAreOne) {
  HungTrace trace;
  for (int tid = 100; tid < 130; tid++)
    trace.threads.push_back(inside(tid, "epoll_wait", "anon_inode:[eventpoll]", tid == 110 ? 20 : 10));
  trace.threads.push_back(inside(130, "epoll_wait", "other"));
  const Diagnosis diagnosis = diagnose(trace);
  ASSERT_EQ(diagnosis.other_waits.size(), 2U);
  ASSERT_EQ(diagnosis.other_waits[0].threads.size(), 30U);
  EXPECT_EQ(diagnosis.other_waits[0].threads[0].tid, 110);
  EXPECT_EQ(diagnosis.other_waits[0].threads[1].tid, 100);
}

// All of a server's waits may go through one function: who called that is what tells them apart.
TEST_F(OtherWaits, WithOtherCallersAreApart) {
  HungTrace trace{
      .threads = {inside(100, "epoll_wait", "e"), inside(101, "epoll_wait", "e"), inside(102, "epoll_wait", "e")}};
  for (auto& thread : trace.threads)
    thread.stack = {{"epoll_wait"}, {"wait_event", "app"}, {"app+0x467980", "app"}, {"idle", "app"}, {"main", "app"}};
  trace.threads[1].stack[3] = {"lock_row", "app"};
  const Diagnosis diagnosis = diagnose(trace);
  ASSERT_EQ(diagnosis.other_waits.size(), 2U);
  EXPECT_EQ(diagnosis.other_waits[0].threads.size(), 2U);
  EXPECT_EQ(application_chain(diagnosis.other_waits[1].stack), (std::vector<std::string>{"wait_event", "lock_row"}));
}

TEST_F(OtherWaits, AreListedBesideADeadlock) {
  const Diagnosis diagnosis = diagnose(abba());
  EXPECT_EQ(diagnosis.verdict, Verdict::kDeadlock);
  ASSERT_EQ(diagnosis.other_waits.size(), 1U);
  EXPECT_EQ(diagnosis.other_waits[0].call, "poll");
}

TEST_F(OtherWaits, OfAProcessThatWasKilledBeforeTheEndAreNone) {
  HungTrace trace{.threads = {inside(100, "read", "/a"), inside(201, "read", "/b", 2)},
                  .processes = {MadeProcess{}, MadeProcess{.pid = 200, .ended = 5}}};
  trace.threads[1].process = 2;
  trace.threads[1].how = "killed";
  trace.threads[1].ended = 5;
  const Diagnosis diagnosis = diagnose(trace);
  ASSERT_EQ(diagnosis.other_waits.size(), 1U);
  EXPECT_EQ(diagnosis.other_waits[0].object.name, "/a");
}

TEST_F(OtherWaits, ForAChildNameIt) {
  HungTrace trace{.threads = {inside(100, "wait4", "")}};
  trace.threads[0].a0 = 4711;
  EXPECT_EQ(diagnose(trace).other_waits.at(0).object.name, "process 4711");
  trace.threads[0].a0 = static_cast<std::uint64_t>(-1);
  EXPECT_EQ(diagnose(trace).other_waits.at(0).object.name, "");
}

TEST_F(OtherWaits, AreNoneWhereNobodyIsInACall) {
  const Diagnosis diagnosis = diagnose({.threads = {running(100, "main")}});
  EXPECT_TRUE(diagnosis.other_waits.empty());
  EXPECT_EQ(diagnosis.reason, "no thread waits for a futex at the end");
}

}  // namespace
}  // namespace uscope::test
