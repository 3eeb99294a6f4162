// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// `how` of an event: whether its call has ended. uscope/event_facts.h has what else an event's fields say together.
#pragma once

#include <cstdint>
#include <string_view>

#include "trace/names.h"
#include "uscope/event_facts.h"

namespace uscope::trace {

// The call was under way when this was written; if it returns while tracing, another event of it follows.
[[nodiscard]] inline bool is_unfinished(std::uint32_t how) {
  return usc_is_unfinished(how) != 0;
}

// The same of what a store has. A call that was attached to is `attached` there even if it returned: then it has a
// duration.
[[nodiscard]] inline bool is_unfinished(std::string_view how, bool has_duration) {
  return !has_duration && (how == how_name(USC_HOW_OPEN) || how == how_name(USC_HOW_ATTACHED));
}

}  // namespace uscope::trace
