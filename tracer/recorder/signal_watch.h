// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// The signals that come to a recording, as a descriptor.
#pragma once

#include <signal.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include <cerrno>
#include <optional>
#include <vector>

#include "support/end_signals.h"
#include "support/result.h"
#include "support/unique_fd.h"

namespace uscope::tracer {

// All that hold_signals() holds; SIGCHLD among them wakes a recording when the command ends.
class SignalWatch {
 public:
  Result<void> open() {
    sigset_t all;
    sigfillset(&all);
    fd_.reset(signalfd(-1, &all, SFD_CLOEXEC | SFD_NONBLOCK));
    if (!fd_) return errno_error("cannot watch signals", errno);
    return {};
  }
  SignalWatch() = default;
  SignalWatch(const SignalWatch&) = delete;
  SignalWatch& operator=(const SignalWatch&) = delete;
  ~SignalWatch() {
    // What came while the recording was finished is not for the loading of the trace.
    if (fd_) (void)take();
  }
  [[nodiscard]] int fd() const { return fd_.get(); }
  // All that have come, in the order of their numbers.
  std::vector<signalfd_siginfo> take() {
    std::vector<signalfd_siginfo> came;
    signalfd_siginfo info{};
    while (read(fd_.get(), &info, sizeof(info)) == sizeof(info)) came.push_back(info);
    return came;
  }

 private:
  UniqueFd fd_;
};

}  // namespace uscope::tracer
