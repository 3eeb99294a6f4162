// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// Which signals reach this process. A process that traces shares its process group with what it traces, which may
// signal the whole group (`kill 0`) without meaning the tracer. So it holds all signals back, those that glibc keeps
// for itself too, and reads them (tracer/recorder/signal_rule.h decides). A fault of its own still ends it: the kernel
// lets no program block that. What starts another program gives it the signals with which uscope was started.
#pragma once

#include <array>
#include <csignal>
#include <cstdint>
#include <span>
#include <vector>

#include "support/result.h"

namespace uscope {

// With these a user asks a recording to end.
inline constexpr std::array kEndSignals{SIGINT, SIGTERM, SIGQUIT, SIGHUP};

// Whether one of them is pending. A recording keeps them blocked.
[[nodiscard]] bool end_is_asked_for();

// Begins main(): keeps in mind how signals were when uscope was started, and holds SIGXFSZ back, so that a file that
// reaches the limit of `ulimit -f` is an error, as a full disk is.
void note_inherited_signals();

// From here on no signal ends this process but SIGKILL and its own faults. Those that stop and continue a job work as
// ever, since a shell waits for that. Forked children inherit this.
Result<void> hold_signals();

// Lets some of those signals through again for as long as the object exists, if they are held at all.
class SignalsLetThrough {
 public:
  explicit SignalsLetThrough(std::span<const int> numbers);
  SignalsLetThrough(const SignalsLetThrough&) = delete;
  SignalsLetThrough& operator=(const SignalsLetThrough&) = delete;
  ~SignalsLetThrough();

 private:
  std::uint64_t before_ = 0;
};

// In a forked child that executes another program: signals are as uscope got them.
void give_signals_back();

// Ends this process by a signal, held or handled; returns where its action is not to end (SIGCHLD …).
void end_by_signal(int number);

}  // namespace uscope
