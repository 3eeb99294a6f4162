// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// A summary as text for people and as JSON for programs (docs/json/report.schema.json).
#pragma once

#include <cstddef>
#include <nlohmann/json_fwd.hpp>
#include <string>

#include "analyzer/summary/summary.h"
#include "cli/terminal/text_width.h"

namespace uscope::cli {

// `file` appears in the hints at the end; `width` is in columns.
[[nodiscard]] std::string report_text(const analyzer::Summary& summary, const std::string& file, TextWidth width);

// Its first line: what was traced.
[[nodiscard]] std::string report_title(const analyzer::Summary& summary, TextWidth width);

// The part of it above the lists: what is missing, what was traced, how good the stacks are.
[[nodiscard]] std::string report_head(const analyzer::Summary& summary, TextWidth width);

// What the JSON says.
[[nodiscard]] nlohmann::ordered_json report_value(const analyzer::Summary& summary);
[[nodiscard]] std::string report_json(const analyzer::Summary& summary);

}  // namespace uscope::cli
