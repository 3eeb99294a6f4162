// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "support/process/child_work.h"

#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>

namespace uscope {

Result<ChildWork> ChildWork::start(const std::function<int()>& work, Orphan orphan) {
  std::fflush(nullptr);
  const pid_t parent = getpid();
  const pid_t child = fork();
  if (child < 0) return errno_error("cannot start a process", errno);
  if (child != 0) return ChildWork(child);
  if (orphan == Orphan::kIsKilled) prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (getppid() != parent) _exit(1);  // the parent ended before this took effect
  const int code = work();
  std::fflush(nullptr);
  _exit(code);
}

ChildWork::~ChildWork() {
  if (pid_ <= 0) return;
  kill();
  (void)collect(true);
}

void ChildWork::kill(int number) const {
  if (pid_ > 0) ::kill(pid_, number);
}

void ChildWork::abandon() {
  kill();
  pid_ = 0;
}

std::optional<int> ChildWork::collect(bool wait) {
  if (pid_ <= 0) return std::nullopt;
  int status = 0;
  pid_t got = -1;
  do got = waitpid(pid_, &status, wait ? 0 : WNOHANG);
  while (got < 0 && errno == EINTR);
  if (got == 0) return std::nullopt;
  pid_ = 0;
  constexpr int kSignalled = 128;
  if (got < 0) return -1;
  return WIFEXITED(status) ? WEXITSTATUS(status) : kSignalled + WTERMSIG(status);
}

}  // namespace uscope
