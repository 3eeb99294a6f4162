// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// `how` of an event: whether its call has ended.
#pragma once

#include <cstdint>

#include "uscope/record.h"

namespace uscope::trace {

// The call was under way when this was written; if it returns while tracing, another event of it follows.
[[nodiscard]] constexpr bool is_unfinished(std::uint32_t how) {
  return how == USC_HOW_OPEN || how == USC_HOW_ATTACHED;
}

}  // namespace uscope::trace
