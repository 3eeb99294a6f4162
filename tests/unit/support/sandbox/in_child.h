// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// What a process can still do that has given privileges up.
#pragma once

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <functional>

namespace uscope {

constexpr int kNotGivenUp = 255;

// Runs both steps in a child process. Returns 0 if `works` returned true, else its errno; kNotGivenUp if `gives_up`
// returned false.
inline int in_child(const std::function<bool()>& gives_up, const std::function<bool()>& works) {
  const pid_t child = fork();
  if (child == 0) {
    if (!gives_up()) _exit(kNotGivenUp);
    errno = 0;
    _exit(works() ? 0 : errno);
  }
  int status = 0;
  waitpid(child, &status, 0);
  EXPECT_TRUE(WIFEXITED(status));
  return WEXITSTATUS(status);
}

}  // namespace uscope
