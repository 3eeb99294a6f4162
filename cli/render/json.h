// JSON values of names that may hold any byte, and of numbers that may be missing.
#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>

namespace uscope::cli {

[[nodiscard]] nlohmann::ordered_json json_value(const std::string& bytes);

[[nodiscard]] nlohmann::ordered_json json_value(const std::optional<std::int64_t>& number);

// The words of a command that the store keeps as a JSON array; any other text is one word.
[[nodiscard]] nlohmann::ordered_json words_json(const std::string& words);

// Indented where a person may read it, compact for one of many. Control characters come out as \u escapes, and so does
// all else that is unsafe on a terminal (unsafe_length), so that JSON on a terminal is as safe as text; `<` too, so
// that it can stand in a web page.
[[nodiscard]] std::string dump(const nlohmann::ordered_json& value, bool indented = true);

}  // namespace uscope::cli
