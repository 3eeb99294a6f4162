// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "support/process/child_process.h"

#include <fcntl.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <csignal>

#include "support/end_signals.h"

namespace uscope {

int settle_child(int kept, const char* name) {
  prctl(PR_SET_NAME, name);
  setpgid(0, 0);  // a Ctrl-C is meant for the tracer
  (void)hold_signals();
  signal(SIGCHLD, SIG_DFL);
  const int nothing = open("/dev/null", O_RDWR | O_CLOEXEC);
  for (const int number : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) dup2(nothing, number);
  constexpr int kKept = 3;
  if (kept != kKept) dup2(kept, kKept);
  close_range(kKept + 1, ~0U, 0);
  return kKept;
}

bool die_with(pid_t parent) {
  return prctl(PR_SET_PDEATHSIG, SIGKILL) == 0 && getppid() == parent;
}

}  // namespace uscope
