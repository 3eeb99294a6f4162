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

class InterruptedCalls {
 public:
  // Takes any event, in any order; keeps those of calls that were interrupted, and returns from handlers.
  void add(const usc_event& event);
  // Once all have been added.
  void finish();

  // What the program got instead of the kernel's own result: -EINTR. Nothing: what the event says, or not known.
  [[nodiscard]] std::optional<std::int64_t> result_of(const usc_event& event) const;

 private:
  static constexpr std::size_t kMostMarks = 1U << 20;

  struct Mark {
    std::uint64_t end_ns = 0;
    std::uint64_t entry_ns = 0;
    std::int32_t result = 0;
    std::uint32_t number = 0;  // of the call; of a return from a handler 0
    bool is_return = false;    // from a handler
  };
  void settle(TaskId task, std::vector<Mark>& marks);

  std::unordered_map<TaskId, std::vector<Mark>> marks_;
  std::size_t count_ = 0;
  std::unordered_map<TaskId, std::unordered_set<std::uint64_t>> failed_;  // entries of calls that failed with EINTR
};

}  // namespace uscope::trace
