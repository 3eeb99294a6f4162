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

// What an argument with the letter c, C, K, L, R or 8 points to; nothing if too little of it is there, or if it has no
// layout. `cut`: more bytes were wanted, which a structure that is whole without them does not show.
[[nodiscard]] std::optional<std::string> fixed_text(const analyzer::EventRow& event, std::size_t arg,
                                                    std::string_view bytes, bool cut);

// What an argument with the letter 2, 3, 4 or 5 points to: "[{val=1, …}, {…}]". Nothing if it has no layout.
[[nodiscard]] std::optional<std::string> array_text(const analyzer::EventRow& event, std::size_t arg,
                                                    std::string_view bytes, bool cut);

// A set of nodes of memory, by words: "[0000000000000003]".
[[nodiscard]] std::string nodes_text(std::string_view bytes, bool cut);

}  // namespace uscope::cli
