// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// Hangs that somebody ended by killing the application: they are diagnosed as they were before.
#include "tests/unit/analyzer/deadlock/diagnosis_test.h"

namespace uscope::test {
namespace {

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
        "INSERT INTO image VALUES(2, 1, 1000000000001, '/bin/other', '[]', 'other', '[\"other\"]');UPDATE image SET "
        "ts_ns = 1 WHERE id = 1;";
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

TEST_F(KilledTest, WhoWasLetGoByAnotherOnesDeathIsAsItWasBefore) {
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

}  // namespace
}  // namespace uscope::test
