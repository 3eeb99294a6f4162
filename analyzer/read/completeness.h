// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// Whether a trace has all events that happened, for readers that show events without the list of losses.
#pragma once

#include <cstdint>
#include <string_view>

#include "store/db/database.h"
#include "support/result.h"

namespace uscope::analyzer {

inline constexpr std::string_view kNotComplete = "THIS TRACE IS NOT COMPLETE";

struct Completeness {
  bool events_missing = false;  // or may be missing (trace/loss_class.h)
  std::uint64_t lost = 0;       // as `record` counted them
  bool cut_off = false;         // tracing did not end in order
};

[[nodiscard]] Result<Completeness> read_completeness(const store::Database& database);

}  // namespace uscope::analyzer
