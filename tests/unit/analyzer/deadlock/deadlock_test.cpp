// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// Each rule of the diagnosis twice: where it accuses, and where one fact differs and it must not.
#include "analyzer/deadlock/deadlock.h"

#include <algorithm>

#include "tests/unit/analyzer/hung_store.h"

namespace uscope::test {
namespace {

using analyzer::Diagnosis;
using analyzer::FindingType;
using analyzer::Primitive;
using analyzer::Verdict;

constexpr std::uint64_t kA = 0x555500001000;
constexpr std::uint64_t kB = 0x555500002000;
constexpr std::uint64_t kC = 0x555500003028;  // a condition variable's futex: 8-byte aligned

class DeadlockTest : public testing::Test {
 protected:
  Diagnosis diagnose(const HungTrace& trace) {
    const auto path = folder_ / ("hung" + std::to_string(count_++) + ".db");
    write_hung(path, trace);
    auto diagnosis = analyzer::diagnose(open_store(path));
    if (!diagnosis) {
      ADD_FAILURE() << diagnosis.error().what;
      return {};
    }
    return *diagnosis;
  }

  // The one finding, and the tids that it accuses, in ascending order.
  void expect(const HungTrace& trace, FindingType type, std::vector<std::int64_t> tids, bool weak = false) {
    const Diagnosis diagnosis = diagnose(trace);
    ASSERT_EQ(diagnosis.findings.size(), 1U) << diagnosis.reason;
    const auto& finding = diagnosis.findings[0];
    EXPECT_EQ(finding_name(finding.type), finding_name(type)) << finding.explanation;
    std::vector<std::int64_t> accused;
    for (const auto& thread : finding.threads) accused.push_back(thread.tid);
    std::sort(accused.begin(), accused.end());
    EXPECT_EQ(accused, tids) << finding.explanation;
    const bool stall = weak || type == FindingType::kStall || type == FindingType::kLostWakeup;
    EXPECT_EQ(diagnosis.verdict, stall ? Verdict::kStall : Verdict::kDeadlock);
    EXPECT_EQ(finding.verdict, diagnosis.verdict);
    EXPECT_EQ(diagnosis.reason, "");
    EXPECT_EQ(finding.explanation.find("No deadlock for certain") != std::string::npos, weak) << finding.explanation;
  }

  // What owners or wakes say, where somebody is free who could end it against custom.
  void expect_weak(const HungTrace& trace, FindingType type, std::vector<std::int64_t> tids) {
    expect(trace, type, std::move(tids), true);
  }

  void expect_none(const HungTrace& trace, const std::string& reason = "") {
    const Diagnosis diagnosis = diagnose(trace);
    EXPECT_EQ(diagnosis.verdict, Verdict::kNone);
    for (const auto& finding : diagnosis.findings) ADD_FAILURE() << finding.explanation;
    EXPECT_NE(diagnosis.reason.find(reason), std::string::npos) << diagnosis.reason;
  }

  static HungTrace abba() {
    return {.threads = {elsewhere(100, "main", "poll"), mutex_waiter(101, "left", kB, 102),
                        mutex_waiter(102, "right", kA, 101)}};
  }

  TemporaryFolder folder_;
  int count_ = 0;
};

TEST_F(DeadlockTest, TwoMutexesInACircle) {
  const Diagnosis diagnosis = diagnose(abba());
  ASSERT_EQ(diagnosis.findings.size(), 1U);
  const auto& finding = diagnosis.findings[0];
  EXPECT_EQ(finding.type, FindingType::kCycle);
  EXPECT_EQ(finding.waited_ns, 10'000'000'000);
  EXPECT_EQ(finding.explanation,
            "2 threads wait for each other, in a circle: thread 101 `left` waits for the mutex 0x555500002000 in work, "
            "held by thread 102 `right`; thread 102 `right` waits for the mutex 0x555500001000 in work, held by thread "
            "101 `left`.");
  ASSERT_EQ(finding.threads.size(), 2U);
  const auto& left = finding.threads[0];
  EXPECT_EQ(left.pid, 100);
  EXPECT_EQ(left.tid, 101);
  EXPECT_EQ(left.name, "left");
  EXPECT_EQ(left.process, "app");
  EXPECT_EQ(left.call, "futex");
  EXPECT_EQ(left.primitive, Primitive::kMutex);
  EXPECT_EQ(left.api, "pthread_mutex_lock");
  EXPECT_EQ(left.address, kB);
  EXPECT_EQ(left.held_by, std::vector<std::int64_t>{102});
  ASSERT_EQ(left.stack.size(), 4U);
  EXPECT_EQ(left.stack[2].function, "work");
  EXPECT_EQ(diagnosis.blocked.size(), 2U);
}

TEST_F(DeadlockTest, AThreadThatMayGoOnIsInNoCircle) {
  expect(abba(), FindingType::kCycle, {101, 102});
  const auto change = [&](auto edit) {
    HungTrace trace = abba();
    edit(trace.threads[2]);
    return trace;
  };
  expect_none(change([](MadeThread& t) { t.asleep = 0; }),
              "main` waits in poll, thread 102 `right` may just have been");
  expect_none(change([](MadeThread& t) { t.asleep.reset(); }));
  expect_none(change([](MadeThread& t) { t.timeout_ns = 5; }), "thread 102 `right` waits with a timeout");
  expect_none(change([](MadeThread& t) { t.call = "write"; }), "thread 102 `right` waits in write");
  expect_none(change([](MadeThread& t) { t.call = ""; }), "thread 102 `right` runs");
  expect_none(change([](MadeThread& t) { t.futexes = 2; }));
  expect_none(change([](MadeThread& t) { t.words = mutex_words(100); }), "main` waits in poll");
  expect_none(change([](MadeThread& t) { t.words = mutex_words(0); }));
  expect_none(change([](MadeThread& t) { t.words.clear(); }));
  expect_none(change([](MadeThread& t) { t.fresh = false; }));
  expect_none(change([](MadeThread& t) { t.abi = "i386"; }));
  expect_none(change([](MadeThread& t) { t.stack = under("my_lock", "work"); }));
  expect_none(change([](MadeThread& t) { t.words[16] = 0x5000; }));  // no kind of mutex
}

TEST_F(DeadlockTest, ThreeInACircleAndOneBehindIt) {
  HungTrace trace{.threads = {mutex_waiter(101, "a", kB, 102), mutex_waiter(102, "b", kC, 103),
                              mutex_waiter(103, "c", kA, 101), mutex_waiter(104, "behind", kA, 101),
                              joiner(100, "main", 104)}};
  expect(trace, FindingType::kCycle, {101, 102, 103});
  EXPECT_EQ(diagnose(trace).blocked.size(), 5U);
}

TEST_F(DeadlockTest, AttachedThreadsWaitAtLeastSoLong) {
  HungTrace trace = abba();
  for (MadeThread& thread : trace.threads) thread.how = "attached";
  expect(trace, FindingType::kCycle, {101, 102});
  EXPECT_TRUE(diagnose(trace).findings[0].threads[0].at_least);
  EXPECT_FALSE(diagnose(abba()).findings[0].threads[0].at_least);
}

TEST_F(DeadlockTest, JoinsCloseACircle) {
  HungTrace trace{.threads = {joiner(100, "main", 101), joiner(101, "a", 102), joiner(102, "b", 101)}};
  expect(trace, FindingType::kCycle, {101, 102});
  trace.threads[0] = elsewhere(100, "main", "pause");  // it may cancel one of them
  expect_weak(trace, FindingType::kCycle, {101, 102});
  expect({.threads = {joiner(100, "main", 101), mutex_waiter(101, "worker", kA, 100)}}, FindingType::kCycle,
         {100, 101});
  expect_none({.threads = {joiner(100, "main", 101), mutex_waiter(101, "worker", kA, 102), running(102, "busy")}});
}

TEST_F(DeadlockTest, ALockOfItsOwn) {
  HungTrace trace{.threads = {joiner(100, "main", 101), mutex_waiter(101, "again", kA, 101)}};
  expect(trace, FindingType::kSelfDeadlock, {101});
  EXPECT_EQ(diagnose(trace).findings[0].threads[0].held_by, std::vector<std::int64_t>{101});
  trace.threads[0] = elsewhere(100, "main", "poll");
  trace.threads[1].words = mutex_words(100);
  expect_none(trace);
}

// What waits at a semaphore that is made of a normal mutex looks the same: it locks twice, and another thread unlocks.
TEST_F(DeadlockTest, ANormalMutexMayBeASemaphore) {
  HungTrace trace{.threads = {elsewhere(100, "main", "clock_nanosleep"), mutex_waiter(101, "taker", kA, 101)}};
  expect_none(trace, "main` waits in clock_nanosleep");
  trace.threads[0] = running(100, "main");
  expect_none(trace);
  trace.threads[1].words = mutex_words(101, 3);  // adaptive: the same
  expect_none(trace);
  for (const std::uint32_t kind : {1U, 2U, 0x10U}) {  // recursive, error-checking, robust: these ask who unlocks
    trace.threads[1].words = mutex_words(101, kind);
    if (kind == 0x10U) trace.threads[1].words[0] = 0x80000000 | 101;
    expect(trace, FindingType::kSelfDeadlock, {101});
  }
  // A gate that main has shut, and another one opens.
  HungTrace gate{
      .threads = {joiner(100, "main", 101), mutex_waiter(101, "taker", kA, 100), elsewhere(102, "opener", "read")}};
  expect_weak(gate, FindingType::kCycle, {100, 101});
  gate.threads[2] = mutex_waiter(102, "opener", kA, 100);
  expect(gate, FindingType::kCycle, {100, 101});
  gate.threads[2] = elsewhere(102, "opener", "read");
  gate.threads[1].words = mutex_words(100, 1);
  expect_weak(gate, FindingType::kCycle, {100, 101});  // a join can be cancelled
  // Shared: somebody whom the trace does not know may open it.
  HungTrace shared{.threads = {mutex_waiter(100, "main", kA, 100)}};
  shared.threads[0].op = 0;
  shared.threads[0].key = "file:1:2049:0x0";
  shared.threads[0].untraced_sharers = shared.threads[0].open = 0;
  expect(shared, FindingType::kSelfDeadlock, {100});
  shared.threads[0].open = 1;
  expect_none(shared, "outside of what was traced");
  shared.threads[0].open.reset();
  expect_none(shared);
}

TEST_F(DeadlockTest, ASignalHandlerIsTold) {
  MadeThread thread = mutex_waiter(100, "main", kA, 100);
  thread.stack = {{"__lll_lock_wait"}, {"pthread_mutex_lock"}, {"on_alarm", "app"}, {"__restore_rt"}, {"work", "app"}};
  const Diagnosis diagnosis = diagnose({.threads = {thread}});
  ASSERT_EQ(diagnosis.findings.size(), 1U);
  EXPECT_EQ(diagnosis.findings[0].type, FindingType::kSelfDeadlock);
  EXPECT_NE(diagnosis.findings[0].explanation.find("a signal handler asks for"), std::string::npos);
}

TEST_F(DeadlockTest, AnOwnerThatHasEnded) {
  HungTrace trace{.threads = {joiner(100, "main", 101), mutex_waiter(101, "worker", kA, 105)}};
  expect(trace, FindingType::kOwnerGone, {101});
  HungTrace polled = trace;
  polled.threads[0] = elsewhere(100, "main", "poll");
  expect_weak(polled, FindingType::kOwnerGone, {101});
  polled.threads[1].words = mutex_words(105, 2);
  expect(polled, FindingType::kOwnerGone, {101});
  HungTrace there = trace;
  there.threads.push_back(running(105, "owner"));
  expect_none(there);
  there.threads.back().ended = 20;
  expect(there, FindingType::kOwnerGone, {101});
  // It was there when all waits were looked at, and ended later: it may have unlocked the mutex first.
  there.meta["waits_seen_ns"] = std::to_string(kStart + 19'000'000'000);
  expect_none(there);
  there.meta["waits_seen_ns"] = std::to_string(kStart + 21'000'000'000);
  expect(there, FindingType::kOwnerGone, {101});
  HungTrace lossy = trace;
  lossy.more_sql = "INSERT INTO loss VALUES(1, 2, 'task_map_full', NULL, 1);";
  expect_none(lossy);
}

// PR 42031: the listener has timeout_mutex and waits for an idle worker; workers need the mutex to become idle.
class ListenerTest : public DeadlockTest {
 protected:
  static HungTrace listener() {
    return {.threads = {elsewhere(100, "main", "read"), cond_waiter(101, "listener", kC),
                        mutex_waiter(102, "worker", kA, 101), mutex_waiter(103, "worker", kA, 101)},
            .wakes = {{.tid = 102, .address = kC}, {.tid = 103, .address = kC + 4}}};
  }
};

TEST_F(ListenerTest, AllThatWokeItWaitForIt) {
  expect_weak(listener(), FindingType::kCycle, {101, 102, 103});
  const Diagnosis diagnosis = diagnose(listener());
  EXPECT_NE(diagnosis.findings[0].explanation.find("thread 100 `main` could still wake it for the first time"),
            std::string::npos);
  const auto& threads = diagnosis.findings[0].threads;
  EXPECT_EQ(threads[0].tid, 101);
  EXPECT_EQ(threads[0].primitive, Primitive::kConditionVariable);
  EXPECT_EQ(threads[0].held_by, (std::vector<std::int64_t>{102, 103}));
  EXPECT_EQ(threads[1].held_by, std::vector<std::int64_t>{101});
}

TEST_F(ListenerTest, OneThatMayWakeItIsEnough) {
  const auto change = [&](auto edit) {
    HungTrace trace = listener();
    edit(trace);
    return trace;
  };
  expect_none(change([](HungTrace& t) { t.threads[3] = elsewhere(103, "worker", "read"); }));
  expect_none(change([](HungTrace& t) { t.wakes.push_back({.tid = 100, .address = kC}); }));
  expect_none(change([](HungTrace& t) { t.threads[3].words = mutex_words(100); }));
  expect_none(change([](HungTrace& t) { t.wakes.clear(); }));
  expect_none(change([](HungTrace& t) { t.threads[3].ended = 20; }));  // who comes and goes will come again
  expect_none(change([](HungTrace& t) { t.threads[3] = joiner(103, "worker", 101); }));
  expect_none(change([](HungTrace& t) { t.threads[1].waited = 0.5; }));
  expect_none(change([](HungTrace& t) { t.more_sql = "INSERT INTO loss VALUES(1, 2, 'ring_full_event', NULL, 1);"; }));
  expect_none(change([](HungTrace& t) { t.processes[0].io_uring = true; }));
  expect_none(change([](HungTrace& t) { t.more_sql = "UPDATE process SET uses_io_uring = NULL;"; }));
  // Wakes of another process at the same address are no wakes of this one.
  expect_none(change([](HungTrace& t) {
    t.processes.push_back({.pid = 200});
    t.threads.push_back(elsewhere(200, "other", "read"));
    t.threads.back().process = 2;
    for (MadeWake& wake : t.wakes) wake.tid = 200;
  }));
}

TEST_F(ListenerTest, WithoutHistoryAllThatCouldMustWaitForIt) {
  HungTrace trace = listener();
  trace.wakes.clear();
  trace.threads[0] = joiner(100, "main", 102);
  expect(trace, FindingType::kCycle, {101, 102, 103});
  trace.threads[0] = elsewhere(100, "main", "sigwait");
  expect_none(trace, "main` waits in sigwait");
}

TEST_F(DeadlockTest, AWakeUpThatIsLost) {
  HungTrace trace{.threads = {joiner(100, "main", 101), cond_waiter(101, "waiter", kC)}};
  expect(trace, FindingType::kLostWakeup, {101});
  EXPECT_TRUE(diagnose(trace).findings[0].threads[0].held_by.empty());
  HungTrace other = trace;
  other.threads.push_back(elsewhere(102, "timer", "clock_nanosleep"));
  expect_none(other, "timer` waits in clock_nanosleep");
  other.threads.back().ended = 12;
  other.wakes = {{.tid = 102, .address = kC}};
  expect(other, FindingType::kLostWakeup, {101});
  EXPECT_NE(diagnose(other).findings[0].explanation.find("Woken before by threads that have ended"), std::string::npos);
  other = trace;
  other.threads[1].timeout_ns = 1000;
  expect_none(other);
}

TEST_F(DeadlockTest, SemaphoresHaveNoOwner) {
  HungTrace trace{.threads = {sem_waiter(100, "main", kA), sem_waiter(101, "worker", kB)}};
  expect(trace, FindingType::kStall, {100, 101});
  EXPECT_TRUE(diagnose(trace).findings[0].threads[0].held_by.empty());
  trace.threads.push_back(elsewhere(102, "io", "epoll_wait"));
  expect_none(trace);
  expect({.threads = {sem_waiter(100, "main", kA)}}, FindingType::kLostWakeup, {100});
}

TEST_F(DeadlockTest, WhoWaitsForAFormerWakerIsNotAccused) {
  HungTrace trace{.threads = {sem_waiter(100, "main", kA), cond_waiter(101, "pool", kC), cond_waiter(102, "pool", kC)},
                  .wakes = {{.tid = 100, .address = kC}}};
  expect(trace, FindingType::kLostWakeup, {100});
  trace.wakes.clear();
  expect(trace, FindingType::kStall, {100, 101, 102});
}

TEST_F(DeadlockTest, WhoWasLetGoByAnotherOnesDeathIsAsItWasBefore) {
  HungTrace trace{.threads = {mutex_waiter(100, "main", kA, 101), joiner(101, "other", 100)},
                  .processes = {MadeProcess{.ended = 20}}};
  for (MadeThread& thread : trace.threads) {
    thread.how = "killed";
    thread.ended = 20;
  }
  expect(trace, FindingType::kCycle, {100, 101});
  trace.threads[1].took = 10;
  expect(trace, FindingType::kCycle, {100, 101});
  trace.threads[1].waited = trace.threads[1].took = 0.5;
  expect_none(trace);
  trace.threads[1].waited = trace.threads[1].took = 10;
  trace.wakes = {{.tid = 100, .address = trace.threads[1].address, .at = 15}};
  expect_none(trace);
  trace.wakes.clear();
  trace.threads[1].took = 9.9;  // the join had ended before anybody was killed
  expect_none(trace);
  trace.threads.push_back(mutex_waiter(102, "gone by an exec", kB, 101));
  trace.threads.back().how = "killed";
  trace.threads.back().ended = 15;
  expect_none(trace);
}

TEST_F(DeadlockTest, AStrippedProgramsWaitsAreToldByTheirWords) {
  MadeThread main = joiner(100, "main", 101);
  main.stack = {{"libc.so.6+0x85e50"}, {"libc.so.6+0x8abb0"}, {"app+0x1960", "app"},
                {"libc.so.6+0x271d0"}, {"__libc_start_main"}, {"app+0x1250", "app"}};
  const auto primitive = [&] { return diagnose({.threads = {main, running(101, "other")}}).blocked.at(0).primitive; };
  EXPECT_EQ(primitive(), Primitive::kJoin);
  main.stack[1] = {"fflush"};  // a lock of libc's own
  EXPECT_EQ(primitive(), Primitive::kFutex);
}

TEST_F(DeadlockTest, GoIsOnlyNamed) {
  MadeThread thread = sem_waiter(100, "main", kA);
  thread.stack = {{"runtime.futex.abi0", "app"}, {"runtime.futexsleep", "app"}, {"runtime.mPark", "app"}};
  expect_none({.threads = {thread}});
  EXPECT_EQ(diagnose({.threads = {thread}}).blocked[0].primitive, Primitive::kGo);
}

TEST_F(DeadlockTest, ATraceWithoutFutexCallsIsAnError) {
  HungTrace trace = abba();
  trace.meta["calls"] = "read,write";
  write_hung(folder_ / "x.db", trace);
  const auto diagnosis = analyzer::diagnose(open_store(folder_ / "x.db"));
  ASSERT_FALSE(diagnosis);
  EXPECT_NE(diagnosis.error().what.find("has no futex calls: it was recorded with -e read,write"), std::string::npos);
  trace.meta["calls"] = "read,futex";
  EXPECT_EQ(diagnose(trace).warnings.size(), 1U);
  expect(trace, FindingType::kCycle, {101, 102});
}

// What a signal handler may post, nobody can be said to have forgotten; a lock it cannot give back.
TEST_F(DeadlockTest, ASignalHandlerMayPost) {
  HungTrace trace{.threads = {sem_waiter(100, "main", kA)}};
  expect(trace, FindingType::kLostWakeup, {100});
  trace.threads[0].handlers = 1;
  expect_none(trace, "a signal may come whose handler wakes thread 100 `main`");
  trace.threads[0].handlers.reset();
  expect_none(trace);
  trace.threads[0].stack = {{"libc.so.6+0x8f000"}, {"PyThread_acquire_lock_timed", "python3.11"}, {"main", "app"}};
  expect(trace, FindingType::kStall, {100});
  HungTrace lock = trace;
  lock.threads = {cond_waiter(100, "main", kC)};
  lock.threads[0].handlers = 1;
  expect(lock, FindingType::kLostWakeup, {100});
}

class KilledTest : public DeadlockTest {
 protected:
  static HungTrace killed(HungTrace trace) {
    trace.processes[0].ended = 20;
    for (MadeThread& thread : trace.threads) {
      thread.asleep.reset();
      if (thread.call.empty()) continue;
      thread.how = "killed";
      thread.ended = 20;
    }
    return trace;
  }
};

TEST_F(KilledTest, WaitsThatEndedByTheKillingLastedToIt) {
  const HungTrace trace = killed(abba());
  expect(trace, FindingType::kCycle, {101, 102});
  const auto change = [&](auto edit) {
    HungTrace changed = trace;
    edit(changed);
    return changed;
  };
  expect_none(change([](HungTrace& t) { t.threads[1].waited = 0.9; }));
  expect_none(change([](HungTrace& t) { t.wakes = {{.tid = 100, .address = kB, .at = 15}}; }));
  expect(change([](HungTrace& t) { t.wakes = {{.tid = 100, .address = kB, .at = 5}}; }), FindingType::kCycle,
         {101, 102});
  expect(change([](HungTrace& t) { t.wakes = {{.tid = 100, .address = kB, .at = 15, .result = 0}}; }),
         FindingType::kCycle, {101, 102});
  // Who ended before the others was not there.
  expect_weak(change([](HungTrace& t) { t.threads[2].ended = 15; }), FindingType::kOwnerGone, {101});
  expect_none(change([](HungTrace& t) { t.more_sql = "INSERT INTO loss VALUES(1, 2, 'ring_full_event', NULL, 1);"; }));
  expect_none(change([](HungTrace& t) { t.more_sql = "UPDATE process SET end_ns = NULL;"; }));
  expect_none(change([](HungTrace& t) {
    t.more_sql =
        "INSERT INTO image VALUES(2, 1, 1000000000001, '/bin/other', '[]');UPDATE image SET ts_ns = 1 WHERE id = 1;";
  }));
}

// Of a wait that returned it is not kept whether its process handles signals; of those that did not it is.
TEST_F(KilledTest, AJoinThatReturnedByTheKillingSaysNothingOfHandlers) {
  HungTrace trace = killed({.threads = {joiner(100, "main", 101), sem_waiter(101, "worker", kA)}});
  trace.threads[0].handlers.reset();
  EXPECT_EQ(diagnose(trace).verdict, Verdict::kNone);
  trace.more_sql =
      "UPDATE event SET how = 'returned', result = 0, a1 = 265, dur_ns = 10000000000 - 30000 WHERE thread_id = 1;";
  EXPECT_EQ(diagnose(trace).verdict, Verdict::kStall);
  trace.threads[1].handlers = 1;
  EXPECT_EQ(diagnose(trace).verdict, Verdict::kNone);
}

// The killing of a thread wakes who joins it, just before that one's own end.
TEST_F(KilledTest, AJoinThatReturnedByTheKilling) {
  HungTrace trace = killed({.threads = {joiner(100, "main", 101), mutex_waiter(101, "worker", kA, 100)}});
  const auto returned = [&](const std::string& op, std::int64_t before_end) {
    HungTrace changed = trace;
    changed.more_sql = "UPDATE event SET how = 'returned', result = 0, a1 = " + op + ", dur_ns = 10000000000 - " +
                       std::to_string(before_end) + " WHERE thread_id = 1;";
    return changed;
  };
  expect(returned("265", 30'000), FindingType::kCycle, {100, 101});
  expect_none(returned("265", 500'000'000));  // then it ran
  expect_none(returned("393", 30'000));       // no join: private
  HungTrace ended = returned("265", 30'000);
  ended.threads[1].how = "noreturn";
  ended.threads[1].call = "exit";
  expect_none(ended);
}

TEST_F(KilledTest, AnExitOfTheWholeProcessIsNoHang) {
  HungTrace trace = killed({.threads = {elsewhere(100, "main", "exit_group"), cond_waiter(101, "pool", kC)}});
  trace.threads[0].how = "noreturn";
  expect_none(trace, "main` runs");
}

// The kernel refuses a PI lock that would close a circle, and glibc then waits on a word of its own.
class PiTest : public DeadlockTest {
 protected:
  static MadeThread pi_waiter(int tid, const std::string& name, std::uint64_t address, std::uint32_t owner) {
    MadeThread thread = mutex_waiter(tid, name, address, owner);
    thread.op = 134;
    thread.expected = 0;
    thread.words = pi_words(owner);
    thread.stack = {{"libc.so.6+0x8b4f0"}, {"work", "app"}};
    return thread;
  }
  // Thread 102 has been refused kA, which 101 has; 101 waits for kB, which 102 has.
  static HungTrace refused(int result, std::uint32_t owner = 101) {
    HungTrace trace{.threads = {elsewhere(100, "main", "poll"), pi_waiter(101, "ant", kB, 102),
                                pi_waiter(102, "bee", 0x7f00aa00, 0)}};
    MadeThread& bee = trace.threads[2];
    bee.op = 393;
    bee.words = {{0, 0}};
    bee.waited = 9;
    MadeThread before = pi_waiter(103, "earlier", kA, owner);
    before.waited = 9.001;
    trace.threads.push_back(before);
    trace.more_sql =
        "UPDATE event SET how = 'returned', dur_ns = 1000, thread_id = (SELECT id FROM thread WHERE tid = 102), result "
        "= " +
        std::to_string(result) +
        " WHERE thread_id = (SELECT id FROM thread WHERE tid = 103);DELETE FROM thread WHERE tid = 103;"
        "UPDATE futex_wait SET words_at_stop = NULL, asleep = NULL WHERE address = " +
        std::to_string(kA) + ";";
    return trace;
  }
};

TEST_F(PiTest, TheWordSaysWhoOwnsIt) {
  expect({.threads = {elsewhere(100, "main", "poll"), pi_waiter(101, "a", kA, 102), pi_waiter(102, "b", kB, 101)}},
         FindingType::kCycle, {101, 102});
  expect_none(
      {.threads = {elsewhere(100, "main", "poll"), pi_waiter(101, "a", kA, 102), pi_waiter(102, "b", kB, 100)}});
}

TEST_F(PiTest, ALockThatWasRefusedIsWaitedForForEver) {
  expect(refused(-35), FindingType::kCycle, {101, 102});
  expect_none(refused(0));
  expect_none(refused(-110));
  HungTrace later = refused(-35);
  later.threads[1].waited = 8;  // what the owner did since is not known
  expect_none(later);
  expect(refused(-35, 102), FindingType::kSelfDeadlock, {102});
}

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

TEST_F(DeadlockTest, RingsGoToForkedChildren) {
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

TEST_F(DeadlockTest, ARecordingThatGoesOnHasNoEnd) {
  HungTrace trace{.threads = {sem_waiter(100, "main", kA)}, .meta = {{"complete", "0"}}};
  trace.more_sql = "INSERT INTO loss VALUES(1, 2, 'cut_off', NULL, 1);";
  expect_none(trace);
  write_hung(folder_ / "x.db", trace);
  const auto diagnosis = analyzer::diagnose(open_store(folder_ / "x.db"), true);
  ASSERT_TRUE(diagnosis);
  EXPECT_EQ(diagnosis->verdict, Verdict::kStall);
}

}  // namespace
}  // namespace uscope::test
