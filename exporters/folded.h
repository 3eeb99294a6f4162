// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// Folded stacks, the input of flame graphs: `process;root;…;leaf weight`, one line for each distinct stack.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "store/db/database.h"
#include "support/result.h"

namespace uscope::exporters {

enum class FoldedWeight {
  kEvents,  // number of events
  kTime,    // nanoseconds inside calls that returned
};

struct FoldedOptions {
  FoldedWeight weight = FoldedWeight::kEvents;
  bool with_call = false;  // the system call as the innermost frame
};

struct FoldedTotals {
  std::uint64_t lines = 0;
  std::uint64_t events = 0;           // behind the lines
  std::uint64_t events_left_out = 0;  // of weight 0: calls without a duration, where weighted by time
};

// Calls `line` with the stack (no weight, no newline; a `;` or control character in a name is replaced) and its weight.
// A broken stack starts with `[broken:reason]` behind the process, an event without a stack is `process;[no stack]`.
[[nodiscard]] Result<FoldedTotals> fold_stacks(const store::Database& database, const FoldedOptions& options,
                                               const std::function<void(const std::string&, std::uint64_t)>& line);

}  // namespace uscope::exporters
