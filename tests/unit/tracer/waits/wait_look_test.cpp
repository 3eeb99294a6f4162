// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// Looks at a child that waits for a lock of a file, and at one that only rests, with and without the kernel's list of
// locks.
#include "tracer/waits/wait_look.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/file.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <fstream>
#include <map>
#include <span>
#include <string>
#include <thread>
#include <vector>

#include "support/unique_fd.h"
#include "uscope/record.h"

namespace uscope::tracer {
namespace {

class WaitLooks : public testing::Test {
 protected:
  void SetUp() override {
    path_ = testing::TempDir() + "wait_look." + std::to_string(getpid());
    held_.reset(open(path_.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600));
    ASSERT_EQ(flock(held_.get(), LOCK_EX), 0);
  }
  void TearDown() override {
    if (child_ > 0) {
      kill(child_, SIGKILL);
      waitpid(child_, nullptr, 0);
    }
    unlink(path_.c_str());
  }

  void start(bool locks) {
    child_ = fork();
    if (child_ == 0) {
      if (!locks) pause();
      _exit(flock(open(path_.c_str(), O_RDWR), LOCK_EX));
    }
    const std::string waits = locks ? "73 " : "34 ";  // flock, pause
    for (std::string call; call.compare(0, waits.size(), waits) != 0;
         std::getline(std::ifstream("/proc/" + std::to_string(child_) + "/syscall"), call))
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }

  // How many records of each type a look has.
  std::map<int, int> look(const std::vector<std::uint32_t>& silent) const {
    const auto pid = static_cast<std::uint32_t>(child_);
    const AskedThread thread{1, 1, pid, pid};
    ScoutWriter request;
    request.put(std::uint32_t{1});
    request.put_bytes(std::as_bytes(std::span(&thread, 1)));
    request.put_bytes(std::as_bytes(std::span(silent)));
    std::map<int, int> counts;
    for (const ScoutMessage& message : run_here(look_at_waits, request.bytes()))
      for (std::size_t at = 0; at + sizeof(usc_record) <= message.bytes.size();) {
        const auto& record = *reinterpret_cast<const usc_record*>(message.bytes.data() + at);
        counts[record.type]++;
        at += record.size;
      }
    return counts;
  }

  std::string path_;
  UniqueFd held_;
  pid_t child_ = 0;
};

TEST_F(WaitLooks, TellWhoHoldsALockOfAFile) {
  start(true);
  std::map<int, int> counts = look({});
  EXPECT_EQ(counts[USC_RECORD_THREAD_LOOK], 1);
  EXPECT_GE(counts[USC_RECORD_HELD_LOCK], 2);
  EXPECT_EQ(counts[USC_RECORD_LOOK_TROUBLE], 0);
}

TEST_F(WaitLooks, SayThatTheListOfLocksIsMissing) {
  start(true);
  std::map<int, int> counts = look({kWholeMachine});
  EXPECT_EQ(counts[USC_RECORD_THREAD_LOOK], 1);
  EXPECT_EQ(counts[USC_RECORD_HELD_LOCK], 0);
  EXPECT_EQ(counts[USC_RECORD_LOOK_TROUBLE], 1);
}

TEST_F(WaitLooks, NeedNoListWhereNobodyWaitsForALock) {
  start(false);
  std::map<int, int> counts = look({kWholeMachine});
  EXPECT_EQ(counts[USC_RECORD_THREAD_LOOK], 1);
  EXPECT_EQ(counts[USC_RECORD_LOOK_TROUBLE], 0);
}

}  // namespace
}  // namespace uscope::tracer
