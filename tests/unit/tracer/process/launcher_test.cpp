// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "tracer/process/launcher.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <thread>

#include "support/unique_fd.h"

namespace uscope::tracer {
namespace {

constexpr int kLongMs = 10'000;

bool started(LaunchedCommand& command) {
  if (!command.go()) return false;
  const auto executed = command.await_exec(kLongMs);
  return executed && *executed;
}

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
  ASSERT_TRUE(started(*command));
  const CommandExit exit = wait_for(*command);
  EXPECT_EQ(exit.code, 7);
  EXPECT_EQ(exit.signal, 0);
}

TEST(Launcher, TellsTheSignalThatEndedTheCommand) {
  auto command = LaunchedCommand::prepare({{"sh", "-c", "kill -TERM $$"}, ""});
  ASSERT_TRUE(command);
  ASSERT_TRUE(started(*command));
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
  ASSERT_TRUE(command->go());
  const auto executed = command->await_exec(kLongMs);
  ASSERT_FALSE(executed);
  EXPECT_EQ(command->exec_errno(), EACCES);
  EXPECT_EQ(executed.error().what, "cannot execute /etc/passwd: Permission denied");
}

TEST(Launcher, NamesAnInterpreterThatIsMissing) {
  const auto error_of = [](const std::string& text) {
    std::string path = "/tmp/uscope-script-XXXXXX";
    UniqueFd(mkstemp(path.data())).reset();
    std::ofstream(path) << text;
    std::filesystem::permissions(path, std::filesystem::perms::owner_all);
    auto command = LaunchedCommand::prepare({{path}, ""});
    const auto executed = command && command->go() ? command->await_exec(kLongMs) : Result<bool>(Error{"", ""});
    std::filesystem::remove(path);
    const std::string what = executed ? "" : executed.error().what;
    return what.substr(std::min(what.find(": "), what.size()));
  };
  EXPECT_EQ(error_of("#!/no/such/interpreter -x\n"), ": its interpreter /no/such/interpreter does not exist");
  EXPECT_EQ(error_of("#! /bin/sh\r\n"), ": its interpreter /bin/sh\r does not exist");
}

// A copy of true(1). While there is a lease, whoever opens it waits.
class LeasedProgram {
 public:
  LeasedProgram() {
    UniqueFd(mkstemp(path_.data())).reset();
    std::filesystem::copy_file("/bin/true", path_, std::filesystem::copy_options::overwrite_existing);
    std::filesystem::permissions(path_, std::filesystem::perms::owner_all);
    before_ = signal(SIGIO, SIG_IGN);  // the kernel's word that somebody wants to open it
  }
  LeasedProgram(const LeasedProgram&) = delete;
  LeasedProgram& operator=(const LeasedProgram&) = delete;
  ~LeasedProgram() {
    signal(SIGIO, before_);
    std::filesystem::remove(path_);
  }
  [[nodiscard]] const std::string& path() const { return path_; }
  // To be called after the child is forked, which would have the descriptor, too.
  void lease() {
    file_.reset(open(path_.c_str(), O_RDWR | O_CLOEXEC));
    ASSERT_EQ(fcntl(file_.get(), F_SETLEASE, F_WRLCK), 0) << strerror(errno);
  }
  void give_back() { file_.reset(); }

 private:
  std::string path_ = std::filesystem::temp_directory_path() / "uscope-launcher-XXXXXX";
  UniqueFd file_;
  sighandler_t before_ = nullptr;
};

TEST(Launcher, AnExecThatTakesLongIsNotWaitedFor) {
  LeasedProgram program;
  auto command = LaunchedCommand::prepare({{program.path()}, ""});
  ASSERT_TRUE(command);
  program.lease();
  ASSERT_TRUE(command->go());
  for (int i = 0; i < 3; i++) {
    const auto executed = command->await_exec(20);
    ASSERT_TRUE(executed);
    EXPECT_FALSE(*executed);
    EXPECT_FALSE(command->poll_exit());
  }
  program.give_back();
  const auto executed = command->await_exec(kLongMs);
  ASSERT_TRUE(executed) << executed.error().what;
  EXPECT_TRUE(*executed);
  EXPECT_EQ(wait_for(*command).code, 0);
}

TEST(Launcher, ACommandThatIsKilledInItsExecHasEnded) {
  LeasedProgram program;
  auto command = LaunchedCommand::prepare({{program.path()}, ""});
  ASSERT_TRUE(command);
  program.lease();
  ASSERT_TRUE(command->go());
  const auto waits = command->await_exec(50);
  ASSERT_TRUE(waits);
  EXPECT_FALSE(*waits);
  command->send_signal(SIGTERM);
  const auto ended = command->await_exec(kLongMs);
  ASSERT_TRUE(ended);
  EXPECT_TRUE(*ended);
  EXPECT_EQ(wait_for(*command).signal, SIGTERM);
}

TEST(Launcher, LeaksNoDescriptorToTheCommand) {
  // What this test was itself started with does not count.
  for (int fd = 3; fd < 1024; fd++) (void)fcntl(fd, F_SETFD, FD_CLOEXEC);
  // The descriptor that lists the folder is gone by the time each name is looked at.
  auto command = LaunchedCommand::prepare(
      {{"sh", "-c", "for f in /proc/$$/fd/*; do [ ${f##*/} -gt 2 ] && [ -e $f ] && exit 1; done; exit 0"}, ""});
  ASSERT_TRUE(command);
  ASSERT_TRUE(started(*command));
  EXPECT_EQ(wait_for(*command).code, 0);
}

TEST(Launcher, BecomesTheUserForGood) {
  if (geteuid() != 0) GTEST_SKIP() << "needs root";
  auto command = LaunchedCommand::prepare(
      {{"sh", "-c",
        "test \"$(id -un)\" = nobody && test \"$USER\" = nobody && ! grep -q 'CapEff:.*[1-9a-f]' /proc/self/status"},
       "nobody"});
  ASSERT_TRUE(command);
  ASSERT_TRUE(started(*command));
  EXPECT_EQ(wait_for(*command).code, 0);
}

TEST(Launcher, RefusesAnUnknownUser) {
  const auto command = LaunchedCommand::prepare({{"true"}, "no-such-user-here"});
  ASSERT_FALSE(command);
  EXPECT_EQ(command.error().what, "no such user: no-such-user-here");
}

}  // namespace
}  // namespace uscope::tracer
