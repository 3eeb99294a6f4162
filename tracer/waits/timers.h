// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// Which timers could send a process a signal while it sleeps. The kernel tells no process's timer of setitimer(2) and
// alarm(2), but it tells root which timers of that kind are armed at all.
#pragma once

#include <cstdint>
#include <istream>

namespace uscope::tracer {

// What /proc/PID/timers has: whether a timer of timer_create(2) sends a signal, other than to a thread of libc's own.
[[nodiscard]] bool has_signal_timer(std::istream& timers);

enum class RealTimers { kNone, kSome, kUnknown };

// /proc/timer_list: whether any process's ITIMER_REAL is armed.
[[nodiscard]] RealTimers real_timers_in(std::istream& list);

// Of SIGALRM, SIGVTALRM and SIGPROF, those that a timer of setitimer(2) may send to a process while it sleeps: bit 0 is
// signal 1. The last two count the time in which it computes, so they come to no process whose only thread sleeps.
[[nodiscard]] std::uint64_t signals_of_timers(RealTimers real, bool one_thread);

// Of this machine. Reads the list twice, since a timer may pass from one place of it to another meanwhile.
[[nodiscard]] RealTimers real_timers();

}  // namespace uscope::tracer
