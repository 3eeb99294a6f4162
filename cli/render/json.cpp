// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "cli/render/json.h"

#include <fmt/core.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "support/text.h"

namespace uscope::cli {

nlohmann::ordered_json json_value(const std::string& text) {
  return to_utf8(text);
}

nlohmann::ordered_json json_value(const std::optional<std::int64_t>& number) {
  if (!number) return nullptr;
  return *number;
}

nlohmann::ordered_json json_value(const std::optional<analyzer::EventRowId>& id) {
  return json_value(id ? std::optional(id->value()) : std::nullopt);
}

nlohmann::ordered_json json_value(const std::optional<analyzer::StackRowId>& id) {
  return json_value(id ? std::optional(id->value()) : std::nullopt);
}

nlohmann::ordered_json words_json(const std::string& words) {
  auto list = nlohmann::ordered_json::parse(words, nullptr, false);
  const auto is_word = [&](const nlohmann::ordered_json& word) {
    return word.is_string() || word.is_null();  // the list was cut
  };
  if (list.is_array() && std::all_of(list.begin(), list.end(), is_word)) return list;
  return nlohmann::ordered_json::array({to_utf8(words)});
}

std::string dump(const nlohmann::ordered_json& value, bool indented) {
  const std::string text = value.dump(indented ? 2 : -1);
  std::string out;
  out.reserve(text.size());
  const auto escape = [&](unsigned code) { out += fmt::format("\\u{:04x}", code); };
  const std::string_view all = text;
  for (std::size_t i = 0; i < all.size();) {
    const auto byte = static_cast<unsigned char>(all[i]);
    const std::size_t unsafe = byte < 0x20 ? 0 : unsafe_length(all.substr(i));  // control characters are line ends of
                                                                                // the JSON text itself
    const auto next = [&](std::size_t at) { return static_cast<unsigned>(all[i + at]) & 0x3fU; };
    if (byte == '<' || unsafe == 1) {  // only within strings: JSON syntax has neither
      escape(byte);
    } else if (unsafe == 2) {
      escape((byte & 0x1fU) << 6U | next(1));
    } else if (unsafe == 3) {
      escape((byte & 0x0fU) << 12U | next(1) << 6U | next(2));
    } else {
      out += all[i];
    }
    i += std::max<std::size_t>(1, unsafe);
  }
  return out;
}

}  // namespace uscope::cli
