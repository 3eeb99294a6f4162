// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "support/process/close_elsewhere.h"

#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <utility>

namespace uscope {
namespace {

// All files but those of `kept`, which are sorted. In the child of a process with threads only such calls may be made.
void close_all_but(const std::vector<int>& kept) {
  unsigned next = 0;
  for (const int file : kept) {
    if (const auto number = static_cast<unsigned>(file); number > next) close_range(next, number - 1, 0);
    next = static_cast<unsigned>(file) + 1;
  }
  close_range(next, ~0U, 0);
}

// Ends when `until_closed` has no other end any more: the files are this process's alone then.
[[noreturn]] void hold(const std::vector<int>& files, int until_closed) {
  prctl(PR_SET_NAME, "uscope-closes");
  setsid();
  close_all_but(files);
  char byte = 0;
  while (read(until_closed, &byte, 1) < 0 && errno == EINTR) {
  }
  _exit(0);
}

// Forks once, or twice: whoever holds the files is no child of this process then. Returns the first child.
pid_t hand_over(std::vector<UniqueFd> files, bool twice) {
  int ends[2] = {-1, -1};
  if (files.empty() || pipe2(ends, O_CLOEXEC) != 0) return 0;
  UniqueFd until_closed(ends[0]);
  UniqueFd open_here(ends[1]);
  std::vector<int> kept{until_closed.get()};
  for (const UniqueFd& file : files)
    if (file) kept.push_back(file.get());
  std::sort(kept.begin(), kept.end());
  const pid_t child = fork();
  if (child == 0) {
    if (!twice || fork() == 0) hold(kept, until_closed.get());
    _exit(0);
  }
  files.clear();  // before `open_here`
  return std::max(child, 0);
}

}  // namespace

void close_elsewhere(std::vector<UniqueFd> files) {
  const pid_t child = hand_over(std::move(files), true);
  while (child > 0 && waitpid(child, nullptr, 0) < 0 && errno == EINTR) {
  }
}

pid_t close_in_child(std::vector<UniqueFd> files) {
  return hand_over(std::move(files), false);
}

}  // namespace uscope
