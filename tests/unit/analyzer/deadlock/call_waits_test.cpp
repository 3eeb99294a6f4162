// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// Hangs through pipes, sockets, children and file locks, and healthy programs that wait in the same calls.
#include <fmt/core.h>

#include <csignal>

#include "analyzer/deadlock/signal_bits.h"
#include "tests/unit/analyzer/deadlock/call_waits_test.h"

namespace uscope::test {
namespace {

TEST_F(CallWaits, AParentWaitsForAChildThatFillsAPipe) {
  MadeLook look;
  look.child(1, 200).on(2, "write", 4, "write").pipe(77, 1, 3, 2, 4);
  expect_finding(processes_in({"wait4", "write"}), look, Verdict::kDeadlock, FindingType::kCycle, {100, 200},
                 {"waits in wait4(200) in serve for the end of process 200 `app`",
                  "waits in write(4<pipe:[77]>) in serve: the read end of pipe:[77] is open in process 100 `app` "
                  "(descriptor 3)"});
  // Any child, one of which runs.
  MadeLook any;
  any.child(1, -1).on(2, "write", 4, "write").pipe(77, 1, 3, 2, 4);
  expect_no_finding(processes_in({"wait4", "write", ""}), any);
  // Somebody outside reads the pipe, too.
  look.holds(0, 8, "pipe", "r", 77);
  expect_no_finding(processes_in({"wait4", "write"}), look, "process 9999 `other`, which is not traced");
}

// The more is traced, the more is told: who could end a wait, and what that one is doing.
TEST_F(CallWaits, WhoIsTracedAndFreeIsNamed) {
  MadeLook look;
  look.on(1, "read", 3, "read").pipe(77, 1, 3, 2, 4).in_call(2, "clock_nanosleep", 1);
  const Diagnosis sleeper = look_at(processes_in({"read", "clock_nanosleep"}), look);
  EXPECT_EQ(sleeper.reason,
            "thread 100 `t` in read(3<pipe:[77]>) can be ended by process 200 `app`, which has the write end of "
            "pipe:[77] open (descriptor 4) and waits in clock_nanosleep()");
  ASSERT_EQ(sleeper.other_waits.size(), 2U);
  EXPECT_EQ(
      sleeper.other_waits[0].ended_by,
      "process 200 `app`, which has the write end of pipe:[77] open (descriptor 4) and waits in clock_nanosleep()");
  EXPECT_EQ(sleeper.other_waits[1].ended_by, "");
  MadeLook child;
  child.child(1, 200).in_call(2, "clock_nanosleep", 1);
  EXPECT_EQ(
      look_at(processes_in({"wait4", "clock_nanosleep"}), child).reason,
      "thread 100 `t` in wait4(200) can be ended by the end of process 200 `app`, which waits in clock_nanosleep()");
  // Two could: a chain, and one that runs.
  MadeLook both;
  both.on(1, "read", 3, "read").pipe(77, 1, 3, 2, 4).holds(3, 5, "pipe", "w", 77);
  expect_no_finding(processes_in({"read", "", ""}), both,
                    "process 200 `app`, which has the write end of pipe:[77] open (descriptor 4) and has made no call "
                    "for 30.000 s, or process 300 "
                    "`app`, which has the write end of pipe:[77] open (descriptor 5) and has made no call");
}

// A shell that waits for the command which hangs: it has a handler of SIGINT.
TEST_F(CallWaits, WhoWaitsForAnAccusedChildIsBehindIt) {
  const auto behind = [&](const std::vector<std::string>& calls, const MadeLook& look) {
    std::string out;
    for (const auto& wait : look_at(processes_in(calls), look).other_waits)
      if (wait.behind) out += std::to_string(wait.threads[0].pid) + " ";
    return out;
  };
  MadeLook look;
  look.child(1, 200).on(2, "write", 4, "write").pipe(77, 3, 3, 2, 4).on(3, "write", 5, "write").pipe(78, 2, 6, 3, 5);
  EXPECT_EQ(behind({"wait4", "write", "write"}, look), "100 ");
  look.catches(1, analyzer::bits_of({SIGINT}));
  EXPECT_EQ(behind({"wait4", "write", "write"}, look), "100 ");
  MadeLook any;  // child: one that runs
  any.child(1, -1).on(2, "write", 4, "write").pipe(77, 3, 3, 2, 4).on(3, "write", 5, "write").pipe(78, 2, 6, 3, 5);
  any.catches(1, analyzer::bits_of({SIGINT}));
  EXPECT_EQ(behind({"wait4", "write", "write", ""}, any), "");
}

// The owner of a lock that a fork has copied may live, in a process that is not traced.
TEST_F(CallWaits, AnOwnerOutsideTheTraceHasNotEnded) {
  const HungTrace trace{.threads = {mutex_waiter(100, "main", 0x5000, 90)}};
  const auto told = [&](const MadeLook& look) { return look_at(trace, look).findings.at(0).explanation; };
  MadeLook parent;
  parent.in_call(1, "futex", 0x5000).parent(1, 80).owner(1, 90, 80);
  EXPECT_NE(
      told(parent).find("its owner, thread 90, is one of the parent process 80, which is not traced: the lock was "
                        "held when it forked"),
      std::string::npos)
      << told(parent);
  MadeLook other;
  other.in_call(1, "futex", 0x5000).parent(1, 80).owner(1, 90, 81);
  EXPECT_NE(
      told(other).find("is not one of this process. Process 81, which is not traced, has a thread of that number"),
      std::string::npos)
      << told(other);
  MadeLook unrelated;
  unrelated.in_call(1, "futex", 0x5000).parent(1, 80).owner(1, 91, 80);
  EXPECT_NE(told(unrelated).find("thread 90, has ended without letting go"), std::string::npos) << told(unrelated);
}

TEST_F(CallWaits, TheEndOfAPipeNeverComes) {
  // A sibling has inherited the write end, and waits for the parent.
  MadeLook sibling;
  sibling.on(1, "read", 3, "read").pipe(77, 1, 3, 2, 4).on(2, "read", 5, "read").pipe(78, 2, 5, 1, 6);
  expect_finding(processes_in({"read", "read"}), sibling, Verdict::kDeadlock, FindingType::kCycle, {100, 200},
                 {"the write end of pipe:[77] is open in process 200 `app` (descriptor 4)"});
  MadeLook itself;
  itself.on(1, "read", 3, "read").pipe(77, 1, 3, 1, 4).catches(1, "NULL");
  // A process that the trace has seen from its start, and that has no handlers.
  HungTrace known = processes_in({"read"});
  known.more_sql = "UPDATE process SET start_ns = " + std::to_string(kStart + 1) + ";";
  expect_no_finding(processes_in({"read"}), itself, "a signal handler that uses descriptor 4");
  expect_finding(known, itself, Verdict::kDeadlock, FindingType::kSelfDeadlock, {100},
                 {"the write end of pipe:[77] is open in its own process (descriptor 4). Nobody else"});
  // Signal handlers write to pipes like these.
  MadeLook nonblocking;
  nonblocking.on(1, "read", 3, "read").holds(1, 3, "pipe", "r", 77).catches(1, "NULL");
  nonblocking.holds(1, 4, "pipe", "w", 77, "NULL,NULL,NULL,NULL,1");
  expect_no_finding(processes_in({"read"}), nonblocking, "a signal handler that uses descriptor 4");
  MadeLook polled;
  polled.in_call(1, "poll").waits(1, 3, "read").pipe(77, 1, 3, 1, 4).catches(1, "NULL");
  HungTrace poll = processes_in({"poll"});
  expect_no_finding(poll, polled, "a signal handler that uses descriptor 4");
  poll.more_sql = known.more_sql;
  expect_finding(poll, polled, Verdict::kDeadlock, FindingType::kSelfDeadlock, {100}, {"Nobody else"});
}

TEST_F(CallWaits, PeersThatFillEachOthersSockets) {
  MadeLook look;
  look.on(1, "write", 3, "write").on(2, "sendto", 4, "write").socket(1, 3, 90, 91).socket(2, 4, 91, 90);
  expect_finding(processes_in({"write", "sendto"}), look, Verdict::kDeadlock, FindingType::kCycle, {100, 200},
                 {"the other end of socket:[91] is open in process 200", "the other end of socket:[90]"});
  // The other end is in flight: whoever receives it may read.
  MadeLook flight;
  flight.on(1, "write", 3, "write").on(2, "sendto", 4, "write").socket(1, 3, 90, 91).socket(2, 4, 91, 90);
  flight.socket(2, -1, 91, 90);
  expect_no_finding(processes_in({"write", "sendto"}), flight, "receives");
}

TEST_F(CallWaits, LocksInOppositeOrder) {
  MadeLook look;
  look.on(1, "fcntl", 3, "lock").on(2, "fcntl", 3, "lock");
  for (const int process : {1, 2})
    look.holds(process, 3, "file", "rw", process == 1 ? 11 : 12, "NULL,NULL,NULL,NULL,0", "/tmp/b");
  look.lock(1, "posix", 11, 2, false).lock(1, "posix", 11, 1, true);
  look.lock(2, "posix", 12, 1, false).lock(2, "posix", 12, 2, true);
  expect_finding(processes_in({"fcntl", "fcntl"}), look, Verdict::kDeadlock, FindingType::kCycle, {100, 200},
                 {"waits in fcntl(3</tmp/b>, F_SETLKW) in serve: process 200 `app` has a lock on /tmp/b"});
  MadeLook free;
  free.on(1, "fcntl", 3, "lock").holds(1, 3, "file", "rw", 11);
  free.lock(1, "posix", 11, 0, false).lock(1, "posix", 11, 1, true);
  expect_no_finding(processes_in({"fcntl"}), free, "process 9999, which is not traced and has a lock on");
}

TEST_F(CallWaits, AFlockOfTheWaitingParent) {
  MadeLook look;
  look.child(1, 200).on(2, "flock", 3, "lock");
  look.holds(1, 5, "file", "rw", 11).holds(2, 3, "file", "rw", 11);
  look.lock(1, "flock", 11, 1, false).lock(1, "flock", 11, 2, true);
  expect_finding(processes_in({"wait4", "flock"}), look, Verdict::kDeadlock, FindingType::kCycle, {100, 200},
                 {"LOCK_EX)", "process 100 `app` has a lock on file:[11]"});
  // A process that runs has the open file, too.
  look.holds(3, 5, "file", "rw", 11);
  expect_no_finding(processes_in({"wait4", "flock", ""}), look);
}

TEST_F(CallWaits, AStoppedProcessHoldsALock) {
  MadeLook look;
  look.on(1, "flock", 3, "lock").stopped(2, 20).holds(1, 3, "file", "rw", 11).holds(2, 3, "file", "rw", 11);
  look.lock(1, "flock", 11, 2, false).lock(1, "flock", 11, 1, true);
  HungTrace trace = processes_in({"flock", "read"});
  expect_finding(trace, look, Verdict::kStall, FindingType::kStopped, {100, 200},
                 {"process 200 `app` is stopped by SIGTSTP, and cannot go on before it gets SIGCONT"});
  MadeLook child;
  child.child(1, 200).stopped(2, 22);
  expect_finding(processes_in({"wait4", "write"}), child, Verdict::kStall, FindingType::kStopped, {100, 200},
                 {"for the end of process 200", "stopped by SIGTTOU"});
  // A debugger goes on with what it stopped; a process that nobody waits for may be stopped as long as it likes.
  MadeLook debugged;
  debugged.child(1, 200).traced(2, 100);
  expect_no_finding(processes_in({"wait4", "write"}), debugged, "traced by gdb (pid 100)");
  MadeLook alone;
  alone.stopped(1, 19);
  expect_no_finding(processes_in({"read"}), alone, "stopped by SIGSTOP");
}

TEST_F(CallWaits, AJobserverWithoutTokens) {
  const HungTrace trace = processes_in({"wait4", "read", "read"});
  MadeLook look;
  look.child(1, -1).on(2, "read", 3, "read").on(3, "read", 3, "read");
  for (const int process : {1, 2, 3}) look.holds(process, 3, "pipe", "r", 77).holds(process, 4, "pipe", "w", 77);
  expect_finding(trace, look, Verdict::kDeadlock, FindingType::kCycle, {100, 200, 300}, {"the write end of pipe:[77]"});
  MadeLook compiles;
  compiles.child(1, -1).on(2, "read", 3, "read").holds(2, 3, "pipe", "r", 77).holds(2, 4, "pipe", "w", 77);
  compiles.holds(3, 4, "pipe", "w", 77);
  expect_no_finding(processes_in({"wait4", "read", ""}), compiles);
}

TEST_F(CallWaits, ALookFromBeforeTheLastCallIsPast) {
  MadeLook look;
  look.on(1, "read", 3, "read").pipe(77, 1, 3, 1, 4);
  HungTrace trace = processes_in({"read"});
  trace.more_sql = "UPDATE event SET ts_ns = ts_ns + 3600000000000;";
  expect_no_finding(trace, look);
}

TEST_F(CallWaits, AMutexAndAPipeAreOneCircle) {
  HungTrace trace{.threads = {elsewhere(100, "reader", "read"), mutex_waiter(101, "writer", kA, 100)}};
  MadeLook look;
  look.on(1, "read", 3, "read").pipe(77, 1, 3, 1, 4);
  expect_finding(trace, look, Verdict::kDeadlock, FindingType::kCycle, {100, 101},
                 {"thread 101 `writer` waits for the mutex 0x555500001000 in work, held by thread 100 `reader`"});
  trace.threads.push_back(running(102, "free"));
  expect_no_finding(trace, look);
}

TEST_F(CallWaits, ASystemVSemaphore) {
  const HungTrace trace = processes_in({"wait4", "semop"});
  const HungTrace known = made_here(trace, "semget");
  const auto look = [](int taker, int key, bool gone) {
    MadeLook made;
    made.child(1, -1).in_call(2, "semop", 7).lock(3, "sem", 7, 2, true, false, key);
    made.lock(3, "sem", 7, taker, false, gone, key).lock(4, "sem", 7, 1, false, false, key);
    return made;
  };
  expect_finding(known, look(1, 0, false), Verdict::kStall, FindingType::kCycle, {100, 200}, {"semop(7)"});
  // Not seen from the start; with a key; changed by somebody unseen: others know the semaphore.
  expect_no_finding(trace, look(1, 0, false),
                    "any process that changes the System V semaphores 7 (number 3, last "
                    "changed by process 100 `app`)");
  expect_no_finding(known, look(1, 11, false), "any process that changes the System V semaphores 7");
  // Who used it last has ended, as one does who dies with a semaphore; an initialiser does the same.
  expect_no_finding(known, look(0, 0, true), "number 3, last changed by process 9999, which has ended)",
                    Verdict::kUndecided);
  expect_no_finding(trace, look(0, 11, true), "`ipcs -s -i 7` shows who used it", Verdict::kUndecided);
  expect_no_finding(processes_in({"wait4", "semop", ""}), look(0, 11, true));
  // Some thread is free.
  HungTrace free = made_here(processes_in({"wait4", "semop", ""}), "semget");
  expect_no_finding(free, look(1, 0, false));
  // Any process's handler may change it.
  expect_no_finding(known, look(1, 0, false).catches(1, 1), "a signal handler that uses the System V semaphores 7");
  // Nothing is known of the set.
  MadeLook none;
  none.child(1, -1).in_call(2, "semop", 7);
  expect_no_finding(known, none, "whoever uses the System V semaphores 7", Verdict::kUndecided);
}

TEST_F(CallWaits, ASystemVMessageQueue) {
  const HungTrace trace = processes_in({"wait4", "msgrcv"});
  const auto look = [](int sender) {
    MadeLook made;
    made.child(1, -1).in_call(2, "msgrcv", 7).lock(0, "msg", 7, sender, false, sender == 0, 0);
    return made.lock(1, "msg", 7, 2, false, false, 0);
  };
  expect_finding(made_here(trace, "msgget"), look(1), Verdict::kStall, FindingType::kCycle, {100, 200}, {"msgrcv(7)"});
  // A service that short-lived clients send to.
  expect_no_finding(
      made_here(trace, "msgget"), look(0),
      "any process that uses the System V message queue 7 (last sent to by process 9999, which has ended; "
      "last received from by process 200 `app`)");
  expect_no_finding(trace, look(1), "any process that uses the System V message queue 7");
}

TEST_F(CallWaits, APosixMessageQueue) {
  const auto look = [](const std::string& name) {
    MadeLook made;
    made.child(1, 200).on(2, "mq_timedreceive", 3, "read").catches(2, 0);
    return made.holds(1, 5, "mqueue", "w", 11, "NULL,NULL,NULL,NULL,0", name)
        .holds(2, 3, "mqueue", "r", 11, "NULL,NULL,NULL,NULL,0", name);
  };
  const HungTrace trace = processes_in({"wait4", "mq_timedreceive"});
  expect_finding(trace, look("/jobs (deleted)"), Verdict::kDeadlock, FindingType::kCycle, {100, 200},
                 {"a descriptor to send to /jobs (deleted) is open in process 100 `app` (descriptor 5)"});
  expect_no_finding(trace, look("/jobs"), "whoever opens the message queue /jobs");
  expect_no_finding(trace, look("/jobs (deleted)").holds(0, 9, "mqueue", "w", 11), "process 9999 `other`");
  // One who only receives ends no wait of a receiver.
  expect_finding(trace, look("/jobs (deleted)").holds(0, 9, "mqueue", "r", 11), Verdict::kDeadlock, FindingType::kCycle,
                 {100, 200}, {"(descriptor 5)"});
  HungTrace free = processes_in({"wait4", "mq_timedreceive", ""});
  expect_no_finding(free, look("/jobs (deleted)").holds(3, 3, "mqueue", "rw", 11));
}

TEST_F(CallWaits, AFifoThatNobodyElseOpens) {
  MadeLook look;
  look.on(1, "openat", -2, "read").holds(1, -2, "fifo", "r", 11, "NULL,NULL,NULL,NULL,0", "/srv/in");
  expect_no_finding(processes_in({"openat"}), look,
                    "openat(/srv/in, O_RDONLY) can be ended by whoever opens /srv/in to write it");
  // Who only opens it has no end of it yet.
  look.on(2, "write", 4, "write").holds(2, 4, "fifo", "w", 11, "NULL,NULL,NULL,NULL,0", "/srv/in");
  expect_no_finding(processes_in({"openat", "write"}), look, "somebody unseen who has the read end of /srv/in open");
}

TEST_F(CallWaits, APollThatGoesOnAfterAStop) {
  MadeLook look;
  look.in_call(1, "poll").waits(1, 3, "read").pipe(77, 1, 3, 1, 4).catches(1, 0);
  HungTrace trace = processes_in({"restart_syscall"});
  trace.more_sql = "INSERT INTO kind VALUES(90, 'poll', 'syscall', 'x86_64', 7);";
  expect_finding(trace, look, Verdict::kDeadlock, FindingType::kSelfDeadlock, {100}, {"poll(3<pipe:[77]> read)"});
}

TEST_F(CallWaits, WhatACallAsksFor) {
  MadeLook look;
  look.child(1, 200).in_call(2, "writev", 4).waits(2, 4, "write", "NULL", "8192").pipe(77, 1, 3, 2, 4);
  expect_finding(processes_in({"wait4", "writev"}), look, Verdict::kDeadlock, FindingType::kCycle, {100, 200},
                 {"waits in writev(4<pipe:[77]>, 8192 bytes) in serve"});
}

// A job in a program that handles signals, as Python does.
TEST_F(CallWaits, AJobThatHandlesSignals) {
  MadeLook look;
  look.child(1, -1).in_call(2, "select", 4).waits(2, 3, "read").catches(1, 1 << 16).catches(2, 2);
  for (const int process : {1, 2}) look.holds(process, 3, "pipe", "r", 77).holds(process, 4, "pipe", "w", 77);
  HungTrace trace = processes_in({"wait4", "select"});
  expect_no_finding(trace, look, "a signal handler that uses descriptor 4");
  trace.more_sql = "UPDATE image SET name = 'make' WHERE id = 1;";
  expect_finding(trace, look, Verdict::kDeadlock, FindingType::kCycle, {100, 200}, {"the write end of pipe:[77]"});
  // A pipe of the job's own, of which make has one end.
  MadeLook own;
  own.child(1, -1).in_call(2, "select", 4).waits(2, 3, "read").catches(2, 2).holds(1, 4, "pipe", "w", 77);
  own.holds(2, 3, "pipe", "r", 77).holds(2, 4, "pipe", "w", 77);
  expect_no_finding(trace, own, "a signal handler that uses descriptor 4");
}

TEST_F(CallWaits, HealthyServicesAreNotAccused) {
  // A master waits for its workers; these wait for clients.
  MadeLook workers;
  workers.child(1, -1).in_call(2, "epoll_wait", 5).waits(2, 6, "read", "5").on(3, "accept4", 6, "accept");
  for (const int process : {2, 3}) workers.holds(process, 6, "inet", "rw", 50, "NULL,NULL,NULL,1,0");
  expect_no_finding(processes_in({"wait4", "epoll_wait", "accept4"}), workers, "whoever connects to");
  // A shell waits for its child, which reads a terminal.
  MadeLook shell;
  shell.child(1, 200).on(2, "read", 0, "read").holds(2, 0, "tty", "rw", 3, "NULL,NULL,NULL,NULL,0", "/dev/pts/0");
  expect_no_finding(processes_in({"wait4", "read"}), shell, "input or output of the terminal /dev/pts/0");
  // tail -f | grep: inotify.
  MadeLook tail;
  tail.child(1, -1).on(2, "read", 4, "read").holds(2, 4, "inotify", "r", 0).on(3, "read", 0, "read");
  tail.pipe(77, 3, 0, 2, 1);
  expect_no_finding(processes_in({"wait4", "read", "read"}), tail, "a change of files");
  // A pool waits for work from a parent in accept.
  MadeLook pool;
  pool.on(1, "accept", 6, "accept").holds(1, 6, "unix", "rw", 50, "NULL,NULL,NULL,1,0");
  pool.on(2, "read", 3, "read").on(3, "read", 3, "read").pipe(77, 2, 3, 1, 4).pipe(77, 3, 3, 1, 4);
  expect_no_finding(processes_in({"accept", "read", "read"}), pool);
  // A time limit, one that is not known, a signal, a FIFO that anybody may open.
  for (const char* timed : {"1", "NULL"}) {
    MadeLook limit;
    limit.in_call(1, "read", 3, 0, timed).waits(1, 3, "read").pipe(77, 1, 3, 1, 4);
    const auto diagnosis = look_at(processes_in({"read"}), limit);
    EXPECT_TRUE(diagnosis.findings.empty()) << timed;
  }
  MadeLook paused;
  paused.in_call(1, "pause");
  expect_no_finding(processes_in({"pause"}), paused, "a signal");
  MadeLook fifo;
  fifo.on(1, "read", 3, "read").holds(1, 3, "fifo", "rw", 7);
  expect_no_finding(processes_in({"read"}), fifo, "whoever opens");
  // An end that nobody is seen to have; one without a known peer; a timer's signal; what could not be looked at.
  MadeLook unseen;
  unseen.on(1, "read", 3, "read").holds(1, 3, "pipe", "r", 77);
  expect_no_finding(processes_in({"read"}), unseen, "somebody unseen");
  MadeLook datagram;
  datagram.on(1, "recvfrom", 3, "read").holds(1, 3, "unix", "rw", 90);
  expect_no_finding(processes_in({"recvfrom"}), datagram, "whoever sends to");
  MadeLook timer;
  timer.child(1, 200).on(2, "write", 4, "write").pipe(77, 1, 3, 2, 4);
  HungTrace alarmed = processes_in({"wait4", "write"});
  alarmed.more_sql =
      "INSERT INTO kind VALUES(90, 'alarm', 'syscall', 'x86_64', 37);"
      "INSERT INTO event SELECT 900, ts_ns - 5, 1, 'returned', 2, 2, 90, 0, NULL, 5, 0, 0, 0, 0, 0, NULL FROM event "
      "LIMIT 1;";
  expect_no_finding(alarmed, timer, "the signal of a timer");
  timer.trouble(2, "descriptors could not be read");
  expect_no_finding(processes_in({"wait4", "write"}), timer, "descriptors could not be read", Verdict::kUndecided);
  // A thread that ran during the look.
  MadeLook ran;
  ran.in_call(1, "read", 3, 0, "0", "asleep", 0).waits(1, 3, "read").pipe(77, 1, 3, 1, 4);
  expect_no_finding(processes_in({"read"}), ran);
}

// Through a dup in the parent, a fork, and a dup2 in the child; the number was another descriptor's before.
TEST_F(CallWaits, WhereADescriptorComesFrom) {
  MadeLook look;
  look.child(1, 200).on(2, "write", 9, "write").pipe(77, 1, 3, 2, 9).pipe(78, 2, 5, 1, 8);
  HungTrace trace = processes_in({"wait4", "write"});
  const auto calls = [](const std::string& more) {
    std::string sql =
        "INSERT INTO kind SELECT 90, 'pipe2', 'syscall', 'x86_64', 293 UNION SELECT 91, 'dup', 'syscall', 'x86_64', 32 "
        "UNION SELECT 92, 'clone', 'syscall', 'x86_64', 56 UNION SELECT 93, 'close', 'syscall', 'x86_64', 3 "
        "UNION SELECT 94, 'recvmsg', 'syscall', 'x86_64', 47;"
        "UPDATE process SET start_ns = 1005 WHERE pid = 200; UPDATE process SET start_ns = 1 WHERE pid = 100;"
        "INSERT INTO content VALUES(90, x'0300000004000000');";
    int id = 900;
    const auto add = [&](int ts, int thread, int kind, int result, int a0) {
      sql += fmt::format(
          "INSERT INTO event VALUES({}, {}, 10, 'returned', {}, {}, {}, {}, NULL, {}, 0, 0, 0, 0, 0, NULL);", id++, ts,
          thread, thread, kind, result, a0);
    };
    add(900, 1, 91, 3, 1);     // 900: another descriptor 3
    add(920, 1, 93, 0, 3);     // closed
    add(940, 1, 90, 0, 4096);  // 902: the pipe
    sql += "INSERT INTO event_content VALUES(902, 0, 0, 1, 90, 0, 0);";
    add(1000, 1, 92, 200, 0);  // the fork
    return sql + more;
  };
  trace.more_sql = calls("");
  const auto openings = [&] {
    const Diagnosis diagnosis = look_at(trace, look);
    EXPECT_EQ(diagnosis.findings.size(), 1U) << diagnosis.reason;
    std::vector<std::string> told;
    if (diagnosis.findings.empty()) return told;
    for (const auto& opening : diagnosis.findings[0].openings) {
      std::string text = fmt::format("{} of {}:", opening.fd, opening.pid);
      for (const auto& step : opening.steps) text += fmt::format(" {} {} {}", step.call, step.pid, step.fd);
      told.push_back(text);
    }
    return told;
  };
  EXPECT_EQ(openings(), std::vector<std::string>{"3 of 100: pipe2 100 3"});
  // One that was closed since, and one that may have come in a message, are others.
  trace.more_sql =
      calls("INSERT INTO event VALUES(950, 960, 10, 'returned', 1, 1, 93, 0, NULL, 3, 0, 0, 0, 0, 0, NULL);");
  EXPECT_EQ(openings(), std::vector<std::string>{});
  trace.more_sql =
      calls("INSERT INTO event VALUES(950, 960, 10, 'returned', 1, 1, 94, 0, NULL, 3, 0, 0, 0, 0, 0, NULL);");
  EXPECT_EQ(openings(), std::vector<std::string>{});
  // The write end: as 4 in the parent, as 9 in the child.
  look = MadeLook();
  look.on(1, "read", 3, "read").on(2, "read", 5, "read").pipe(77, 1, 3, 2, 9).pipe(78, 2, 5, 1, 8);
  trace = processes_in({"read", "read"});
  trace.more_sql =
      calls("INSERT INTO event VALUES(950, 1100, 10, 'returned', 2, 2, 91, 9, NULL, 4, 0, 0, 0, 0, 0, NULL);");
  EXPECT_EQ(openings(), std::vector<std::string>{"9 of 200: pipe2 100 4 clone 100 -1 dup 200 9"});
  trace.more_sql +=
      "INSERT INTO kind VALUES(95, 'dup2', 'syscall', 'x86_64', 33);"
      "INSERT INTO event VALUES(951, 1200, 10, 'returned', 2, 2, 95, 9, NULL, 9, 9, 0, 0, 0, 0, NULL);";
  EXPECT_EQ(openings(), std::vector<std::string>{"9 of 200: pipe2 100 4 clone 100 -1 dup 200 9 dup2 200 9"});
}

// The kernel signals eventfds of drivers, of asynchronous I/O, and of control groups.
TEST_F(CallWaits, AnEventfdThatTheKernelMaySignal) {
  MadeLook own;
  own.on(1, "read", 3, "read").holds(1, 3, "eventfd", "rw", 9);
  const std::string from_start = "UPDATE process SET start_ns = " + std::to_string(kStart + 1) + ";";
  HungTrace known = processes_in({"read"});
  known.more_sql = from_start;
  expect_finding(known, own, Verdict::kDeadlock, FindingType::kSelfDeadlock, {100}, {"a descriptor of eventfd:[9]"});
  MadeLook attached = own;
  attached.catches(1, 0);
  expect_no_finding(processes_in({"read"}), attached, "the kernel, if a program has asked it to signal eventfd:[9]",
                    Verdict::kUndecided);
  MadeLook mute = own;
  mute.holds(1, 0, "device", "rw", 1, "NULL,NULL,NULL,NULL,0", "/dev/null");
  expect_finding(known, mute, Verdict::kDeadlock, FindingType::kSelfDeadlock, {100}, {});
  mute.holds(1, 4, "device", "rw", 2, "NULL,NULL,NULL,NULL,0", "/dev/vfio/7");
  expect_no_finding(known, mute, "the kernel, if a program has asked it to signal", Verdict::kUndecided);
  known.more_sql = from_start + "INSERT INTO string VALUES(900, '/sys/fs/cgroup/memory/a/cgroup.event_control');";
  expect_no_finding(known, own, "the kernel, if a program has asked it to signal", Verdict::kUndecided);
  known.more_sql =
      from_start +
      "INSERT INTO kind VALUES(90, 'io_setup', 'syscall', 'x86_64', 206);"
      "INSERT INTO event SELECT 900, ts_ns - 5, 1, 'returned', 1, 1, 90, 0, NULL, 5, 0, 0, 0, 0, 0, NULL FROM "
      "event LIMIT 1;";
  expect_no_finding(known, own, "the kernel, if a program has asked it to signal", Verdict::kUndecided);
  // One that another process has is there for that process to signal.
  MadeLook shared;
  shared.on(1, "read", 3, "read").on(2, "read", 4, "read").catches(1, 0).catches(2, 0);
  shared.holds(1, 3, "eventfd", "rw", 9).holds(2, 3, "eventfd", "rw", 9);
  shared.holds(1, 4, "eventfd", "rw", 10).holds(2, 4, "eventfd", "rw", 10);
  expect_finding(processes_in({"read", "read"}), shared, Verdict::kDeadlock, FindingType::kCycle, {100, 200},
                 {"a descriptor of eventfd:[9] is open in process 200"});
}

// A thread of the process that does something else may add to the set.
TEST_F(CallWaits, AnEpollSetMayGrow) {
  MadeLook look;
  look.in_call(1, "epoll_wait", 4).waits(1, 5, "read", "4").pipe(77, 1, 5, 2, 4).catches(1, 0);
  look.child(2, 100).catches(2, 0);
  expect_finding(processes_in({"epoll_wait", "wait4"}), look, Verdict::kDeadlock, FindingType::kCycle, {100, 200}, {});
  HungTrace more = processes_in({"epoll_wait", "wait4"});
  MadeThread runs = elsewhere(101, "runs", "");
  runs.process = 1;
  more.threads.push_back(runs);
  expect_no_finding(more, look);
}

TEST_F(CallWaits, WhatCannotBeFollowedIsUndecided) {
  MadeLook other;
  other.in_call(1, "io_getevents");
  expect_no_finding(processes_in({"io_getevents"}), other, "it cannot be followed who could end io_getevents()",
                    Verdict::kUndecided);
  HungTrace go{.threads = {sem_waiter(100, "main", kA), elsewhere(101, "poller", "epoll_wait")}};
  go.threads[0].stack = {{"runtime.futex", "app"}, {"runtime.notesleep", "app"}, {"main", "app"}};
  MadeLook look;
  look.in_call(1, "futex").in_call(2, "epoll_wait", 4).waits(2, 5, "read", "4").holds(1, 5, "eventfd", "rw", 9);
  const auto goroutines = look_at(go, look);
  EXPECT_TRUE(goroutines.findings.empty());
  // A listening socket: somebody may connect.
  look.waits(2, 6, "read", "4").holds(1, 6, "inet", "rw", 50, "NULL,NULL,NULL,1,0");
  expect_no_finding(go, look);
}

// Python calls its program's handlers in a thread that waits for a lock; that of SIGINT it has by itself.
TEST_F(CallWaits, APythonHandlerMayReleaseLocks) {
  HungTrace trace{.threads = {sem_waiter(100, "main", kA)}};
  trace.threads[0].handlers = 1;
  trace.threads[0].stack = {{"libc.so.6+0x8f000"}, {"PyThread_acquire_lock_timed", "python3.11"}, {"main", "app"}};
  const auto caught = [](std::initializer_list<int> signals) {
    std::uint64_t bits = 0;
    for (const int signal : signals) bits |= std::uint64_t{1} << (signal - 1);
    MadeLook look;
    look.in_call(1, "futex").catches(1, bits);
    return look;
  };
  const auto expect_stall = [&](const MadeLook& look) {
    EXPECT_EQ(verdict_name(look_at(trace, look).verdict), verdict_name(Verdict::kStall));
  };
  expect_stall(caught({}));
  expect_stall(caught({SIGINT, SIGSEGV}));
  expect_no_finding(trace, caught({SIGINT, SIGTERM}), "a signal may come whose handler wakes thread 100 `main`");
  expect_no_finding(trace, caught({SIGUSR1}), "a signal may come whose handler wakes thread 100 `main`");
}

// Attached to: only the look tells what the process handles.
TEST_F(CallWaits, TheLookTellsHandlers) {
  const HungTrace trace = processes_in({"read"});
  constexpr std::uint64_t kHangup = 1;
  constexpr std::uint64_t kAlarm = 1 << 13;
  constexpr std::uint64_t kFaults = 1 << 10 | 1 << 7;  // SIGSEGV, SIGFPE
  const auto caught = [&](std::uint64_t signals) {
    MadeLook look;
    look.on(1, "read", 3, "read").pipe(77, 1, 3, 1, 4).catches(1, signals);
    return look;
  };
  expect_finding(trace, caught(0), Verdict::kDeadlock, FindingType::kSelfDeadlock, {100}, {"its own process"});
  expect_finding(trace, caught(kFaults), Verdict::kDeadlock, FindingType::kSelfDeadlock, {100}, {"its own process"});
  expect_no_finding(trace, caught(kHangup), "a signal handler that uses descriptor 4");
  // Whoever knows its pid may send it (kill -ALRM), where no timer does.
  expect_no_finding(trace, caught(kAlarm), "a signal handler that uses descriptor 4");
  // The classic time limit of a lock.
  MadeLook lock;
  lock.child(1, 200).on(2, "flock", 3, "lock").catches(2, kAlarm).awaits_timer(2);
  lock.holds(1, 5, "file", "rw", 11).holds(2, 3, "file", "rw", 11);
  lock.lock(1, "flock", 11, 1, false).lock(1, "flock", 11, 2, true);
  expect_no_finding(processes_in({"wait4", "flock"}), lock, "the signal of a timer");
}

// posix_spawn asks for the default of each signal in the child, and has no handler.
TEST_F(CallWaits, TheDefaultOfSigalrmIsNoTimer) {
  MadeLook look;
  look.child(1, 200).on(2, "write", 4, "write").pipe(77, 1, 3, 2, 4).catches(2, "NULL");
  HungTrace trace = processes_in({"wait4", "write"});
  trace.more_sql =
      "INSERT INTO kind VALUES(90, 'rt_sigaction', 'syscall', 'x86_64', 13);"
      "INSERT INTO event SELECT 900, ts_ns - 5, 1, 'returned', 2, 2, 90, 0, NULL, 14, 4096, 0, 0, 0, 0, NULL FROM "
      "event "
      "LIMIT "
      "1;";
  expect_no_finding(trace, look, "the signal of a timer");
  look.catches(2, 0);
  expect_finding(trace, look, Verdict::kDeadlock, FindingType::kCycle, {100, 200}, {"the end of process 200"});
  trace.more_sql += "UPDATE kind SET name = 'setitimer' WHERE id = 90;";
  expect_no_finding(trace, look, "the signal of a timer");
}

TEST_F(CallWaits, ATimeLimitOfASocket) {
  const auto look = [](const std::string& timed) {
    MadeLook made;
    made.in_call(1, "write", 3, 0, timed).waits(1, 3, "write").in_call(2, "write", 4, 0, timed).waits(2, 4, "write");
    return made.socket(1, 3, 90, 91).socket(2, 4, 91, 90);
  };
  HungTrace trace = processes_in({"write", "write"});
  expect_finding(trace, look("0"), Verdict::kDeadlock, FindingType::kCycle, {100, 200},
                 {"the other end of socket:[91]"});
  expect_no_finding(trace, look("1"), "");
  // The kernel did not tell.
  expect_no_finding(trace, look("NULL"), "SO_SNDTIMEO", Verdict::kUndecided);
  trace.more_sql = "UPDATE process SET start_ns = " + std::to_string(kStart + 1) + ";";
  expect_no_finding(trace, look("NULL"), "SO_SNDTIMEO", Verdict::kUndecided);
  // The limit of the wait is that with which it began. SO_SNDTIMEO, in whatever process: sockets are inherited.
  const auto asked = [&](const std::string& call, const std::string& args, const std::string& when) {
    trace.more_sql = "INSERT INTO kind VALUES(90, '" + call +
                     "', 'syscall', 'x86_64', 54);INSERT INTO event SELECT 900, ts_ns " + when +
                     ", 1, 'returned', 2, 2, 90, 0, NULL, " + args + ", 0, 0, 0, NULL FROM event LIMIT 1;";
  };
  asked("setsockopt", "3, 1, 21", "+ 5");
  expect_no_finding(trace, look("0"), "a limit of a socket was changed while it waits");
  asked("setsockopt", "3, 6, 18", "+ 5");  // TCP_USER_TIMEOUT
  expect_no_finding(trace, look("0"), "a limit of a socket was changed while it waits");
  asked("socketcall", "14, 4096, 0", "+ 5");
  expect_no_finding(trace, look("0"), "a limit of a socket was changed while it waits");
  asked("setsockopt", "3, 1, 21", "- 5");
  expect_finding(trace, look("0"), Verdict::kDeadlock, FindingType::kCycle, {100, 200},
                 {"the other end of socket:[91]"});
}

TEST_F(CallWaits, AProcessThatHadEndedBeforeTheLookFreesNobody) {
  HungTrace trace = processes_in({"read", "read"});
  trace.threads[1].call = "";
  trace.processes[1].ended = 5;
  MadeLook look;
  look.on(1, "read", 3, "read").pipe(77, 1, 3, 1, 4).catches(1, 0);
  expect_finding(trace, look, Verdict::kDeadlock, FindingType::kSelfDeadlock, {100}, {"its own process"});
}

TEST_F(CallWaits, AStoppedOwnerOfASharedLock) {
  HungTrace trace{.threads = {mutex_waiter(100, "waits", kA, 200), running(200, "owner")},
                  .processes = {{.pid = 100}, {.pid = 200, .parent = 1}}};
  trace.threads[0].op = 0;
  trace.threads[0].key = "file:8:12:0x0";
  trace.threads[0].untraced_sharers = 0;
  trace.threads[0].open = 0;
  trace.threads[1].process = 2;
  MadeLook look;
  look.in_call(1, "futex");
  expect_no_finding(trace, look, "thread 200 `owner` has made no call");
  look.stopped(2, 19);
  expect_finding(trace, look, Verdict::kStall, FindingType::kStopped, {100, 200},
                 {"held by thread 200 `owner`", "process 200 `app` is stopped by SIGSTOP"});
}

TEST_F(CallWaits, TheToolsForGoAndJavaAreNamed) {
  HungTrace go{.threads = {sem_waiter(100, "main", kA), elsewhere(101, "poller", "epoll_wait")}};
  go.threads[0].stack = {{"runtime.futex", "app"}, {"runtime.notesleep", "app"}, {"main", "app"}};
  MadeLook look;
  look.in_call(1, "futex").in_call(2, "epoll_wait", 4).waits(2, 5, "read", "4").holds(1, 5, "eventfd", "rw", 9);
  look.catches(1, 0x7fffffff);
  expect_no_finding(go, look, "kill -QUIT 100", Verdict::kUndecided);
  HungTrace java{.threads = {sem_waiter(100, "main", kA), sem_waiter(101, "VM Periodic", kB)}};
  for (MadeThread& thread : java.threads) thread.stack = {{"os::PlatformEvent::park", "libjvm.so"}};
  java.threads[1].timeout_ns = 50'000'000;
  MadeLook asleep;
  asleep.in_call(1, "futex").in_call(2, "futex");
  expect_no_finding(java, asleep, "`jstack 100`", Verdict::kUndecided);
}

// OpenJDK 17 lets the first that waits for a monitor wake up each second, to look again.
TEST_F(CallWaits, TheTimeoutOfWhoEntersAMonitorDoesNotCount) {
  HungTrace trace{.threads = {sem_waiter(100, "a", kA), sem_waiter(101, "b", kB)}};
  for (MadeThread& thread : trace.threads) thread.timeout_ns = 1'000'000'000;
  MadeLook look;
  look.in_call(1, "futex").in_call(2, "futex").monitor(1, "enter", 4096, 101).monitor(2, "enter", 8192, 100);
  expect_finding(trace, look, Verdict::kDeadlock, FindingType::kCycle, {100, 101}, {"the monitor of a Account"});
}

// It is awake for a moment then: the other's owner is known, and what it waits for itself is not.
TEST_F(CallWaits, WhoIsMetAwakeAtAMonitorIsTold) {
  HungTrace trace{.threads = {sem_waiter(100, "a", kA), sem_waiter(101, "b", kB)}};
  for (MadeThread& thread : trace.threads) thread.timeout_ns = 1'000'000'000;
  MadeLook look;
  look.in_call(1, "futex").monitor(1, "enter", 4096, 101);
  EXPECT_TRUE(look_at(trace, look).awake_at_monitor);
  look.in_call(2, "futex");
  EXPECT_FALSE(look_at(trace, look).awake_at_monitor) << "it sleeps, in a wait of another kind";
  trace.threads[1] = running(101, "b");
  EXPECT_TRUE(look_at(trace, MadeLook().in_call(1, "futex").monitor(1, "enter", 4096, 101)).awake_at_monitor);
  trace.threads[0] = running(100, "a");
  MadeLook both;
  for (const int thread : {1, 2}) both.in_call(thread, "futex", 0, 0, "0", "running", 0);
  EXPECT_FALSE(look_at(trace, both).awake_at_monitor);
  both.monitor(1, "enter", 4096, 101).monitor(2, "enter", 8192, 100);
  EXPECT_TRUE(look_at(trace, both).awake_at_monitor);
  trace.threads[0] = sem_waiter(100, "a", kA);
  MadeLook circle;
  circle.in_call(1, "futex").in_call(2, "futex").monitor(1, "enter", 4096, 101).monitor(2, "enter", 8192, 100);
  trace.threads[1] = sem_waiter(101, "b", kB);
  EXPECT_FALSE(look_at(trace, circle).awake_at_monitor);
  const HungTrace mutex{.threads = {mutex_waiter(100, "a", kA, 101), running(101, "b")}};
  EXPECT_FALSE(look_at(mutex, MadeLook().in_call(1, "futex")).awake_at_monitor) << "another look tells no more";
}

TEST_F(CallWaits, JavaMonitorsAreLocksWithOwners) {
  HungTrace trace{.threads = {sem_waiter(100, "a", kA), sem_waiter(101, "b", kB), running(102, "vm")}};
  MadeLook look;
  look.in_call(1, "futex").in_call(2, "futex").monitor(1, "enter", 4096, 101).monitor(2, "enter", 8192, 100);
  expect_finding(trace, look, Verdict::kDeadlock, FindingType::kCycle, {100, 101},
                 {"thread 100 `a` waits to enter the monitor of a Account at 0x1000 in take, held by thread 101 `b`"});
}

TEST_F(CallWaits, EachThreadsWaitIsTold) {
  HungTrace trace = processes_in({"poll"});
  MadeLook look;
  look.in_call(1, "poll").waits(1, 5, "read").waits(1, 7, "write").holds(1, 5, "tty", "rw", 3);
  look.holds(1, 7, "unix", "rw", 90, "NULL,NULL,NULL,NULL,0", "socket:[to unix:/run/x]");
  const Diagnosis diagnosis = look_at(trace, look);
  ASSERT_EQ(diagnosis.other_waits.size(), 1U);
  EXPECT_EQ(diagnosis.other_waits[0].wait, "poll(5<tty:[3]> read, 7<socket:[to unix:/run/x]> write)");
  MadeLook parts;
  parts.in_call(1, "writev", 4).waits(1, 4, "write", "NULL", "65536", "2").pipe(77, 1, 3, 1, 4);
  const Diagnosis writes = look_at(processes_in({"writev"}), parts);
  ASSERT_EQ(writes.other_waits.size(), 1U);
  EXPECT_EQ(writes.other_waits[0].wait, "writev(4<pipe:[77]>, 2 parts, 65536 bytes)");
}

}  // namespace
}  // namespace uscope::test
