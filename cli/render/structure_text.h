// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// The bytes of structures that calls take, field by field, as strace writes them: {rlim_cur=1024,
// rlim_max=RLIM64_INFINITY}.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

#include "analyzer/read/event_row.h"

namespace uscope::cli {

// What an argument with the letter c, C, K or L points to; nothing if too little of it is there, or if it has no
// layout.
[[nodiscard]] std::optional<std::string> fixed_text(const analyzer::EventRow& event, std::size_t arg,
                                                    std::string_view bytes);

}  // namespace uscope::cli
