// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// One event as a strace-like line and as JSON (docs/json/events.schema.json).
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "analyzer/read/event_query.h"

namespace uscope::cli {

// "pid/tid time call(args) = result ERRNO (explanation) <duration>" and a newline.
[[nodiscard]] std::string event_text(const analyzer::EventRow& event);

// Lines in the style of `strace -k`: " > module(function+0xoffset) [0xpc] file:line", innermost frame first.
[[nodiscard]] std::string frames_text(const std::vector<analyzer::StackFrame>& frames, const std::string& ended,
                                      bool guessed);

[[nodiscard]] nlohmann::ordered_json event_json(const analyzer::EventRow& event);
[[nodiscard]] nlohmann::ordered_json frames_json(const std::vector<analyzer::StackFrame>& frames);

}  // namespace uscope::cli
