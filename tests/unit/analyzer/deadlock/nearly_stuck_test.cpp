// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// What nobody is accused of, since a Java virtual machine or the handler of a signal might go on with it.
#include "tests/unit/analyzer/deadlock/call_waits_test.h"

#include <csignal>

namespace uscope::test {
namespace {

constexpr std::uint64_t kUser1 = 1 << 9;

MadeThread java(MadeThread thread) {
  thread.stack = {{"os::PlatformEvent::park", "libjvm.so"}};
  return thread;
}

// Process 100 is a Java virtual machine whose thread 102 waits for process 200, which is in this call.
HungTrace java_and_child(const std::string& call, MadeThread main_thread) {
  HungTrace trace{.threads = {java(std::move(main_thread)), java(sem_waiter(101, "VM Periodic Tas", kB)),
                              elsewhere(102, "process reaper", "wait4"), elsewhere(200, "child", call)},
                  .processes = {{.pid = 100}, {.pid = 200, .parent = 1}}};
  trace.threads[1].timeout_ns = 50'000'000;
  trace.threads[2].stack.push_back({"start_thread", "libjvm.so"});
  trace.threads[3].process = 2;
  return trace;
}
MadeLook java_look() {
  MadeLook look;
  look.in_call(1, "futex").in_call(2, "futex").child(3, 200).on(4, "write", 1, "write").pipe(77, 1, 8, 2, 1);
  look.catches(1, kUser1).monitor(1, "wait", 4096, 0);
  return look;
}

TEST_F(CallWaits, AJavaProcessAndItsChildThatFillsAPipe) {
  MadeThread waits = sem_waiter(100, "main", kA);
  waits.handlers = 1;
  expect_no_finding(java_and_child("write", waits), java_look(),
                    "thread 200 `child` waits in write(1<pipe:[77]>): the read end of pipe:[77] is open in process 100 "
                    "`app`, which waits for process 200 `app`",
                    Verdict::kUndecided);
  expect_no_finding(java_and_child("write", waits), java_look(), "`jstack 100`", Verdict::kUndecided);
  // A thread of the program goes on after a time, runs, or waits for clients.
  MadeThread timed = waits;
  timed.timeout_ns = 50'000'000'000;
  expect_no_finding(java_and_child("write", timed), java_look());
  expect_no_finding(java_and_child("write", running(100, "main")), java_look());
  HungTrace served = java_and_child("write", waits);
  served.threads.push_back(elsewhere(103, "http", "accept"));
  MadeLook serves = java_look();
  serves.on(5, "accept", 9, "accept").holds(1, 9, "inet", "rw", 50, "NULL,NULL,NULL,1,0");
  expect_no_finding(served, serves, "whoever connects to");
  // Somebody else reads the pipe.
  MadeLook read = java_look();
  read.holds(0, 3, "pipe", "r", 77);
  expect_no_finding(java_and_child("write", waits), read);
}

TEST_F(CallWaits, WhoWritesAndHasAHandlerDoesNotRest) {
  MadeLook own;
  own.on(1, "write", 4, "write").pipe(77, 1, 3, 1, 4).catches(1, kUser1);
  expect_no_finding(
      processes_in({"write"}), own,
      "thread 100 `t` waits in write(4<pipe:[77]>): the read end of pipe:[77] is open in its own process. "
      "Nothing but a signal handler that uses descriptor 3 could let it go on. `grep SigCgt "
      "/proc/100/status`",
      Verdict::kUndecided);
  // Its parent waits for a handler, or for its end.
  const auto parent = [](const std::string& call) {
    MadeLook look;
    look.in_call(1, "poll").waits(1, 5, "read").pipe(78, 1, 5, 1, 6).waits(1, 7, "read").pipe(79, 1, 7, 2, 9);
    return look.on(2, call, 4, call)
        .pipe(77, call == "write" ? 1 : 2, 3, call == "write" ? 2 : 1, 4)
        .catches(1, kUser1);
  };
  expect_no_finding(processes_in({"poll", "write"}), parent("write"),
                    "That waits in poll(5<pipe:[78]> read, 7<pipe:[79]> read)", Verdict::kUndecided);
  // A worker that waits for work rests, and so does its parent, until a signal comes.
  expect_no_finding(processes_in({"poll", "read"}), parent("read"), "a signal handler that uses descriptor 6");
  // Somebody else could end the parent's wait.
  MadeLook others = parent("write");
  others.holds(0, 3, "pipe", "w", 79);
  expect_no_finding(processes_in({"poll", "write"}), others, "which is not traced and has the write end of pipe:[79]");
}

// As socat does with the pipes of its child.
TEST_F(CallWaits, WhoKeepsTheWriteEndOfWhatItReads) {
  const auto look = [](const char* nonblocking) {
    MadeLook made;
    made.in_call(1, "poll").waits(1, 5, "read").pipe(78, 1, 5, 2, 1).catches(1, 1 << 14);
    made.holds(1, 6, "pipe", "w", 78, std::string("NULL,NULL,NULL,NULL,") + nonblocking);
    return made.on(2, "read", 0, "read").pipe(77, 2, 0, 1, 7);
  };
  expect_no_finding(processes_in({"poll", "read"}), look("0"),
                    "Nothing but a signal handler that uses descriptor 6 could let one of them go on",
                    Verdict::kUndecided);
  expect_no_finding(processes_in({"poll", "read"}), look("1"), "a signal handler that uses descriptor 6");
  expect_no_finding(processes_in({"poll", ""}), look("0"), "a signal handler that uses descriptor 6");
}

// A supervisor that waits for its worker, which waits for work: a handler may tell the worker to end.
TEST_F(CallWaits, ACircleThatAHandlerMayEndIsTold) {
  constexpr std::uint64_t kTerminate = 1 << 14;
  constexpr std::uint64_t kChild = 1 << 16;
  const auto look = [](int whose, std::uint64_t signals) {
    MadeLook made;
    made.child(1, 200).on(2, "read", 4, "read").pipe(77, 2, 4, 1, 5);
    return made.catches(whose, signals);
  };
  const HungTrace trace = processes_in({"wait4", "read"});
  expect_finding(trace, look(1, 0), Verdict::kDeadlock, FindingType::kCycle, {100, 200}, {"the end of process 200"});
  // Who ends is one that both wait for.
  expect_finding(trace, look(1, kChild), Verdict::kDeadlock, FindingType::kCycle, {100, 200},
                 {"the end of process 200"});
  for (const int whose : {1, 2}) {
    const std::string pid = whose == 1 ? "100" : "200";
    expect_no_finding(trace, look(whose, kTerminate), "2 threads wait for each other in a cycle", Verdict::kUndecided);
    expect_no_finding(trace, look(whose, kTerminate),
                      "Nothing but a handler of SIGTERM in process " + pid + " `app` could let one of them go on.",
                      Verdict::kUndecided);
  }
}

// With some handlers, make ends itself while it waits for a job. It has no others, and in any other wait it is not
// make.
TEST_F(CallWaits, HandlersOfMakeAreThoseThatEndIt) {
  const auto look = [](int whose, int signal) {
    MadeLook made;
    made.child(1, 200).on(2, "read", 4, "read").pipe(77, 2, 4, 1, 5);
    return made.catches(whose, std::uint64_t{1} << (signal - 1));
  };
  HungTrace trace = processes_in({"wait4", "read"});
  trace.more_sql = "UPDATE image SET name = 'make';";
  for (const int signal : {SIGTERM, SIGUSR1})
    expect_finding(trace, look(1, signal), Verdict::kDeadlock, FindingType::kCycle, {100, 200},
                   {"the end of process 200"});
  expect_no_finding(trace, look(1, SIGUSR2), "a handler of SIGUSR2", Verdict::kUndecided);
  expect_no_finding(trace, look(2, SIGTERM), "a handler of SIGTERM", Verdict::kUndecided);
}

// Whom the waiter traces may be made to stop by any signal.
TEST_F(CallWaits, ACircleOfATracerIsTold) {
  MadeLook look;
  look.child(1, 0).on(2, "read", 4, "read").pipe(77, 2, 4, 1, 5).tracer(2, 100);
  expect_no_finding(processes_in({"wait4", "read"}), look,
                    "Nothing but a signal to process 200 (which it traces) could", Verdict::kUndecided);
}

// A number may stand for something else than when the wait began, if another thread has it, too.
TEST_F(CallWaits, ANumberThatAnotherThreadMayHaveChanged) {
  HungTrace trace = processes_in({"read", "read"});
  MadeThread other = elsewhere(101, "other", "read");
  other.process = 1;
  trace.threads.push_back(other);
  MadeLook look;
  look.on(1, "read", 3, "read")
      .on(3, "read", 3, "read")
      .on(2, "read", 4, "read")
      .pipe(77, 1, 3, 2, 5)
      .pipe(78, 2, 4, 1, 6);
  expect_finding(trace, look, Verdict::kDeadlock, FindingType::kCycle, {100, 101, 200}, {"the write end of pipe:[77]"});
  const std::string closes =
      "INSERT INTO kind VALUES(90, 'dup2', 'syscall', 'x86_64', 33);INSERT INTO event SELECT 900, "
      "ts_ns + 5, 1, 'returned', 3, 1, 90, 3, NULL, 9, 3, 0, 0, 0, 0, NULL FROM event WHERE thread_id = 1;";
  trace.more_sql = closes;
  expect_no_finding(trace, look, "", Verdict::kUndecided);
  // Of a call that was under way before tracing began, nobody knows.
  trace.more_sql = "UPDATE event SET how = 'attached' WHERE thread_id = 1;";
  expect_no_finding(trace, look, "Nothing but whatever descriptor 3 was when the wait began (another thread may",
                    Verdict::kUndecided);
}

}  // namespace
}  // namespace uscope::test
