// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// The process that holds probes may be stopped or ended by anybody: the tracer says so, and goes on. No probe is
// attached here: what stands for the BPF program is none, which the kernel refuses.
#include "tracer/backend/probe_guard.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <string>

#include "tests/support/temporary_folder.h"
#include "tracer/process/process_list.h"
#include "tracer/process/thread_state.h"

namespace uscope::tracer {
namespace {

using test::TemporaryFolder;

class ProbeGuardTest : public testing::Test {
 protected:
  void SetUp() override {
    std::ofstream(path_) << "a file";
    file_.reset(open(path_.c_str(), O_RDONLY | O_CLOEXEC));
    program_.reset(open("/dev/null", O_RDONLY | O_CLOEXEC));
    auto guard = ProbeGuard::start();
    ASSERT_TRUE(guard) << guard.error().what;
    guard_ = std::move(*guard);
  }
  void TearDown() override { (void)sigprocmask(SIG_SETMASK, &before_, nullptr); }

  Result<void> attach(std::size_t places = 1) {
    PlacesInFile what{path_, "f", {}};
    for (std::size_t i = 0; i < places; i++) {
      what.places.offsets.push_back(i);
      what.places.cookies.push_back(i);
      what.places.semaphores.push_back(0);
    }
    return guard_->attach(number_++, file_.get(), program_.get(), true, what);
  }
  std::string refusal(std::size_t places = 1) {
    const auto attached = attach(places);
    return attached ? "" : attached.error().what;
  }
  // Answers are asked of a process that has its name, so it is there.
  void signal_guard(int number, char state) {
    ASSERT_NE(guard_->pid(), 0);
    const auto pid = static_cast<std::uint32_t>(guard_->pid());
    ASSERT_EQ(kill(guard_->pid(), number), 0);
    for (int i = 0; i < 10'000; i++) {
      const auto now = thread_state_of(pid);
      if (now && (now->state == state || state == '?')) return;
      usleep(1'000);
    }
    FAIL() << "the guard is not in state " << state;
  }
  void hold(int signal) {
    sigset_t held;
    sigemptyset(&held);
    sigaddset(&held, signal);
    ASSERT_EQ(sigprocmask(SIG_BLOCK, &held, &before_), 0);
  }

  TemporaryFolder folder_;
  const std::string path_ = folder_.file("probed");
  UniqueFd file_;
  UniqueFd program_;
  sigset_t before_{};
  std::size_t number_ = 0;
  std::unique_ptr<ProbeGuard> guard_;
};

std::string stopped(const std::string& path, pid_t pid) {
  return "cannot probe " + path + ": the process that holds probes in files (uscope-guard, " + std::to_string(pid) +
         ") is stopped";
}

TEST_F(ProbeGuardTest, AStoppedOneIsToldAndAnswersWhenItGoesOn) {
  const std::string usual = refusal();
  EXPECT_NE(usual.find("cannot probe"), std::string::npos) << usual;
  signal_guard(SIGSTOP, 'T');
  EXPECT_EQ(refusal(), stopped(path_, guard_->pid()));
  // It is not waited for again.
  const auto begun = std::chrono::steady_clock::now();
  EXPECT_EQ(refusal(), stopped(path_, guard_->pid()));
  EXPECT_LT(std::chrono::steady_clock::now() - begun, std::chrono::milliseconds(900));
  signal_guard(SIGCONT, 'S');
  for (int i = 0; i < 10'000 && refusal() != usual; i++) usleep(1'000);
  EXPECT_EQ(refusal(), usual);
}

TEST_F(ProbeGuardTest, NobodyWaitsToTellAStoppedOne) {
  signal_guard(SIGSTOP, 'T');
  // 6 MB, where a socket holds 0.2 MB; and more messages than it holds.
  EXPECT_EQ(refusal(250'000), stopped(path_, guard_->pid()));
  for (std::size_t i = 0; i < 5'000; i++) guard_->remove(i);
  EXPECT_TRUE(guard_->take_removed().empty());
  EXPECT_FALSE(guard_->has_ended());
  guard_->end();
  EXPECT_FALSE(guard_->has_ended()) << "nobody else ended it";
}

TEST_F(ProbeGuardTest, AnInterruptEndsTheWait) {
  hold(SIGINT);
  ASSERT_EQ(raise(SIGINT), 0);
  signal_guard(SIGSTOP, 'T');
  const auto begun = std::chrono::steady_clock::now();
  EXPECT_EQ(refusal(), "interrupted while probes were put into " + path_);
  EXPECT_LT(std::chrono::steady_clock::now() - begun, std::chrono::milliseconds(900));
  const timespec none{};
  sigset_t taken;
  sigemptyset(&taken);
  sigaddset(&taken, SIGINT);
  EXPECT_EQ(sigtimedwait(&taken, nullptr, &none), SIGINT) << "the signal is left to who reads it";
}

TEST_F(ProbeGuardTest, AStoppedOneIsGoneAfterTheEnd) {
  signal_guard(SIGSTOP, 'T');
  const pid_t pid = guard_->pid();
  guard_->end();
  EXPECT_EQ(kill(pid, 0), -1);
  EXPECT_EQ(guard_->pid(), 0);
  guard_->end();
}

TEST_F(ProbeGuardTest, TheEndThatItWasAskedForIsNotTold) {
  for (int i = 0; i < 50; i++) {
    guard_->end();
    ASSERT_FALSE(guard_->has_ended()) << i;
    auto next = ProbeGuard::start();
    ASSERT_TRUE(next);
    guard_ = std::move(*next);
  }
}

TEST_F(ProbeGuardTest, AnEndBySomebodyElseIsTold) {
  signal_guard(SIGKILL, '?');
  EXPECT_EQ(refusal(), "cannot probe " + path_ + ": the process that holds probes in files (uscope-guard) has ended");
  EXPECT_TRUE(guard_->has_ended());
}

// Its end of the socket is not closed then: a child has it.
TEST_F(ProbeGuardTest, ItEndsWithATracerThatIsKilledWhoseChildLivesOn) {
  guard_->end();
  std::array<int, 2> ends{};
  ASSERT_EQ(pipe2(ends.data(), O_CLOEXEC), 0);
  const UniqueFd from(ends[0]);
  UniqueFd to(ends[1]);
  ASSERT_EQ(prctl(PR_SET_CHILD_SUBREAPER, 1), 0);
  const pid_t tracer = fork();
  if (tracer == 0) {
    auto guard = ProbeGuard::start();
    const std::array<pid_t, 2> pids{guard ? (*guard)->pid() : 0, fork()};
    if (pids[1] != 0 && write(to.get(), pids.data(), sizeof(pids)) != sizeof(pids)) _exit(1);
    while (true) pause();
  }
  to.reset();
  std::array<pid_t, 2> pids{};
  ASSERT_EQ(read(from.get(), pids.data(), sizeof(pids)), static_cast<ssize_t>(sizeof(pids)));
  ASSERT_GT(pids[0], 0);
  for (const pid_t killed : {tracer, pids[1]}) {
    ASSERT_EQ(kill(killed, SIGKILL), 0);
    ASSERT_EQ(waitpid(killed, nullptr, 0), killed);
    if (killed == pids[1]) continue;
    int status = 0;
    ASSERT_EQ(waitpid(pids[0], &status, 0), pids[0]);
    EXPECT_TRUE(WIFEXITED(status)) << "it ended by itself";
  }
  ASSERT_EQ(prctl(PR_SET_CHILD_SUBREAPER, 0), 0);
}

}  // namespace
}  // namespace uscope::tracer
