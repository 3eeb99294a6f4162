// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// Whose child a process is the kernel tells: an orphan is nobody's but its reaper's.
#include "tests/unit/analyzer/deadlock/call_waits_test.h"

namespace uscope::test {
namespace {

using AdoptedChildren = CallWaits;

// A parent that waits for any child, a child whose output it does not read, and a server that one of them left behind.
MadeLook look_with_server(int parent_of_server) {
  MadeLook look;
  look.child(1, -1).on(2, "write", 4, "write").pipe(77, 1, 3, 2, 4).in_call(3, "clock_nanosleep", 1);
  look.parent(1, 50).parent(2, 100).parent(3, parent_of_server);
  return look;
}

TEST_F(AdoptedChildren, AnOrphanIsNotAChildOfAllThatWait) {
  const HungTrace trace = processes_in({"wait4", "write", "clock_nanosleep"});
  for (const int reaper : {1, 0, 50})
    expect_finding(trace, look_with_server(reaper), Verdict::kDeadlock, FindingType::kCycle, {100, 200},
                   {"waits in wait4(-1) in serve for the end of process 200"});
}

TEST_F(AdoptedChildren, ASubreaperWaitsForTheOrphansThatItHas) {
  const HungTrace trace = processes_in({"wait4", "write", "clock_nanosleep"});
  expect_no_finding(trace, look_with_server(100), "the end of process 300 `app`, which waits in clock_nanosleep()");
}

// An older store does not tell.
TEST_F(AdoptedChildren, WhoseChildrenTheyAreMayNotBeKnown) {
  MadeLook look;
  look.child(1, -1).on(2, "write", 4, "write").pipe(77, 1, 3, 2, 4).in_call(3, "clock_nanosleep", 1);
  expect_no_finding(processes_in({"wait4", "write", "clock_nanosleep"}), look);
}

}  // namespace
}  // namespace uscope::test
