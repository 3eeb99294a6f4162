// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// Locks of a process made by clone(): its first thread writes the number of the thread that called clone() into them.
#include "tests/unit/analyzer/deadlock/diagnosis_test.h"

namespace uscope::test {
namespace {

constexpr std::uint32_t kNormal = 0;
constexpr std::uint32_t kRecursive = 1;

class InheritedNumbersTest : public DeadlockTest {
 protected:
  void expect(const HungTrace& trace, FindingType type, Verdict verdict) {
    const Diagnosis diagnosis = diagnose(trace);
    ASSERT_EQ(diagnosis.findings.size(), 1U) << diagnosis.reason;
    EXPECT_EQ(finding_name(diagnosis.findings[0].type), finding_name(type)) << diagnosis.findings[0].explanation;
    EXPECT_EQ(diagnosis.verdict, verdict);
  }

  // Began 3 seconds after the trace did.
  static std::string began_in_trace(int pid) {
    return "UPDATE process SET start_ns = " + std::to_string(kStart + 3'000'000'000) +
           " WHERE pid = " + std::to_string(pid) + ";";
  }

  // Process 200, a child of 100: its first thread sleeps, its second one waits for a mutex with this number.
  static HungTrace child(const std::string& origin, std::uint32_t number, std::uint32_t kind = kRecursive) {
    HungTrace trace{
        .threads = {elsewhere(100, "main", "wait4"), elsewhere(101, "other", "poll"),
                    elsewhere(200, "child", "clock_nanosleep"), mutex_waiter(201, "waits", kA, number)},
        .processes = {{.pid = 100}, {.pid = 200, .parent = 1, .executed = origin == "exec", .origin = origin}},
        .more_sql = began_in_trace(200)};
    trace.threads[2].process = trace.threads[3].process = 2;
    trace.threads[3].words = mutex_words(number, kind);
    return trace;
  }
};

TEST_F(InheritedNumbersTest, TheNumberOfTheThreadThatCalledCloneMayBeTheFirstThreads) {
  for (const std::uint32_t kind : {kNormal, kRecursive}) {
    expect_none(child("clone", 100, kind));
    expect_none(child("clone", 101, kind));  // any thread of the parent may have called it
  }
  expect(child("clone", 90), FindingType::kOwnerGone, Verdict::kDeadlock);  // no thread that could
  expect(child("exec", 100), FindingType::kOwnerGone, Verdict::kDeadlock);
  expect(child("fork", 100), FindingType::kOwnerGone, Verdict::kDeadlock);
  HungTrace ended = child("clone", 101);
  ended.threads[1].ended = 4;
  expect_none(ended);
  ended = child("clone", 100);
  ended.threads[2].ended = 20;  // the first thread, which alone may have another one's number
  expect(ended, FindingType::kOwnerGone, Verdict::kDeadlock);
}

TEST_F(InheritedNumbersTest, ANumberThatAThreadHasMayBeTheFirstThreadsToo) {
  HungTrace trace = child("clone", 100);  // number 2 in the parent's namespace, from which it made the child's
  trace.processes[0].ns_pid = trace.threads[0].ns_tid = 2;
  trace.threads[1].ns_tid = 3;
  trace.processes[1].ns_pid = trace.threads[2].ns_tid = 1;
  trace.threads[3].ns_tid = 2;
  trace.threads[3].words = mutex_words(3, kRecursive);
  trace.threads.push_back(joiner(202, "third", 2));
  trace.threads[4].process = 2;
  trace.threads[4].ns_tid = 3;
  expect_none(trace);
  trace.processes[1].origin = "fork";
  expect(trace, FindingType::kCycle, Verdict::kStall);
}

// Each process between is made by clone(); the first one has executed a program.
TEST_F(InheritedNumbersTest, ANumberGoesOnThroughGenerations) {
  HungTrace trace{.threads = {elsewhere(100, "main", "wait4"), elsewhere(200, "between", "wait4"),
                              elsewhere(300, "child", "poll"), mutex_waiter(301, "waits", kA, 100)},
                  .processes = {{.pid = 100},
                                {.pid = 200, .parent = 1, .executed = false, .origin = "clone"},
                                {.pid = 300, .parent = 2, .executed = false, .origin = "clone"}},
                  .more_sql = began_in_trace(200) + began_in_trace(300)};
  trace.threads[1].process = 2;
  trace.threads[2].process = trace.threads[3].process = 3;
  trace.threads[3].words = mutex_words(100, kRecursive);
  expect_none(trace);
  trace.processes[1].origin = "fork";
  expect(trace, FindingType::kOwnerGone, Verdict::kDeadlock);
}

TEST_F(InheritedNumbersTest, OfAChildThatWasThereBeforeAnyNumberMayBe) {
  HungTrace trace = child("clone", 90);
  trace.more_sql.clear();
  expect_none(trace);
  trace.processes[1].parent = 0;
  trace.more_sql = began_in_trace(200);
  expect_none(trace);
  trace.more_sql = "UPDATE process SET origin = NULL;";
  expect_none(trace);
  trace.more_sql = "UPDATE process SET parent_id = id;";
  expect_none(trace);
  trace.processes[1].origin = "fork";
  trace.more_sql.clear();
  expect(trace, FindingType::kOwnerGone, Verdict::kDeadlock);
}

// A mutex that processes share: 101 waits for it, and 100 joins 101. The number in it is that of 100, or of its child.
TEST_F(InheritedNumbersTest, ASharedLockMayBeTheChilds) {
  HungTrace trace{.threads = {joiner(100, "main", 101), mutex_waiter(101, "waits", kA, 100),
                              elsewhere(200, "child", "clock_nanosleep")},
                  .processes = {{.pid = 100}, {.pid = 200, .parent = 1, .executed = false, .origin = "clone"}},
                  .more_sql = began_in_trace(200)};
  trace.threads[1].words = mutex_words(100, kRecursive);
  trace.threads[1].op = 0;
  trace.threads[1].key = "file:1:2049:0x0";
  trace.threads[1].untraced_sharers = trace.threads[1].open = 0;
  trace.threads[2].process = 2;
  expect_none(trace);
  HungTrace gone = trace;
  gone.threads[1].words = mutex_words(90, kRecursive);
  expect(gone, FindingType::kOwnerGone, Verdict::kDeadlock);
  gone.more_sql.clear();  // the child was there before, and may have any number
  expect_none(gone);
  HungTrace ended = trace;
  ended.processes[1].ended = 5;
  ended.threads[2].ended = 5;
  ended.threads[2].how = "killed";
  expect(ended, FindingType::kCycle, Verdict::kDeadlock);
  trace.processes[1].origin = "fork";
  expect(trace, FindingType::kCycle, Verdict::kDeadlock);
}

// fork() gives the first thread its own number, and with the memory the normal mutexes that the caller had locked.
TEST_F(InheritedNumbersTest, TheChildsFirstThreadMayUnlockWhatItsParentHadLocked) {
  expect_none(child("fork", 100, kNormal));
  HungTrace stuck = child("fork", 100, kNormal);
  stuck.threads[2] = mutex_waiter(200, "child", kB, 201);
  stuck.threads[2].process = 2;
  expect(stuck, FindingType::kOwnerGone, Verdict::kDeadlock);
  HungTrace itself = child("fork", 100, kNormal);
  itself.threads[2] = mutex_waiter(200, "child", kA, 100);
  itself.threads[2].process = 2;
  itself.threads.pop_back();
  expect(itself, FindingType::kOwnerGone, Verdict::kDeadlock);
  HungTrace own = child("fork", 202, kNormal);  // one of its own threads, which has ended
  own.threads.push_back(running(202, "ended"));
  own.threads.back().process = 2;
  own.threads.back().ended = 10;
  expect(own, FindingType::kOwnerGone, Verdict::kStall);
}

}  // namespace
}  // namespace uscope::test
