// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "support/sandbox/confine.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <linux/landlock.h>
#include <sys/ptrace.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <functional>
#include <string>

#include "tests/support/temporary_folder.h"
#include "tests/unit/support/sandbox/in_child.h"

namespace uscope {
namespace {

class ConfineTest : public testing::Test {
 protected:
  ConfineTest() {
    std::filesystem::create_directories(folder_ + "/mine");
    std::filesystem::create_directories(folder_ + "/other");
  }

  int confined(const std::function<bool()>& works, bool network = false) const {
    const auto confine_it = [&] {
      const int mine = open((folder_ + "/mine").c_str(), O_PATH | O_CLOEXEC);
      return static_cast<bool>(confine({{mine}, network}));
    };
    return in_child(confine_it, works);
  }
  static bool can_write(const std::string& path) {
    const int fd = open(path.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
    return fd >= 0 && write(fd, "x", 1) == 1;
  }
  static bool has_landlock() {
    return syscall(SYS_landlock_create_ruleset, nullptr, 0, LANDLOCK_CREATE_RULESET_VERSION) >= 1;
  }

  const test::TemporaryFolder made_;
  const std::string folder_ = made_.path();
};

TEST_F(ConfineTest, WritesBelowItsFoldersOnly) {
  EXPECT_EQ(confined([&] { return can_write(folder_ + "/mine/file"); }), 0);
  EXPECT_EQ(confined([&] { return rename((folder_ + "/mine/file").c_str(), (folder_ + "/mine/new").c_str()) == 0; }),
            0);
  EXPECT_TRUE(std::filesystem::exists(folder_ + "/mine/new"));
  if (!has_landlock()) GTEST_SKIP() << "this kernel has no Landlock";
  EXPECT_EQ(confined([&] { return can_write(folder_ + "/other/file"); }), EACCES);
  EXPECT_FALSE(std::filesystem::exists(folder_ + "/other/file"));
  EXPECT_NE(confined([&] { return link((folder_ + "/mine/new").c_str(), (folder_ + "/other/new").c_str()) == 0; }), 0);
  EXPECT_FALSE(std::filesystem::exists(folder_ + "/other/new"));
}

TEST_F(ConfineTest, ReadsWhatItMay) {
  EXPECT_EQ(confined([] { return open("/proc/self/exe", O_RDONLY | O_CLOEXEC) >= 0; }), 0);
}

TEST_F(ConfineTest, BecomesNothingElse) {
  EXPECT_EQ(confined([] { return execl("/bin/true", "true", nullptr) == 0; }), EPERM);
  EXPECT_EQ(confined([] { return ptrace(PTRACE_TRACEME, 0, nullptr, nullptr) == 0; }), EPERM);
  EXPECT_EQ(confined([] { return syscall(SYS_bpf, 0, nullptr, 0) == 0; }), EPERM);
  EXPECT_EQ(confined([] { return setuid(0) == 0; }), EPERM);
  EXPECT_EQ(confined([&] { return chmod((folder_ + "/mine").c_str(), 0777) == 0; }), EPERM);
  EXPECT_EQ(confined([&] { return chown((folder_ + "/mine").c_str(), 1, 1) == 0; }), EPERM);
}

TEST_F(ConfineTest, NetworkIfItIsAskedFor) {
  const auto connects = [] { return socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0) >= 0; };
  EXPECT_EQ(confined(connects), EPERM);
  EXPECT_EQ(confined(connects, true), 0);
}

TEST_F(ConfineTest, ADescriptorThatIsNoFolder) {
  const pid_t child = fork();
  if (child == 0) {
    const auto done = confine({{-1}, false});
    _exit(!done && done.error().what.find("Landlock") != std::string::npos ? 0 : 1);
  }
  int status = 0;
  waitpid(child, &status, 0);
  if (has_landlock()) {
    EXPECT_EQ(status, 0);
  }
}

}  // namespace
}  // namespace uscope
