// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// Scouts that come back, that do not, and that cannot even be killed.
#include "tracer/scouts/scouts.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <string>

#include "support/clock.h"
#include "trace/raw_writer.h"
#include "tracer/scouts/process_looks.h"

namespace uscope::tracer {
namespace {

constexpr std::uint64_t kSecond = 1'000'000'000;

void turns_around(ScoutDesk& desk) {
  std::vector<std::byte> bytes(desk.request().bytes.rbegin(), desk.request().bytes.rend());
  desk.answer(bytes);
}

void sends_its_descriptor(ScoutDesk& desk) {
  const int fd = desk.request().fds.front().get();
  desk.answer({}, std::span(&fd, 1));
}

void tells_its_pid(ScoutDesk& desk) {
  desk.answer(ScoutWriter().put(getpid()).bytes());
}

void never_comes_back(ScoutDesk& desk) {
  desk.goes_to(41);
  desk.answer({});
  desk.goes_to(42);
  pause();
}

void runs_for_ever(ScoutDesk&) {
  while (getppid() != 0) {
  }
}

void runs_until_it_is_killed() {
  for (volatile bool runs = true; runs;) {
  }
}

void ends(ScoutDesk&) {
  _exit(3);
}

void answers_and_is_the_last(ScoutDesk& desk) {
  desk.be_last();
  tells_its_pid(desk);
}

class ScoutsTest : public testing::Test {
 protected:
  void SetUp() override {
    auto scouts = Scouts::start();
    ASSERT_TRUE(scouts) << scouts.error().what;
    scouts_ = std::move(*scouts);
  }
  int pid_of_next() {
    const auto answer = scouts_->ask(0, tells_its_pid, {});
    return answer ? ScoutReader(answer->bytes).get<int>() : 0;
  }
  // Until somebody is asked again.
  void wait_for_next() {
    const std::uint64_t until = monotonic_ns() + 30 * kSecond;
    while (pid_of_next() == 0 && monotonic_ns() < until) usleep(50'000);
    EXPECT_LT(monotonic_ns(), until);
  }
  std::unique_ptr<Scouts> scouts_;
};

TEST_F(ScoutsTest, AnAnswerOfMegabytesComesWhole) {
  std::vector<std::byte> request(3'000'001);
  for (std::size_t i = 0; i < request.size(); i++) request[i] = static_cast<std::byte>(i * 7 >> 3);
  const auto answer = scouts_->ask(1, turns_around, request);
  ASSERT_TRUE(answer);
  EXPECT_TRUE(std::equal(request.rbegin(), request.rend(), answer->bytes.begin(), answer->bytes.end()));
}

TEST_F(ScoutsTest, DescriptorsGoThereAndBack) {
  int ends[2];
  ASSERT_EQ(pipe(ends), 0);
  const auto answer = scouts_->ask(1, sends_its_descriptor, {}, std::span(&ends[1], 1));
  ASSERT_TRUE(answer && answer->fds.size() == 1);
  EXPECT_EQ(write(answer->fds.front().get(), "x", 1), 1);
  char byte = 0;
  EXPECT_EQ(read(ends[0], &byte, 1), 1);
  EXPECT_EQ(byte, 'x');
  close(ends[0]);
  close(ends[1]);
}

TEST_F(ScoutsTest, OneThatWasDoneIsSentAgain) {
  EXPECT_EQ(pid_of_next(), pid_of_next());
}

TEST_F(ScoutsTest, OneThatIsToBeTheLastIsNot) {
  const auto answer = scouts_->ask(0, answers_and_is_the_last, {});
  ASSERT_TRUE(answer);
  EXPECT_NE(ScoutReader(answer->bytes).get<int>(), pid_of_next());
}

TEST_F(ScoutsTest, OneThatWasKilledIsReplaced) {
  const int first = pid_of_next();
  ASSERT_EQ(kill(first, SIGKILL), 0);
  usleep(50'000);
  const int second = pid_of_next();
  EXPECT_NE(second, 0);
  EXPECT_NE(second, first);
}

TEST_F(ScoutsTest, WhatDoesNotAnswerIsGivenUpAndLetBe) {
  constexpr std::uint32_t kPid = 1234;
  const std::uint64_t before = monotonic_ns();
  EXPECT_FALSE(scouts_->ask(kPid, ends, {}));
  EXPECT_TRUE(scouts_->is_let_be(kPid));
  EXPECT_FALSE(scouts_->is_let_be(kPid + 1));
  EXPECT_FALSE(scouts_->ask(kPid, turns_around, {}));
  EXPECT_FALSE(scouts_->ask(kPid + 1, runs_for_ever, {}));
  EXPECT_LT(monotonic_ns() - before, 10 * kSecond);
  // The second time it was not asked, which counts, too.
  EXPECT_EQ(scouts_->take_unresponsive(), (std::vector<std::uint32_t>{kPid, kPid, kPid + 1}));
  wait_for_next();
}

TEST_F(ScoutsTest, WhereOneWentLastIsKnown) {
  auto errand = scouts_->send(0, never_comes_back, {});
  ASSERT_TRUE(errand);
  ScoutMessage message;
  int answers = 0;
  while (!errand->hangs()) {
    if (errand->next(message) == Errand::Came::kAnswer) answers++;
    errand->wait(10);
  }
  EXPECT_EQ(answers, 1);
  EXPECT_EQ(errand->at(), 42U);
}

TEST_F(ScoutsTest, ManySilentProcessesCostLittleTogether) {
  const std::uint64_t before = monotonic_ns();
  for (std::uint32_t pid = 1; pid <= 20; pid++) EXPECT_FALSE(scouts_->ask(pid, [](ScoutDesk&) { pause(); }, {}));
  // 20 times 250 ms would be 5 s.
  EXPECT_LT(monotonic_ns() - before, 4 * kSecond);
}

TEST_F(ScoutsTest, WhoeverCannotBeWaitedForIsNotAskedAndCounted) {
  constexpr std::uint32_t kMany = 300;
  const std::uint64_t before = monotonic_ns();
  for (std::uint32_t pid = 1; pid <= kMany; pid++) EXPECT_FALSE(scouts_->ask(pid, [](ScoutDesk&) { pause(); }, {}));
  // Each with the shortest patience would be 9 s.
  EXPECT_LT(monotonic_ns() - before, 4 * kSecond);
  EXPECT_EQ(scouts_->take_unresponsive().size(), kMany);
  wait_for_next();
}

// Tells of itself meanwhile: on a busy machine, too, it is slow, and does not hang.
void answers_late(ScoutDesk& desk) {
  for (std::uint32_t i = 0; i < 10; i++) {
    desk.goes_to(i);
    usleep(15'000);
  }
  desk.answer({});
}

void works_for_long(ScoutDesk& desk) {
  const std::uint64_t until = monotonic_ns() + 150'000'000;
  while (monotonic_ns() < until) {
  }
  desk.answer({});
}

void answers_step_by_step(ScoutDesk& desk) {
  for (std::uint32_t i = 0; i < 100; i++) {
    desk.goes_to(i);
    usleep(50'000);
  }
  desk.answer({});
}

TEST_F(ScoutsTest, AProcessWhoseAnswersAreSlowIsLetBeWithoutHarmToOthers) {
  constexpr std::uint32_t kSlow = 1234;
  std::size_t answers = 0;
  for (int i = 0; i < 20; i++) answers += scouts_->ask(kSlow, answers_late, {}) ? 1 : 0;
  EXPECT_GE(answers, 1U);
  EXPECT_LE(answers, 10U);  // each takes 150 ms
  EXPECT_TRUE(scouts_->ask(kSlow + 1, turns_around, {}));
  const std::vector<std::uint32_t> silent = scouts_->take_unresponsive();
  EXPECT_EQ(silent.size(), 20 - answers);
  EXPECT_TRUE(std::all_of(silent.begin(), silent.end(), [](std::uint32_t pid) { return pid == kSlow; }));
  // It is not one that hangs: its files are still opened.
  EXPECT_FALSE(scouts_->is_let_be(kSlow));
}

TEST_F(ScoutsTest, ScoutsThatWorkOweNothing) {
  for (int i = 0; i < 10; i++) EXPECT_TRUE(scouts_->ask(1234, works_for_long, {})) << i;
  EXPECT_TRUE(scouts_->take_unresponsive().empty());
}

TEST_F(ScoutsTest, OneThatMovesOnForLongIsGivenUpToo) {
  const std::uint64_t before = monotonic_ns();
  EXPECT_FALSE(scouts_->ask(1234, answers_step_by_step, {}));
  EXPECT_LT(monotonic_ns() - before, 4 * kSecond);
  EXPECT_EQ(scouts_->take_unresponsive(), std::vector<std::uint32_t>{1234});
}

TEST_F(ScoutsTest, AnErrandMayHaveMorePatience) {
  auto errand = scouts_->send(
      0, [](ScoutDesk&) { pause(); }, {}, {}, 600);
  ASSERT_TRUE(errand);
  const std::uint64_t before = monotonic_ns();
  while (!errand->hangs()) usleep(10'000);
  EXPECT_GE(monotonic_ns() - before, 550'000'000U);
}

// It may hold the lock that the scout waits for, and wait for a CPU itself.
TEST_F(ScoutsTest, AScoutWhoseProcessRunsHasTwiceAsLong) {
  const pid_t runs = fork();
  ASSERT_GE(runs, 0);
  if (runs == 0) {
    (void)prctl(PR_SET_PDEATHSIG, SIGKILL);
    runs_until_it_is_killed();
  }
  auto errand = scouts_->send(static_cast<std::uint32_t>(runs), [](ScoutDesk&) { pause(); }, {});
  ASSERT_TRUE(errand);
  const std::uint64_t before = monotonic_ns();
  while (!errand->hangs()) usleep(10'000);
  EXPECT_GE(monotonic_ns() - before, 450'000'000U);
  kill(runs, SIGKILL);
  waitpid(runs, nullptr, 0);
}

TEST_F(ScoutsTest, AProcessIsLookedAtAsWithoutScouts) {
  const auto pid = static_cast<std::uint32_t>(getpid());
  const auto own = ProcessLooks().portrait_of(pid, false);
  const auto theirs = ProcessLooks(scouts_.get()).portrait_of(pid, true);
  ASSERT_TRUE(own && theirs);
  EXPECT_EQ(own->path, theirs->path);
  EXPECT_EQ(own->arguments, theirs->arguments);
  EXPECT_EQ(own->name, theirs->name);
  EXPECT_EQ(name_of(pid), theirs->name);
  EXPECT_FALSE(theirs->descriptors.empty());
}

TEST_F(ScoutsTest, OnlyRegularFilesAreOpened) {
  const auto open = [&](const char* path) {
    return opened_file(scouts_->ask(0, open_file, OpenRequest{.path = path}.bytes()));
  };
  const OpenedFile own = open("/proc/self/exe");
  ASSERT_TRUE(own.fd);
  struct stat status {};
  ASSERT_EQ(fstat(own.fd.get(), &status), 0);
  EXPECT_EQ(status.st_ino, own.status.st_ino);
  EXPECT_FALSE(own.is_copy);
  // The path that it was executed by, which may be a relative one.
  EXPECT_EQ(own.path,
            std::filesystem::canonical(ProcessLooks().portrait_of(static_cast<std::uint32_t>(getpid()), false)->path));
  EXPECT_EQ(open("/dev/null").error, ENOENT);
  EXPECT_EQ(open("/nothing/here").error, ENOENT);
}

}  // namespace
}  // namespace uscope::tracer
