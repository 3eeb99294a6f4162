// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// Which part of a recording a page, a list or a diagnosis is about.
#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <string>

#include "analyzer/read/event_filter.h"
#include "cli/terminal/text_width.h"

namespace uscope::cli {

// "thread 4711, from 0.500000 s to 1.500000 s of 5.070000 s". `trace_ns`: the length of the recording.
[[nodiscard]] std::string part_text(const analyzer::EventFilter& part, std::int64_t trace_ns);

// The line of a text that says so, with what else there is to know of it.
[[nodiscard]] std::string part_line(const analyzer::EventFilter& part, std::int64_t trace_ns, const std::string& more,
                                    TextWidth width);

// docs/json/part.schema.json
[[nodiscard]] nlohmann::ordered_json part_json(const analyzer::EventFilter& part);

}  // namespace uscope::cli
