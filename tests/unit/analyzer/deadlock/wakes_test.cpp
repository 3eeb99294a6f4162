// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// Waits that another thread has to end by a wake: who may give it, and who has forgotten it.
#include "tests/unit/analyzer/deadlock/diagnosis_test.h"

namespace uscope::test {
namespace {

class WakesTest : public DeadlockTest {};

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

// The kernel has a function of the call's name.
TEST_F(ListenerTest, AFunctionOfThatNameIsNoCall) {
  HungTrace trace = listener();
  trace.more_sql =
      "INSERT INTO kind VALUES(900, 'futex_wake', 'kfunction', 'none', 1);"
      "INSERT INTO event(ts_ns, how, thread_id, kind_id, result, a0, a1, a2, a3, a4, a5) "
      "SELECT (SELECT min(ts_ns) FROM event), 'hit', id, 900, 1, " +
      std::to_string(kC) + ", 1, 0, 0, 0, 0 FROM thread WHERE tid = 100;";
  expect_weak(trace, FindingType::kCycle, {101, 102, 103});
}

TEST_F(ListenerTest, WithoutHistoryAllThatCouldMustWaitForIt) {
  HungTrace trace = listener();
  trace.wakes.clear();
  trace.threads[0] = joiner(100, "main", 102);
  expect(trace, FindingType::kCycle, {101, 102, 103});
  trace.threads[0] = elsewhere(100, "main", "sigwait");
  expect_none(trace, "main` waits in sigwait");
}

TEST_F(WakesTest, AWakeUpThatIsLost) {
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

TEST_F(WakesTest, SemaphoresHaveNoOwner) {
  HungTrace trace{.threads = {sem_waiter(100, "main", kA), sem_waiter(101, "worker", kB)}};
  expect(trace, FindingType::kStall, {100, 101});
  EXPECT_TRUE(diagnose(trace).findings[0].threads[0].held_by.empty());
  trace.threads.push_back(elsewhere(102, "io", "epoll_wait"));
  expect_none(trace);
  expect({.threads = {sem_waiter(100, "main", kA)}}, FindingType::kLostWakeup, {100});
}

TEST_F(WakesTest, WhoWaitsForAFormerWakerIsNotAccused) {
  HungTrace trace{.threads = {sem_waiter(100, "main", kA), cond_waiter(101, "pool", kC), cond_waiter(102, "pool", kC)},
                  .wakes = {{.tid = 100, .address = kC}}};
  expect(trace, FindingType::kLostWakeup, {100});
  trace.wakes.clear();
  expect(trace, FindingType::kStall, {100, 101, 102});
}

// What a signal handler may post, nobody can be said to have forgotten; a lock it cannot give back.
TEST_F(WakesTest, ASignalHandlerMayPost) {
  HungTrace trace{.threads = {sem_waiter(100, "main", kA)}};
  expect(trace, FindingType::kLostWakeup, {100});
  trace.threads[0].handlers = 1;
  expect_none(trace, "a signal may come whose handler wakes thread 100 `main`");
  trace.threads[0].handlers.reset();
  expect_none(trace);
  trace.threads[0].stack = {{"libc.so.6+0x8f000"}, {"PyThread_acquire_lock_timed", "python3.11"}, {"main", "app"}};
  expect(trace, FindingType::kStall, {100});
  HungTrace lock{.threads = {mutex_waiter(100, "main", kA, 101), mutex_waiter(101, "other", kB, 100)}};
  lock.threads[0].handlers = lock.threads[1].handlers = 1;
  expect(lock, FindingType::kCycle, {100, 101});
}

// Nor what it may signal, unless the trace has seen who does.
TEST_F(WakesTest, ASignalHandlerMaySignal) {
  HungTrace trace{.threads = {joiner(99, "main", 100), cond_waiter(100, "worker", kC)}};
  expect(trace, FindingType::kLostWakeup, {100});
  trace.threads[1].handlers = 1;
  expect_none(trace, "a signal may come whose handler wakes thread 100 `worker`");
  trace.threads.push_back(elsewhere(102, "timer", "clock_nanosleep"));
  trace.threads.back().ended = 12;
  trace.wakes = {{.tid = 102, .address = kC}};
  expect(trace, FindingType::kLostWakeup, {100});
}

}  // namespace
}  // namespace uscope::test
