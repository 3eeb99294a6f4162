// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// Whether a thread sleeps, and whether it has run in the meantime.
#pragma once

#include <cstdint>
#include <optional>

namespace uscope::tracer {

struct ThreadState {
  char state = '?';            // as in /proc/PID/status: S asleep, R runs or is about to
  std::uint64_t switches = 0;  // how often it gave up its CPU, or lost it
  // It sleeps in the kernel's futex code, or the kernel does not say where. A frozen thread (a paused container) seems
  // to be in the call that it was in, though it may have been woken there.
  bool in_futex = false;

  bool operator==(const ThreadState&) const = default;
};

// Returns nullopt if the thread has ended.
[[nodiscard]] std::optional<ThreadState> thread_state_of(std::uint32_t tid);

// Whether a thread runs, or waits for a CPU. Reading this waits for no lock.
[[nodiscard]] bool is_running(std::uint32_t tid);

// The same of any thread of a process; of a process with many threads, the first 64 are looked at.
[[nodiscard]] bool any_thread_runs(std::uint32_t pid);

// For how long a thread has had a CPU; nullopt if it has ended, or the kernel does not count that.
[[nodiscard]] std::optional<std::uint64_t> processor_time_ns(std::uint32_t tid);

// Whether it was asleep in a futex at both times, and did not run between them.
[[nodiscard]] inline bool slept_through(const std::optional<ThreadState>& first,
                                        const std::optional<ThreadState>& second) {
  return first && second && first->state == 'S' && first->in_futex && *first == *second;
}

// Whether a thread's process has handlers for signals that may come from outside (a terminal, a timer or another
// process): all signals except those of faults, and the two that libc reserves. True if that cannot be determined.
[[nodiscard]] bool handles_signals(std::uint32_t tid);

}  // namespace uscope::tracer
