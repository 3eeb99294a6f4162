// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "tracer/process/launcher.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <thread>

namespace uscope::tracer {
namespace {

CommandExit wait_for(LaunchedCommand& command) {
  for (int i = 0; i < 1000; i++) {
    if (const auto exit = command.poll_exit()) return *exit;
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  ADD_FAILURE() << "the command did not end";
  return {};
}

TEST(Launcher, HoldsTheCommandBackUntilGo) {
  auto command = LaunchedCommand::prepare({{"sh", "-c", "exit 7"}, ""});
  ASSERT_TRUE(command);
  EXPECT_EQ(command->path().substr(command->path().rfind('/')), "/sh");
  std::this_thread::sleep_for(std::chrono::milliseconds(50));
  EXPECT_FALSE(command->poll_exit());
  ASSERT_TRUE(command->go());
  const CommandExit exit = wait_for(*command);
  EXPECT_EQ(exit.code, 7);
  EXPECT_EQ(exit.signal, 0);
}

TEST(Launcher, TellsTheSignalThatEndedTheCommand) {
  auto command = LaunchedCommand::prepare({{"sh", "-c", "kill -TERM $$"}, ""});
  ASSERT_TRUE(command);
  ASSERT_TRUE(command->go());
  EXPECT_EQ(wait_for(*command).signal, SIGTERM);
}

TEST(Launcher, RefusesWhatIsNotThere) {
  const auto command = LaunchedCommand::prepare({{"no-such-program-here"}, ""});
  ASSERT_FALSE(command);
  EXPECT_EQ(command.error().what, "command not found: no-such-program-here");
}

TEST(Launcher, GivesTheErrnoOfAFailedExec) {
  auto command = LaunchedCommand::prepare({{"/etc/passwd"}, ""});
  ASSERT_TRUE(command);
  const auto started = command->go();
  ASSERT_FALSE(started);
  EXPECT_EQ(command->exec_errno(), EACCES);
  EXPECT_EQ(started.error().what, "cannot execute /etc/passwd: Permission denied");
}

TEST(Launcher, LeaksNoDescriptorToTheCommand) {
  // What this test was itself started with does not count.
  for (int fd = 3; fd < 1024; fd++) (void)fcntl(fd, F_SETFD, FD_CLOEXEC);
  // The descriptor that lists the folder is gone by the time each name is looked at.
  auto command = LaunchedCommand::prepare(
      {{"sh", "-c", "for f in /proc/$$/fd/*; do [ ${f##*/} -gt 2 ] && [ -e $f ] && exit 1; done; exit 0"}, ""});
  ASSERT_TRUE(command);
  ASSERT_TRUE(command->go());
  EXPECT_EQ(wait_for(*command).code, 0);
}

TEST(Launcher, BecomesTheUserForGood) {
  if (geteuid() != 0) GTEST_SKIP() << "needs root";
  auto command = LaunchedCommand::prepare(
      {{"sh", "-c",
        "test \"$(id -un)\" = nobody && test \"$USER\" = nobody && ! grep -q 'CapEff:.*[1-9a-f]' /proc/self/status"},
       "nobody"});
  ASSERT_TRUE(command);
  ASSERT_TRUE(command->go());
  EXPECT_EQ(wait_for(*command).code, 0);
}

TEST(Launcher, RefusesAnUnknownUser) {
  const auto command = LaunchedCommand::prepare({{"true"}, "no-such-user-here"});
  ASSERT_FALSE(command);
  EXPECT_EQ(command.error().what, "no such user: no-such-user-here");
}

}  // namespace
}  // namespace uscope::tracer
