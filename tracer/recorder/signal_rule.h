// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// What a recording does with a signal that came to it. It stands where its command would stand without it: who signals
// uscope means the command.
#pragma once

#include <algorithm>
#include <csignal>

#include "support/end_signals.h"

namespace uscope::tracer {

enum class SignalEffect {
  kNone,
  kPassOn,        // the command gets it
  kAskToEnd,      // the first one is the command's business: it may end by it; the next one ends tracing
  kPassOnAndAsk,  // both
  kEnd            // tracing ends
};

struct CameSignal {
  int number = 0;
  bool from_kernel = false;  // of the terminal, a timer, a limit, a file
  bool from_traced = false;  // a traced process sent it: to a process group, of which uscope is by accident
};

// `launched`: the recording has a command; else it is attached.
[[nodiscard]] constexpr SignalEffect effect_of(const CameSignal& came, bool launched) {
  const bool is_end = std::find(kEndSignals.begin(), kEndSignals.end(), came.number) != kEndSignals.end();
  // A shell that is traced ends its tracer by `kill`.
  if (came.from_traced) return is_end && !launched ? SignalEffect::kEnd : SignalEffect::kNone;
  switch (came.number) {
    case SIGCHLD:
    case SIGCONT:  // a shell sends it to the whole job
      return SignalEffect::kNone;
    case SIGALRM:  // timers that last over an exec: they were set for the command
    case SIGVTALRM:
    case SIGPROF:
      return launched ? SignalEffect::kPassOn : SignalEffect::kEnd;
    case SIGXCPU:
      if (came.from_kernel) return SignalEffect::kEnd;  // uscope's own processor time is over
      break;
    default:
      break;
  }
  // The terminal signals the whole job, the command too.
  if (came.from_kernel) return !is_end ? SignalEffect::kNone : launched ? SignalEffect::kAskToEnd : SignalEffect::kEnd;
  if (!launched) return SignalEffect::kEnd;
  return is_end ? SignalEffect::kPassOnAndAsk : SignalEffect::kPassOn;
}

}  // namespace uscope::tracer
