// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// Folded stacks, the input of flame graphs: `process;root;…;leaf weight`, one line for each distinct stack and for what
// stands around it.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "analyzer/read/catalog.h"
#include "analyzer/read/event_filter.h"
#include "exporters/profiles/stack_groups.h"
#include "store/db/database.h"
#include "support/result.h"

namespace uscope::exporters {

enum class FoldedWeight {
  kEvents,  // number of events
  kTime,    // nanoseconds inside calls and functions that returned, off the CPU, or that a sample stands for
};

struct FoldedOptions {
  FoldedWeight weight = FoldedWeight::kEvents;
  Levels levels{};
  analyzer::EventFilter filter{};  // without `limit`
};

struct FoldedTotals {
  std::uint64_t lines = 0;
  std::uint64_t events = 0;           // behind the lines
  std::uint64_t events_left_out = 0;  // of weight 0: those without a duration, where weighted by time
};

// Calls `line` with the stack (no weight, no newline; a `;` or control character in a name is replaced) and its weight.
// A broken stack starts with `[broken:reason]` behind the levels before it, an event without a stack is `process;[no
// stack]`.
[[nodiscard]] Result<FoldedTotals> fold_stacks(const store::Database& database, const analyzer::Catalog& catalog,
                                               const FoldedOptions& options,
                                               const std::function<void(const std::string&, std::uint64_t)>& line);

}  // namespace uscope::exporters
