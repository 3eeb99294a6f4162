// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// Where the time goes, as text for people and as JSON for programs (docs/json/time.schema.json).
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

#include "analyzer/time/time.h"
#include "cli/terminal/text_width.h"

namespace uscope::cli {

// Sections with a blank line between them; with_stacks: the one by stack, too. Empty if neither samples nor times off
// the CPU were recorded.
[[nodiscard]] std::string time_sections(const analyzer::TimeShares& shares, bool with_stacks, TextWidth width);

// Whether a star in these sections, or `(cut)`, is to be explained below them.
[[nodiscard]] bool shows_fallback(const analyzer::TimeShares& shares);
[[nodiscard]] bool shows_cut(const analyzer::TimeShares& shares);

[[nodiscard]] nlohmann::ordered_json time_json(const analyzer::TimeShares& shares);

// The output of `uscope time`.
[[nodiscard]] std::string time_text(const analyzer::TimeShares& shares, TextWidth width);

}  // namespace uscope::cli
