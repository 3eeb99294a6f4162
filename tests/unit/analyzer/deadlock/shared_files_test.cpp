// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// Whoever shares the waiter's own open file may end the wait: not accused while that one is free, and still in a circle
// if it waits there, too.
#include <functional>
#include <limits>
#include <string>

#include "tests/unit/analyzer/deadlock/call_waits_test.h"

namespace uscope::test {
namespace {

constexpr int kMapped = std::numeric_limits<int>::min();

// The third process has something, and first runs, then waits for the first one, and then is not traced.
class SharedFiles : public CallWaits {
 protected:
  using Gives = std::function<void(MadeLook& look, int process)>;

  void expect_way(const std::string& call, const MadeLook& circle, const Gives& gives, const std::string& told = "") {
    expect_finding(processes_in({"wait4", call, ""}), circle, Verdict::kDeadlock, FindingType::kCycle, {100, 200}, {});
    MadeLook shared = circle;
    gives(shared, 3);
    expect_no_finding(processes_in({"wait4", call, ""}), shared);
    MadeLook stuck = shared;
    stuck.on(3, "read", 9, "read").pipe(99, 3, 9, 1, 9);
    const Diagnosis diagnosis = look_at(processes_in({"wait4", call, "read"}), stuck);
    ASSERT_EQ(diagnosis.findings.size(), 1U) << diagnosis.reason;
    EXPECT_EQ(verdict_name(diagnosis.verdict), "deadlock");
    EXPECT_NE(diagnosis.findings[0].explanation.find(told), std::string::npos) << diagnosis.findings[0].explanation;
    MadeLook stranger = circle;
    gives(stranger, 0);
    expect_no_finding(processes_in({"wait4", call, ""}), stranger, "process 9999 `other`, which is not traced");
  }
};

TEST_F(SharedFiles, ASocketMayBeShutDown) {
  const Gives same_end = [](MadeLook& look, int process) { look.socket(process, 7, 90, 91); };
  for (const char* wants : {"read", "write"}) {
    MadeLook look;
    look.child(1, 200).on(2, wants, 4, wants).socket(1, 3, 91, 90).socket(2, 4, 90, 91);
    expect_way(wants, look, same_end);
  }
  MadeLook poll;
  poll.child(1, 200).in_call(2, "poll").waits(2, 4, "read").socket(1, 3, 91, 90).socket(2, 4, 90, 91);
  expect_way("poll", poll, same_end);
}

TEST_F(SharedFiles, AFullPipeMayBeEnlarged) {
  const auto has = [](const char* access) {
    return [access](MadeLook& look, int process) { look.holds(process, 7, "pipe", access, 77); };
  };
  MadeLook full;
  full.child(1, 200).on(2, "write", 4, "write").pipe(77, 1, 3, 2, 4);
  expect_way("write", full, has("w"));
  // Who waits to read waits for what is written: another reader takes it, at most.
  MadeLook empty;
  empty.child(1, 200).on(2, "read", 4, "read").pipe(77, 2, 4, 1, 3);
  has("r")(empty, 3);
  expect_finding(processes_in({"wait4", "read", ""}), empty, Verdict::kDeadlock, FindingType::kCycle, {100, 200}, {});
}

TEST_F(SharedFiles, AnEpollSetMayGrowElsewhere) {
  const auto has = [](int ino) {
    return [ino](MadeLook& look, int process) { look.holds(process, 7, "epoll", "rw", ino); };
  };
  MadeLook look;
  look.child(1, 200).in_call(2, "epoll_wait", 6).waits(2, 4, "read", "6").pipe(77, 2, 4, 1, 3);
  look.holds(2, 6, "epoll", "rw", 1);
  expect_way("epoll_wait", look, has(1));
  has(2)(look, 3);
  expect_finding(processes_in({"wait4", "epoll_wait", ""}), look, Verdict::kDeadlock, FindingType::kCycle, {100, 200},
                 {});
}

// Others of its kind would not enlarge the pipe of a logger that is stopped.
TEST_F(SharedFiles, NobodyEnlargesThePipeOfWhoIsStopped) {
  MadeLook look;
  look.stopped(1, 19).on(2, "write", 4, "write").pipe(77, 1, 3, 2, 4).holds(3, 4, "pipe", "w", 77);
  expect_finding(processes_in({"read", "write", ""}), look, Verdict::kStall, FindingType::kStopped, {100, 200},
                 {"is stopped by SIGSTOP"});
}

// The process that took the lock has ended.
TEST_F(SharedFiles, AMappingKeepsALock) {
  for (const char* lock_class : {"flock", "ofd"}) {
    const std::string call = lock_class == std::string("ofd") ? "fcntl" : "flock";
    MadeLook look;
    look.child(1, 200).on(2, call, 3, "lock").holds(1, 5, "file", "rw", 11).holds(2, 3, "file", "rw", 11);
    look.lock(1, lock_class, 11, 0, false, true).lock(1, lock_class, 11, 2, true);
    expect_way(
        call, look, [](MadeLook& into, int process) { into.holds(process, kMapped, "file", "rw", 11); },
        "process 300 `app` maps file:[11]");
  }
}

TEST_F(SharedFiles, AnEventfdThatAChildHasInherited) {
  MadeLook look;
  look.on(1, "read", 3, "read").on(2, "read", 4, "read").pipe(77, 2, 4, 1, 5).catches(1, 0).catches(2, 0);
  look.holds(1, 3, "eventfd", "rw", 9).holds(2, 3, "eventfd", "rw", 9);
  const HungTrace both = processes_in({"read", "read"});
  expect_finding(both, look, Verdict::kDeadlock, FindingType::kCycle, {100, 200}, {});
  HungTrace asynchronous = both;
  asynchronous.more_sql =
      "INSERT INTO kind VALUES(90, 'io_setup', 'syscall', 'x86_64', 206);"
      "INSERT INTO event SELECT 900, ts_ns - 5, 1, 'returned', 1, 1, 90, 0, NULL, 5, 0, 0, 0, 0, 0, NULL FROM "
      "event LIMIT 1;";
  expect_no_finding(asynchronous, look, "the kernel, if a program has asked it to signal", Verdict::kUndecided);
  // Another holder may have given it to a driver.
  look.holds(2, 8, "device", "rw", 2, "NULL,NULL,NULL,NULL,0", "/dev/vfio/7");
  expect_no_finding(both, look, "the kernel, if a program has asked it to signal", Verdict::kUndecided);
}

}  // namespace
}  // namespace uscope::test
