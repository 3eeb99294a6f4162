// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "support/sandbox/renounce.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <cstdlib>
#include <functional>

#include "support/unique_fd.h"
#include "tests/unit/support/sandbox/in_child.h"

namespace uscope {
namespace {

constexpr std::uint64_t kMemory = std::uint64_t{64} << 20;

int renounced(const std::function<bool()>& works) {
  return in_child([] { return static_cast<bool>(renounce({kMemory, 16})); }, works);
}

TEST(Renounce, OpensNothing) {
  for (const char* path : {"/etc/passwd", "/proc/self/exe", "/"})
    EXPECT_EQ(renounced([&] { return open(path, O_RDONLY | O_CLOEXEC) >= 0; }), EPERM) << path;
  EXPECT_EQ(renounced([] { return socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0) >= 0; }), EPERM);
  EXPECT_EQ(renounced([] { return socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0) >= 0; }), EPERM);
}

TEST(Renounce, ReadsWhatIsOpen) {
  const UniqueFd fd(open("/proc/self/exe", O_RDONLY | O_CLOEXEC));
  EXPECT_EQ(renounced([&] {
              char magic[4] = {};
              struct stat status {};
              return fstat(fd.get(), &status) == 0 && pread(fd.get(), magic, 4, 0) == 4 && magic[1] == 'E';
            }),
            0);
}

TEST(Renounce, IsAUserOfItsOwn) {
  if (geteuid() != 0) GTEST_SKIP() << "only root becomes another user";
  EXPECT_EQ(renounced([] { return setuid(0) == 0; }), EPERM);
  // A signal to init would be allowed to root; so would looking into it.
  EXPECT_EQ(renounced([] { return kill(getppid(), 0) == 0; }), EPERM);
  EXPECT_EQ(renounced([] { return ptrace(PTRACE_TRACEME, 0, nullptr, nullptr) == 0; }), EPERM);
}

TEST(Renounce, RunsNoOtherCode) {
  EXPECT_EQ(renounced([] { return execl("/bin/true", "true", nullptr) == 0; }), EPERM);
  const auto executable = [](int protection) {
    return mmap(nullptr, 4096, protection, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) != MAP_FAILED;
  };
  EXPECT_EQ(renounced([&] { return executable(PROT_READ | PROT_EXEC); }), EPERM);
  EXPECT_EQ(renounced([&] { return executable(PROT_READ | PROT_WRITE); }), 0);
  EXPECT_EQ(renounced([] { return prctl(PR_SET_DUMPABLE, 1, 0, 0, 0) == 0; }), EPERM);
}

TEST(Renounce, MemoryIsBounded) {
#if defined(USCOPE_SANITIZED)
  GTEST_SKIP() << "AddressSanitizer needs more addresses than any limit";
#endif
  const auto takes = [](std::size_t bytes) {
    return mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) != MAP_FAILED;
  };
  EXPECT_EQ(renounced([&] { return takes(kMemory / 2); }), 0);
  EXPECT_EQ(renounced([&] { return takes(kMemory * 2); }), ENOMEM);
}

TEST(Renounce, ForksUntilItRenouncesThatToo) {
  const auto forks = [] {
    const pid_t child = fork();
    if (child == 0) _exit(0);
    return child > 0 && waitpid(child, nullptr, 0) == child;
  };
  EXPECT_EQ(renounced(forks), 0);
  if (geteuid() != 0) GTEST_SKIP() << "only root becomes nobody, whose processes are counted";
  EXPECT_EQ(renounced([&] { return renounce_forking() && forks(); }), EAGAIN);
}

}  // namespace
}  // namespace uscope
