// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// The signals that end a recording, as a descriptor.
#pragma once

#include <signal.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include <cerrno>
#include <optional>

#include "support/end_signals.h"
#include "support/result.h"
#include "support/unique_fd.h"

namespace uscope::tracer {

// SIGINT, SIGTERM, SIGQUIT and SIGHUP as a descriptor while a recording lasts; SIGCHLD wakes it when the command ends.
class SignalWatch {
 public:
  Result<void> open() {
    sigset_t wanted;
    sigemptyset(&wanted);
    for (const int number : kEndSignals) sigaddset(&wanted, number);
    sigaddset(&wanted, SIGCHLD);
    if (sigprocmask(SIG_BLOCK, &wanted, &before_) != 0) return errno_error("cannot block signals", errno);
    blocked_ = true;
    fd_.reset(signalfd(-1, &wanted, SFD_CLOEXEC | SFD_NONBLOCK));
    if (!fd_) return errno_error("cannot watch signals", errno);
    return {};
  }
  SignalWatch() = default;
  SignalWatch(const SignalWatch&) = delete;
  SignalWatch& operator=(const SignalWatch&) = delete;
  ~SignalWatch() {
    // Signals that arrived while the recording was finished would otherwise take effect now, before the trace is
    // loaded.
    while (fd_ && next()) {
    }
    if (blocked_) sigprocmask(SIG_SETMASK, &before_, nullptr);
  }
  [[nodiscard]] int fd() const { return fd_.get(); }
  // The next pending signal.
  std::optional<signalfd_siginfo> next() {
    signalfd_siginfo info{};
    if (read(fd_.get(), &info, sizeof(info)) != sizeof(info)) return std::nullopt;
    return info;
  }

 private:
  UniqueFd fd_;
  sigset_t before_{};
  bool blocked_ = false;
};

}  // namespace uscope::tracer
