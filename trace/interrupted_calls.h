// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// What programs get of calls that a signal has interrupted. The kernel's own results of such calls (ERESTARTSYS and the
// like, -512 … -516) never reach a program: it makes the call again, or it lets the call fail with EINTR, because a
// handler has run: always where the result is ERESTARTNOHAND or ERESTART_RESTARTBLOCK (poll, select, nanosleep, …),
// and without SA_RESTART where it is ERESTARTSYS. Which of the two it was rt_sigreturn tells, with which the handler
// ends: it restores the interrupted call's result, EINTR, or its number, to make it again.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "trace/ids.h"
#include "uscope/record.h"

namespace uscope::trace {

struct InterruptedCall {
  std::uint64_t entry_ns = 0;
  std::int32_t result = 0;   // the kernel's own
  std::uint32_t number = 0;  // of the call
  std::uint32_t stack = 0;
  std::uint8_t abi = 0;
};

// Of one thread.
class HandlerReturns {
 public:
  // Whether the event is of a call that was interrupted, or a return from a handler: others need not be shown.
  [[nodiscard]] static bool matters(const usc_event& event);

  // In the order of their ends. Returns the call that this return from a handler made fail with EINTR.
  std::optional<InterruptedCall> observe(const usc_event& event);
  // Whether a call waits for a return.
  [[nodiscard]] bool is_empty() const { return open_.empty(); }

 private:
  std::vector<InterruptedCall> open_;
};

// Of a whole trace, whose records are in no order.
class InterruptedCalls {
 public:
  // Takes any event; keeps those that matter.
  void add(const usc_event& event);
  // Once all have been added.
  void finish();

  // What the program got instead of the kernel's own result: -EINTR. Nothing: what the event says, or not known.
  [[nodiscard]] std::optional<std::int64_t> result_of(const usc_event& event) const;

 private:
  static constexpr std::size_t kMost = 1U << 18;

  std::unordered_map<TaskId, std::vector<usc_event>> events_;
  std::size_t count_ = 0;
  std::unordered_map<TaskId, std::unordered_set<std::uint64_t>> failed_;  // entries of calls that failed with EINTR
};

}  // namespace uscope::trace
