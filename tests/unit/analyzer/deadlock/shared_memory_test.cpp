// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// Futexes that several processes reach: through a shared file, or in one address space.
#include "tests/unit/analyzer/deadlock/diagnosis_test.h"

namespace uscope::test {
namespace {

class SharedTest : public DeadlockTest {
 protected:
  static HungTrace two(int untraced_sharers) {
    HungTrace trace{.threads = {mutex_waiter(100, "parent", kA, 200), mutex_waiter(200, "child", kB, 100)},
                    .processes = {{.pid = 100}, {.pid = 200, .parent = 1}}};
    trace.threads[1].process = 2;
    share(trace, untraced_sharers);
    return trace;
  }
  static void share(HungTrace& trace, int untraced_sharers) {
    for (MadeThread& thread : trace.threads) {
      thread.op &= ~128U;
      thread.key = "file:1:2049:0x" + std::to_string(thread.address % 0x10000);
      thread.untraced_sharers = untraced_sharers;
      thread.open = 0;
    }
  }
  // Process i is number i + 1 in a namespace of its own.
  static void contain(HungTrace& trace) {
    for (std::size_t i = 0; i < trace.threads.size(); i++) {
      trace.threads[i].ns_tid = static_cast<int>(i + 1);
      trace.processes[i].ns_pid = static_cast<int>(i + 1);
      trace.threads[i].words[8] = static_cast<std::uint32_t>(i == 0 ? 2 : 1);
    }
  }
};

TEST_F(SharedTest, LocksBetweenProcessesCloseACircle) {
  expect(two(0), FindingType::kCycle, {100, 200});
  expect_none(two(1));  // who else has it may be in another namespace, and meant by the numbers
  HungTrace own = two(0);
  for (MadeThread& thread : own.threads) {
    thread.key.reset();
    thread.op |= 128U;
  }
  const Diagnosis diagnosis = diagnose(own);  // private: the tids mean threads of each one's own process
  for (const auto& finding : diagnosis.findings) EXPECT_EQ(finding.type, FindingType::kOwnerGone);
  HungTrace unknown = two(0);
  for (MadeThread& thread : unknown.threads) thread.key = "";
  expect_none(unknown);
}

TEST_F(SharedTest, TidsAreThoseOfOneNamespace) {
  HungTrace trace = two(0);
  contain(trace);
  expect(trace, FindingType::kCycle, {100, 200});
  HungTrace strange = trace;
  strange.processes[1].parent = 0;  // of another container, maybe
  expect_none(strange);
  HungTrace mixed = two(0);
  mixed.processes[1].ns_pid = 2;  // the child's 2 means nothing to the parent, nor the parent's 100 to the child
  mixed.threads[1].ns_tid = 2;
  mixed.threads[0].words[8] = 2;
  expect_none(mixed);
}

// Two that are 1 in a namespace of their own: the number says of neither that it is the owner.
TEST_F(SharedTest, ANumberThatTwoHaveSaysNothing) {
  HungTrace trace{.threads = {elsewhere(100, "holder", "clock_nanosleep"), mutex_waiter(200, "taker", kA, 1)},
                  .processes = {{.pid = 100, .ns_pid = 1}, {.pid = 200, .ns_pid = 1, .parent = 0}}};
  trace.threads[1].process = 2;
  share(trace, 0);
  for (MadeThread& thread : trace.threads) thread.ns_tid = 1;
  expect_none(trace);
  trace.processes[1].parent = 1;
  expect_none(trace);
  trace.threads[0] = mutex_waiter(100, "holder", kB, 1);  // nor where both wait: each may have its own
  trace.threads[0].ns_tid = 1;
  share(trace, 0);
  expect_none(trace);
}

// Who has not come yet can open a file by its name.
TEST_F(SharedTest, AFileWithANameIsOpenToAnybody) {
  HungTrace trace{.threads = {sem_waiter(100, "server", kA)}};
  share(trace, 0);
  expect(trace, FindingType::kLostWakeup, {100});
  trace.threads[0].open = 1;
  expect_none(trace, "outside of what was traced");
  trace.threads[0].open.reset();
  expect_none(trace);
}

TEST_F(SharedTest, AnOwnerIsGoneOnlyWhereAllWhoHaveTheFutexAreKnown) {
  HungTrace trace{.threads = {mutex_waiter(100, "parent", kA, 200)}};
  share(trace, 0);
  expect(trace, FindingType::kOwnerGone, {100});
  share(trace, 1);
  expect_none(trace, "outside of what was traced");
  trace.threads[0].untraced_sharers.reset();
  expect_none(trace);
}

TEST_F(SharedTest, AStallIsOneOfAllProcesses) {
  HungTrace trace{.threads = {sem_waiter(100, "parent", kA), sem_waiter(200, "child", kB)},
                  .processes = {{.pid = 100}, {.pid = 200, .parent = 1}}};
  trace.threads[1].process = 2;
  share(trace, 0);
  expect(trace, FindingType::kStall, {100, 200});
  HungTrace reads = trace;
  reads.threads[1] = elsewhere(200, "child", "read");
  reads.threads[1].process = 2;
  expect_none(reads);
  HungTrace known_outside = trace;
  share(known_outside, 2);
  expect_none(known_outside);
}

// A waker of a shared condition variable is known by the key, at whatever address it has it.
TEST_F(SharedTest, WakesAreFoundByTheKey) {
  HungTrace trace{.threads = {cond_waiter(100, "waiter", 0x1028), mutex_waiter(200, "waker", 0x2000, 100),
                              elsewhere(300, "other", "poll")},
                  .wakes = {{.tid = 200, .address = 0x77000028, .key = "file:1:5:0x2c"}},
                  .processes = {{.pid = 100}, {.pid = 200, .parent = 1}, {.pid = 300, .parent = 1}}};
  trace.threads[1].process = 2;
  trace.threads[2].process = 3;
  share(trace, 0);
  trace.threads[0].key = "file:1:5:0x28";
  expect_weak(trace, FindingType::kCycle, {100, 200});
  trace.wakes[0].key = "file:1:6:0x2c";
  expect_none(trace);
}

// A handler of one process may post what another one that reaches it waits for.
TEST_F(SharedTest, AHandlerOfAnotherProcessMayPost) {
  HungTrace trace{.threads = {sem_waiter(100, "parent", kA), mutex_waiter(200, "child", kB, 200)},
                  .processes = {{.pid = 100}, {.pid = 200, .parent = 1}}};
  trace.threads[1].process = 2;
  share(trace, 0);
  EXPECT_NE(diagnose(trace).verdict, Verdict::kNone);
  trace.threads[1].handlers = 1;
  for (const auto& finding : diagnose(trace).findings) {
    for (const auto& thread : finding.threads) EXPECT_NE(thread.tid, 100) << finding.explanation;
  }
}

// Processes with one address space: a child of vfork, or of clone with CLONE_VM.
class SpaceTest : public DeadlockTest {
 protected:
  // The parent's first thread made the child, which waits for the mutex that its second thread has.
  static HungTrace child_waits(const MadeThread& maker, const MadeThread& holder) {
    HungTrace trace{.threads = {maker, holder, mutex_waiter(200, "child", kA, 101)},
                    .processes = {{.pid = 100, .space = 7}, {.pid = 200, .parent = 1, .space = 7, .executed = false}}};
    trace.threads[2].process = 2;
    return trace;
  }
};

TEST_F(SpaceTest, AThreadOfTheParentMayRelease) {
  expect_none(child_waits(elsewhere(100, "main", "wait4"), elsewhere(101, "holder", "clock_nanosleep")),
              "holder` waits in clock_nanosleep");
  expect_none(child_waits(elsewhere(100, "main", "vfork"), elsewhere(101, "holder", "clock_nanosleep")));
  HungTrace post = child_waits(elsewhere(100, "main", "wait4"), elsewhere(101, "holder", "clock_nanosleep"));
  post.threads[2] = sem_waiter(200, "child", kA);
  post.threads[2].process = 2;
  expect_none(post);
  post.processes[1].space = 8;  // a copy: then nobody else has it
  expect(post, FindingType::kLostWakeup, {200});
}

TEST_F(SpaceTest, AParentInVforkWaitsForItsChild) {
  HungTrace trace = child_waits(elsewhere(100, "main", "vfork"), mutex_waiter(101, "holder", kB, 100));
  trace.more_sql = "UPDATE process SET start_ns = " + std::to_string(kStart + 22'000'000'000) + " WHERE pid = 200;";
  // The child goes on with its parent's thread structure: whose the numbers are is not known.
  expect(trace, FindingType::kStall, {101, 200});
  trace.threads[0].call = "clone3";
  expect(trace, FindingType::kStall, {101, 200});
  trace.threads[0].call = "clone";  // without CLONE_VFORK
  expect_none(trace);
  trace.threads[0].call = "vfork";
  HungTrace other = trace;
  other.more_sql.clear();  // a child that it made before
  expect_none(other);
  trace.threads[2] = elsewhere(200, "child", "read");
  trace.threads[2].process = 2;
  expect_none(trace);
}

TEST_F(SpaceTest, WhoEndedBeforeCannotRelease) {
  HungTrace trace = child_waits(joiner(100, "main", 101), sem_waiter(101, "waiter", kB));
  trace.threads[2] = running(200, "child");
  trace.threads[2].process = 2;
  expect_none(trace);
  trace.processes[1].ended = 20;
  trace.threads[2].ended = 20;
  expect(trace, FindingType::kLostWakeup, {101});
}

TEST_F(SpaceTest, AProcessThatIsNotTracedMayHaveTheMemory) {
  HungTrace trace{.threads = {mutex_waiter(100, "main", kA, 90)}};
  expect(trace, FindingType::kOwnerGone, {100});
  trace.threads[0].untraced_sharers = 0;
  expect(trace, FindingType::kOwnerGone, {100});
  trace.threads[0].untraced_sharers = 1;
  expect_none(trace, "outside of what was traced");
  trace.threads[0] = sem_waiter(100, "main", kA);
  trace.threads[0].untraced_sharers = 1;
  expect_none(trace);
}

TEST_F(SharedTest, RingsGoToForkedChildren) {
  HungTrace trace{
      .threads = {sem_waiter(200, "child", kA)},
      .processes = {{.pid = 100, .ended = 5, .io_uring = true}, {.pid = 200, .parent = 1, .executed = false}}};
  trace.threads[0].process = 2;
  expect_none(trace, "outside of what was traced");
  trace.processes[1].executed = true;
  expect(trace, FindingType::kLostWakeup, {200});
  trace.processes[1].executed = false;
  trace.processes[0].io_uring = false;
  expect(trace, FindingType::kLostWakeup, {200});
}

}  // namespace
}  // namespace uscope::test
