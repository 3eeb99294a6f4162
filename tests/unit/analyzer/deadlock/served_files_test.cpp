// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// Calls that wait for the server of a file system: it has no time limit, and no handler ends it.
#include <csignal>

#include "analyzer/deadlock/signal_bits.h"
#include "tests/unit/analyzer/deadlock/call_waits_test.h"

namespace uscope::test {
namespace {

using ServedFiles = CallWaits;

constexpr const char* kMount = "/mnt (fuse.sshfs of host:)";

// A descriptor of its server.
MadeLook& serves(MadeLook& look, int process, int fd) {
  return look.holds(process, fd, "mount", "rw", 0, "NULL,NULL,NULL,NULL,0", "/dev/fuse");
}

MadeLook stat_of(int thread, int process) {
  MadeLook look;
  look.served(thread, process, "statx", "/mnt/data/x", kMount, 5);
  return look;
}

TEST_F(ServedFiles, ACallIsUndecidedWithItsServer) {
  MadeLook look = stat_of(1, 1);
  serves(look, 0, 3);
  expect_no_finding(
      processes_in({"statx"}), look,
      "thread 100 `t` waits in statx(/mnt/data/x) for an answer of process 9999 `other`, which serves the "
      "file system /mnt (fuse.sshfs of host:) and is not traced. Such a call has no time limit",
      Verdict::kUndecided);
  look.catches(1, analyzer::bits_of({SIGTERM, SIGALRM})).awaits_timer(1);
  expect_no_finding(processes_in({"statx"}), look, "statx(/mnt/data/x)", Verdict::kUndecided);
  expect_no_finding(processes_in({"statx"}), stat_of(1, 1), "an answer of whoever serves the file system /mnt",
                    Verdict::kUndecided);
}

TEST_F(ServedFiles, AServerThatUsesItsOwnFileSystemWaitsForItself) {
  MadeLook look = stat_of(1, 1);
  serves(look, 1, 3);
  expect_finding(
      processes_in({"statx"}), look, Verdict::kDeadlock, FindingType::kSelfDeadlock, {100},
      {"waits in statx(/mnt/data/x) in serve: the server's end of /mnt (fuse.sshfs of host:) is open in its own "
       "process (descriptor 3)"});
}

TEST_F(ServedFiles, AServerAndItsUserWaitForEachOther) {
  MadeLook look = stat_of(1, 1);
  serves(look, 2, 3);
  look.on(2, "write", 4, "write").pipe(77, 1, 3, 2, 4);
  expect_finding(processes_in({"statx", "write"}), look, Verdict::kDeadlock, FindingType::kCycle, {100, 200},
                 {"the server's end of /mnt", "is open in process 200"});
  // One that takes requests will answer.
  MadeLook resting = stat_of(1, 1);
  serves(resting, 2, 3);
  resting.on(2, "read", 3, "read").holds(2, 3, "device", "rw", 9, "NULL,NULL,NULL,NULL,0", "/dev/fuse");
  expect_no_finding(processes_in({"statx", "read"}), resting, "the device /dev/fuse");
}

}  // namespace
}  // namespace uscope::test
