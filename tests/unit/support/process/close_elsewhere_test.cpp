// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "support/process/close_elsewhere.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <sys/wait.h>

#include <cerrno>
#include <utility>
#include <vector>

namespace uscope {
namespace {

struct Pipe {
  Pipe() {
    int ends[2] = {-1, -1};
    if (pipe2(ends, O_CLOEXEC) != 0) return;
    from = UniqueFd(ends[0]);
    to = UniqueFd(ends[1]);
  }
  // Whether nobody has the other end any more, within ten seconds.
  [[nodiscard]] bool ends() const {
    pollfd waits{from.get(), POLLIN, 0};
    constexpr int kMilliseconds = 10'000;
    return poll(&waits, 1, kMilliseconds) == 1 && (waits.revents & POLLHUP) != 0;
  }
  UniqueFd from;
  UniqueFd to;
};

TEST(CloseElsewhere, FilesAreClosedByNoChildOfThisProcess) {
  std::vector<Pipe> pipes(20);
  Pipe other;
  std::vector<UniqueFd> files;
  for (Pipe& pipe : pipes) {
    files.push_back(std::move(pipe.to));
    ASSERT_TRUE(files.back());
  }
  close_elsewhere(std::move(files));
  for (const Pipe& pipe : pipes) EXPECT_TRUE(pipe.ends());
  other.to.reset();
  EXPECT_TRUE(other.ends());
  EXPECT_EQ(waitpid(-1, nullptr, WNOHANG), -1);
  EXPECT_EQ(errno, ECHILD);
}

TEST(CloseElsewhere, AChildThatEndsHasClosedThem) {
  Pipe pipe;
  std::vector<UniqueFd> files;
  files.push_back(std::move(pipe.to));
  const pid_t child = close_in_child(std::move(files));
  ASSERT_GT(child, 0);
  int status = -1;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
  EXPECT_TRUE(pipe.ends());
}

TEST(CloseElsewhere, NothingIsNoWork) {
  close_elsewhere({});
  EXPECT_EQ(close_in_child({}), 0);
  EXPECT_EQ(waitpid(-1, nullptr, WNOHANG), -1);
}

}  // namespace
}  // namespace uscope
