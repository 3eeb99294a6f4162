// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// JSON values for texts of a trace (support/text.h), and for numbers that may be missing.
#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>

#include "analyzer/read/row_ids.h"

namespace uscope::cli {

[[nodiscard]] nlohmann::ordered_json json_value(const std::string& text);

[[nodiscard]] nlohmann::ordered_json json_value(const std::optional<std::int64_t>& number);
[[nodiscard]] nlohmann::ordered_json json_value(const std::optional<analyzer::EventRowId>& id);
[[nodiscard]] nlohmann::ordered_json json_value(const std::optional<analyzer::StackRowId>& id);

// The words of a command, which the store keeps as a JSON array; any other text becomes one word.
[[nodiscard]] nlohmann::ordered_json words_json(const std::string& words);

// Indented for people, compact for one value of many. Control characters and everything else that is unsafe on a
// terminal (unsafe_length) become \u escapes, so that JSON on a terminal is as safe as text; `<` too, so that the JSON
// can be embedded in a web page.
[[nodiscard]] std::string dump(const nlohmann::ordered_json& value, bool indented = true);

}  // namespace uscope::cli
