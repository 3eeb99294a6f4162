// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// Waits that names lead to: FIFOs, System V objects; readers that are stopped; signals of timers that there are none
// of.
#include <fmt/core.h>

#include "tests/unit/analyzer/deadlock/call_waits_test.h"

namespace uscope::test {
namespace {

constexpr std::uint64_t kAlarm = 1 << 13;

std::string fifo(const std::string& name) {
  return "/srv/" + name;
}

TEST_F(CallWaits, FifosOpenedCrosswiseAreUndecided) {
  constexpr const char* kBlocking = "NULL,NULL,NULL,NULL,0";
  MadeLook look;
  look.child(1, -1).on(2, "openat", -2, "read").holds(2, -2, "fifo", "r", 11, kBlocking, fifo("requests"));
  look.on(3, "openat", -2, "read").holds(3, -2, "fifo", "r", 12, kBlocking, fifo("answers"));
  expect_no_finding(processes_in({"wait4", "openat", "openat"}), look,
                    "all threads sleep, and nobody is seen who will let them go on. They wait: thread 200 `t` in "
                    "openat(/srv/requests, O_RDONLY) for whoever opens /srv/requests to write it; thread 300 `t` in "
                    "openat(/srv/answers, O_RDONLY) for whoever opens /srv/answers to write it",
                    Verdict::kUndecided);
  // Somebody goes on.
  expect_no_finding(processes_in({"wait4", "openat", "openat", ""}), look, "can be ended by whoever opens");
  // Both wait for the same FIFO: a service's workers.
  MadeLook workers;
  workers.child(1, -1).on(2, "openat", -2, "read").holds(2, -2, "fifo", "r", 11, kBlocking, fifo("requests"));
  workers.on(3, "openat", -2, "read").holds(3, -2, "fifo", "r", 11, kBlocking, fifo("requests"));
  expect_no_finding(processes_in({"wait4", "openat", "openat"}), workers, "can be ended by whoever opens");
  // Each reads what the other one would write.
  MadeLook readers;
  readers.on(1, "read", 3, "read").holds(1, 3, "fifo", "r", 11, kBlocking, fifo("a"));
  readers.holds(1, 4, "fifo", "w", 12, kBlocking, fifo("b")).holds(2, 4, "fifo", "w", 11, kBlocking, fifo("a"));
  readers.on(2, "read", 3, "read").holds(2, 3, "fifo", "r", 12, kBlocking, fifo("b"));
  expect_no_finding(processes_in({"read", "read"}), readers, "They wait: thread 100", Verdict::kUndecided);
  // A service opens its FIFO to write, too, so that it never sees an end.
  readers.holds(1, 5, "fifo", "rw", 11, kBlocking, fifo("a"));
  expect_no_finding(processes_in({"read", "read"}), readers, "whoever opens");
}

TEST_F(CallWaits, WhoWaitsToSendToAQueueOfWhichTheReceiverIsDead) {
  const HungTrace trace = processes_in({"wait4", "msgsnd"});
  const auto look = [](bool gone) {
    MadeLook made;
    made.child(1, -1).in_call(2, "msgsnd", 7).lock(0, "msg", 7, 2, false, false, 11);
    return made.lock(1, "msg", 7, 0, false, gone, 11);
  };
  expect_no_finding(trace, look(true), "last received from by process 9999, which has ended). `ipcs -q -i 7`",
                    Verdict::kUndecided);
  expect_no_finding(trace, look(false), "can be ended by any process that uses the System V message queue 7");
}

// Apache's first process keeps both ends of the pipe to its logger.
TEST_F(CallWaits, AStoppedLogger) {
  const auto look = [](int ino, const std::string& state = "asleep") {
    MadeLook made;
    made.in_call(1, "poll", 0, 0, "1", state, 0).waits(1, 8, "read").holds(1, 8, "pipe", "r", ino);
    made.on(2, "write", 7, "write").stopped(3, 19);
    return made.holds(1, 6, "pipe", "r", 77)
        .holds(1, 7, "pipe", "w", 77)
        .holds(2, 7, "pipe", "w", 77)
        .holds(3, 0, "pipe", "r", 77);
  };
  const HungTrace trace = processes_in({"poll", "write", "read"});
  expect_finding(trace, look(78), Verdict::kStall, FindingType::kStopped, {200, 300},
                 {"the read end of pipe:[77] is open in process 300 `app` (descriptor 0)",
                  "process 300 `app` is stopped by SIGSTOP, and cannot go on before it gets SIGCONT",
                  "could be read by process 100 `app`, too, which has both ends of the pipe, but none of its threads"});
  // It has begun to wait anew since the look.
  HungTrace again = trace;
  again.more_sql = "UPDATE event SET ts_ns = ts_ns + 3600000000000 WHERE thread_id = 1;";
  expect_finding(again, look(78), Verdict::kStall, FindingType::kStopped, {200, 300}, {"by process 100 `app`, too"});
  // It waits to read the pipe; it runs; it has nothing but the read end; nobody is stopped.
  expect_no_finding(trace, look(77));
  expect_no_finding(trace, look(78, "running"));
  MadeLook reader;
  reader.in_call(1, "poll", 0, 0, "1").on(2, "write", 7, "write").stopped(3, 19);
  reader.holds(1, 6, "pipe", "r", 77).holds(2, 7, "pipe", "w", 77).holds(3, 0, "pipe", "r", 77);
  expect_no_finding(trace, reader);
  MadeLook awake;
  awake.in_call(1, "poll", 0, 0, "1").on(2, "write", 7, "write").in_call(3, "poll", 0, 0, "1");
  awake.holds(1, 6, "pipe", "rw", 77).holds(2, 7, "pipe", "w", 77).holds(3, 0, "pipe", "r", 77);
  expect_no_finding(processes_in({"poll", "write", "poll"}), awake);
}

TEST_F(CallWaits, EqualWaitsAreToldOnce) {
  MadeLook look;
  look.stopped(1, 19).holds(1, 0, "pipe", "r", 77);
  std::vector<std::string> calls{"read"};
  for (int i = 2; i <= 99; i++) {
    calls.emplace_back("write");
    look.on(i, "write", 7, "write").holds(i, 7, "pipe", "w", 77);
  }
  const Diagnosis diagnosis = look_at(processes_in(calls), look);
  ASSERT_EQ(diagnosis.findings.size(), 1U) << diagnosis.reason;
  EXPECT_EQ(diagnosis.findings[0].threads.size(), 99U);
  EXPECT_EQ(
      diagnosis.findings[0].explanation,
      "thread 200 `t`, and 97 others in the same place, wait in write(7<pipe:[77]>) in serve: the read end of "
      "pipe:[77] is open in process 100 `app` (descriptor 0). process 100 `app` is stopped by SIGSTOP, and cannot "
      "go on before it gets SIGCONT.");
}

// Python ends by itself when it is interrupted: its thread leaves the lock before anybody looks at it again.
TEST_F(CallWaits, AFutexThatAnInterruptedCommandLeft) {
  HungTrace trace{.threads = {mutex_waiter(100, "main", kA, 101)}};
  MadeThread& thread = trace.threads[0];
  thread.how = "returned";
  thread.took = 10;
  thread.asleep.reset();
  thread.fresh = false;
  trace.more_sql = "INSERT INTO meta VALUES('hung_until_ns', '" + std::to_string(kStart + 29'000'000'000) + "');";
  const auto look = [](std::uint64_t address, int asleep) {
    MadeLook made;
    made.in_call(1, "futex", address, 0, "0", "asleep", asleep);
    return made;
  };
  expect_finding(trace, look(kA, 1), Verdict::kStall, FindingType::kStall, {100}, {"waits for the mutex"});
  expect_no_finding(trace, look(kA, 0), "may just have been woken");
  expect_no_finding(trace, look(kB, 1), "may just have been woken");
}

// sort has handlers for all signals that end programs, to remove its files. Whoever knows its pid may send them.
TEST_F(CallWaits, AHandlerOfSigalrmWithAndWithoutATimer) {
  MadeLook look;
  look.on(1, "read", 3, "read").on(2, "read", 0, "read").catches(2, kAlarm).pipe(77, 2, 0, 1, 4).pipe(78, 1, 3, 2, 1);
  const HungTrace trace = processes_in({"read", "read"});
  expect_no_finding(trace, look, "Nothing but a handler of SIGALRM in process 200 `app`", Verdict::kUndecided);
  // The trace has seen both from their start.
  HungTrace known = trace;
  known.more_sql = "UPDATE process SET start_ns = " + std::to_string(kStart + 1) + ";";
  expect_no_finding(known, look, "Nothing but a handler of SIGALRM in process 200 `app`", Verdict::kUndecided);
  look.awaits_timer(2);
  expect_no_finding(trace, look, "the signal of a timer");
}

}  // namespace
}  // namespace uscope::test
