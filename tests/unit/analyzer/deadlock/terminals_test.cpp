// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// Both sides of pseudo-terminals, and what is in flight.
#include "tests/unit/analyzer/deadlock/call_waits_test.h"

namespace uscope::test {
namespace {

constexpr const char* kThird = "3,NULL,NULL,NULL,0";  // the number of the terminal

MadeLook& has_master(MadeLook& look, int process, int fd = 5) {
  return look.holds(process, fd, "ptmx", "rw", 2, kThird, "/dev/ptmx");
}
MadeLook& has_terminal(MadeLook& look, int process, int fd = 0) {
  return look.holds(process, fd, "tty", "rw", 6, kThird, "/dev/pts/3");
}
// The first one waits for the end of the second one, which reads the terminal; the first one has the master.
MadeLook question() {
  MadeLook look;
  look.child(1, 200).on(2, "read", 0, "read");
  has_master(look, 1);
  return has_terminal(look, 2);
}

TEST_F(CallWaits, WhoCouldTypeWaitsForWhoAsks) {
  const HungTrace trace = processes_in({"wait4", "read"});
  expect_finding(trace, question(), Verdict::kDeadlock, FindingType::kCycle, {100, 200},
                 {"waits in read(0</dev/pts/3>) in serve: the master of /dev/pts/3 is open in process 100 `app` "
                  "(descriptor 5)"});
  MadeLook stranger = question();
  has_master(stranger, 0, 7);
  expect_no_finding(trace, stranger, "process 9999 `other`, which is not traced and has the master of /dev/pts/3 open");
  // Who has the terminal open could put something into its input.
  MadeLook user = question();
  has_terminal(user, 0, 1);
  expect_no_finding(trace, user, "which is not traced and has a descriptor of /dev/pts/3 open");
  MadeLook sibling = question();
  has_terminal(sibling, 3);
  expect_no_finding(processes_in({"wait4", "read", ""}), sibling);
  HungTrace threads = processes_in({"wait4", "read"});
  threads.threads.push_back(running(201, "types"));
  threads.threads[2].process = 2;
  expect_no_finding(threads, question());
  // Nobody is seen who has the master; another terminal's.
  MadeLook unseen;
  unseen.child(1, 200).on(2, "read", 0, "read").holds(1, 5, "ptmx", "rw", 2, "4,NULL,NULL,NULL,0", "/dev/ptmx");
  expect_no_finding(trace, has_terminal(unseen, 2), "somebody unseen who has the master of /dev/pts/3 open");
  MadeLook trouble = question();
  trouble.trouble(1, "the session of the terminal /dev/pts/3");
  expect_no_finding(trace, trouble, "the session of the terminal", Verdict::kUndecided);
  MadeLook limit;
  limit.child(1, 200).in_call(2, "read", 0, 0, "1").waits(2, 0, "read");
  has_master(limit, 1);
  expect_no_finding(trace, has_terminal(limit, 2));
}

TEST_F(CallWaits, AFullTerminalIsAStall) {
  MadeLook look;
  look.child(1, 200).on(2, "write", 1, "write");
  has_master(look, 1);
  expect_finding(processes_in({"wait4", "write"}), has_terminal(look, 2, 1), Verdict::kStall, FindingType::kCycle,
                 {100, 200}, {"the master of /dev/pts/3 is open in process 100", "No deadlock for certain"});
}

TEST_F(CallWaits, AnybodyMayOpenATerminal) {
  // A service that waits for who opens it, and has it open itself so that it does not hang up.
  MadeLook service;
  service.on(1, "read", 5, "read");
  has_master(service, 1);
  expect_no_finding(processes_in({"read"}), has_terminal(service, 1, 6), "whoever opens /dev/pts/3");
  // Its child has inherited it, and waits for something else.
  MadeLook inherited;
  inherited.on(1, "read", 5, "read").on(2, "read", 1, "read").pipe(77, 2, 1, 1, 8);
  has_master(inherited, 1);
  expect_no_finding(processes_in({"read", "read"}), has_terminal(inherited, 2), "whoever opens /dev/pts/3");
  MadeLook both;
  both.on(1, "read", 5, "read").on(2, "read", 0, "read");
  has_master(both, 1);
  expect_no_finding(processes_in({"read", "read"}), has_terminal(both, 2),
                    "They wait: thread 100 `t` in read(5</dev/ptmx of /dev/pts/3>) for whoever opens /dev/pts/3",
                    Verdict::kUndecided);
  // Somebody goes on; somebody who is not traced has it open.
  expect_no_finding(processes_in({"read", "read", ""}), both, "whoever opens /dev/pts/3");
  has_terminal(both, 0);
  expect_no_finding(processes_in({"read", "read"}), both, "which is not traced and has a descriptor of /dev/pts/3");
}

TEST_F(CallWaits, WhatIsInFlightMayBeAnything) {
  const HungTrace trace = processes_in({"wait4", "write"});
  MadeLook look;
  look.child(1, 200).on(2, "write", 4, "write").pipe(77, 1, 3, 2, 4);
  look.holds(0, -1, "other", "rw", 0, "NULL,NULL,NULL,NULL,0", "socket:[812]");
  expect_no_finding(trace, look, "descriptors that are in flight to socket:[812] of process 9999 `other`",
                    Verdict::kUndecided);
  // An end that nobody has may be there; waits for processes go on as they are.
  MadeLook unseen;
  unseen.on(1, "read", 3, "read").holds(1, 3, "pipe", "r", 77);
  unseen.holds(0, -1, "other", "rw", 0, "NULL,NULL,NULL,NULL,0", "socket:[812]");
  expect_no_finding(processes_in({"read"}), unseen, "one of them may be an end", Verdict::kUndecided);
  MadeLook stopped;
  stopped.child(1, 200).stopped(2, 22).holds(0, -1, "other", "rw", 0, "NULL,NULL,NULL,NULL,0", "socket:[812]");
  expect_finding(processes_in({"wait4", "write"}), stopped, Verdict::kStall, FindingType::kStopped, {100, 200}, {});
}

}  // namespace
}  // namespace uscope::test
