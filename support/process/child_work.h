// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// Runs work in a child process: a copy of this process that is killed when this one ends, unless it ends by itself.
#pragma once

#include <signal.h>
#include <sys/types.h>

#include <functional>
#include <optional>
#include <utility>

#include "support/result.h"

namespace uscope {

class ChildWork {
 public:
  // What becomes of it when the thread that has started it ends. kEndsItself: `work` sees to that.
  enum class Orphan { kIsKilled, kEndsItself };

  // `work` returns the child's exit code.
  [[nodiscard]] static Result<ChildWork> start(const std::function<int()>& work, Orphan orphan = Orphan::kIsKilled);
  ChildWork(ChildWork&& other) noexcept : pid_(std::exchange(other.pid_, 0)) {}
  ChildWork& operator=(ChildWork&&) = delete;
  // Kills the child if it has not ended.
  ~ChildWork();

  // Returns the exit code once the child has ended, or 128 plus the number of the signal that ended it.
  [[nodiscard]] std::optional<int> poll() { return collect(false); }
  // Its end is for poll() to see.
  void kill(int number = SIGKILL) const;
  [[nodiscard]] pid_t pid() const { return pid_; }
  // Kills the child without waiting for its end, which may never come.
  void abandon();
  // Leaves it alone: neither kills it nor waits for its end.
  void leave() { pid_ = 0; }

 private:
  explicit ChildWork(pid_t pid) : pid_(pid) {}
  std::optional<int> collect(bool wait);

  pid_t pid_;
};

}  // namespace uscope
