// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// Each rule of the diagnosis twice: where it accuses, and where one fact differs and it must not.
#include "analyzer/deadlock/deadlock.h"

#include "tests/unit/analyzer/deadlock/diagnosis_test.h"

namespace uscope::test {
namespace {

TEST_F(DeadlockTest, TwoMutexesInACircle) {
  const Diagnosis diagnosis = diagnose(abba());
  ASSERT_EQ(diagnosis.findings.size(), 1U);
  const auto& finding = diagnosis.findings[0];
  EXPECT_EQ(finding.type, FindingType::kCycle);
  EXPECT_EQ(finding.waited_ns, 10'000'000'000);
  EXPECT_EQ(finding.explanation,
            "2 threads wait for each other in a cycle: thread 101 `left` waits for the mutex 0x555500002000 in work, "
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

// Which every thread may get while it sleeps, and takes later.
TEST_F(DeadlockTest, SignalsHideNoWait) {
  const Diagnosis diagnosis = diagnose(abba(), R"sql(
    INSERT INTO kind VALUES(900, 'SIGALRM sent', 'signal', 'none', 270);
    WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 40)
    INSERT INTO event(ts_ns, how, thread_id, kind_id, a0, a1, a2, a3, a4, a5)
      SELECT (SELECT max(ts_ns) FROM event) + i, 'sent', thread.id, 900, 0, 0, 0, 0, 0, 0 FROM n, thread;)sql");
  ASSERT_EQ(diagnosis.findings.size(), 1U) << diagnosis.reason;
  EXPECT_EQ(diagnosis.verdict, Verdict::kDeadlock);
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
  expect_none(change([](MadeThread& t) { t.call = ""; }), "thread 102 `right` has made no call for 30.000 s");
  expect_none(change([](MadeThread& t) { t.futexes = 2; }));
  expect_none(change([](MadeThread& t) { t.words = mutex_words(100); }), "main` waits in poll");
  expect_none(change([](MadeThread& t) { t.words = mutex_words(0); }));
  expect_none(change([](MadeThread& t) { t.words.clear(); }));
  expect_none(change([](MadeThread& t) { t.fresh = false; }));
  expect_none(change([](MadeThread& t) { t.abi = "i386"; }));
  expect_none(change([](MadeThread& t) { t.stack = under("my_lock", "work"); }));
  expect_none(change([](MadeThread& t) { t.words[16] = 0x5000; }));  // no kind of mutex
}

// It is not blocked, whoever waits for it.
TEST_F(DeadlockTest, AThreadThatMakesNoCallComputes) {
  HungTrace trace{.threads = {elsewhere(100, "main", "poll"), mutex_waiter(101, "left", kA, 103),
                              mutex_waiter(102, "right", kA, 103), running(103, "busy"), running(104, "other")}};
  const Diagnosis diagnosis = diagnose(trace);
  EXPECT_EQ(diagnosis.reason.find("the threads that wait can still be woken: thread 103 `busy` has made no call for"),
            0U)
      << diagnosis.reason;
  ASSERT_EQ(diagnosis.computing.size(), 2U);
  EXPECT_EQ(diagnosis.computing[0].tid, 103);
  EXPECT_EQ(diagnosis.computing[0].name, "busy");
  EXPECT_EQ(diagnosis.computing[0].process, "app");
  EXPECT_EQ(diagnosis.computing[0].idle_ns, 30'000'000'000);
  EXPECT_EQ(diagnosis.computing[0].waited_by, (std::vector<std::int64_t>{101, 102}));
  EXPECT_EQ(diagnosis.computing[1].tid, 104);
  EXPECT_TRUE(diagnosis.computing[1].waited_by.empty());
  for (const auto& thread : diagnosis.blocked) EXPECT_NE(thread.tid, 103);
  // Not for long, or a call may be missing.
  HungTrace brief = trace;
  brief.meta["calls_until_ns"] = std::to_string(kStart + 900'000'000);
  EXPECT_TRUE(diagnose(brief).computing.empty());
  expect_none(brief, "thread 103 `busy` runs");
  HungTrace lossy = trace;
  lossy.more_sql = "INSERT INTO loss VALUES(1, 2, 'ring_full_event', NULL, 1);";
  EXPECT_TRUE(diagnose(lossy).computing.empty());
  HungTrace some = trace;
  some.meta["calls"] = "futex,poll";
  EXPECT_TRUE(diagnose(some).computing.empty());
  // One that has left the trace makes calls that are not recorded.
  HungTrace left = trace;
  left.threads[3].left = left.threads[4].left = 2;
  EXPECT_TRUE(diagnose(left).computing.empty());
  // Since its last call.
  HungTrace called = trace;
  called.threads[3] = elsewhere(103, "busy", "write");
  called.threads[3].how = "returned";
  called.threads[3].took = 3;
  ASSERT_EQ(diagnose(called).computing.size(), 2U);
  EXPECT_EQ(diagnose(called).computing[0].tid, 103);
  EXPECT_EQ(diagnose(called).computing[0].idle_ns, 7'000'000'000);
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

TEST_F(DeadlockTest, ARecordingThatGoesOnHasNoEnd) {
  HungTrace trace{.threads = {sem_waiter(100, "main", kA)}, .meta = {{"complete", "0"}}};
  trace.more_sql = "INSERT INTO loss VALUES(1, 2, 'cut_off', NULL, 1);";
  expect_none(trace);
  write_hung(folder_ / "x.db", trace);
  const auto diagnosis = analyzer::diagnose(open_store(folder_ / "x.db"), {.under_way = true});
  ASSERT_TRUE(diagnosis);
  EXPECT_EQ(diagnosis->verdict, Verdict::kStall);
}

}  // namespace
}  // namespace uscope::test
