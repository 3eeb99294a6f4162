// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// A comparison as text for people and as JSON for programs (docs/json/diff.schema.json).
#pragma once

#include <string>

#include "analyzer/diff/diff.h"
#include "cli/terminal/text_width.h"

namespace uscope::cli {

[[nodiscard]] std::string diff_text(const analyzer::Diff& diff, TextWidth width);

[[nodiscard]] std::string diff_json(const analyzer::Diff& diff);

// "rate", "latency", "errors ENOENT", "never returned".
[[nodiscard]] std::string shift_name(const analyzer::ChangedCell& cell);

}  // namespace uscope::cli
