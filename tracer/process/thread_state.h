// Whether a thread sleeps, and whether it has run meanwhile.
#pragma once

#include <cstdint>
#include <optional>

namespace uscope::tracer {

struct ThreadState {
  char state = '?';            // as /proc/PID/status has it: S asleep, R runs or is about to
  std::uint64_t switches = 0;  // how often it gave its processor up, or lost it
  // It sleeps in the kernel's futex code, or the kernel does not say where. A frozen one (a paused container) seems to
  // be in the call that it was in, though it may have been woken there.
  bool in_futex = false;

  bool operator==(const ThreadState&) const = default;
};

// Nothing where it has gone.
[[nodiscard]] std::optional<ThreadState> thread_state_of(std::uint32_t tid);

// It was asleep in a futex at both times, and did not run between them.
[[nodiscard]] inline bool slept_through(const std::optional<ThreadState>& first,
                                        const std::optional<ThreadState>& second) {
  return first && second && first->state == 'S' && first->in_futex && *first == *second;
}

// Whether signals that may come from outside, a terminal, a timer or another process, have handlers in a thread's
// process: all but those of faults, and the two that libc has for itself. True where it cannot be told.
[[nodiscard]] bool handles_signals(std::uint32_t tid);

}  // namespace uscope::tracer
