#include "cli/json.h"

#include <algorithm>
#include <array>
#include <cstdio>

namespace uscope::cli {

nlohmann::ordered_json words_json(const std::string& words) {
  auto list = nlohmann::ordered_json::parse(words, nullptr, false);
  const auto is_string = [](const nlohmann::ordered_json& word) { return word.is_string(); };
  if (list.is_array() && std::all_of(list.begin(), list.end(), is_string)) return list;
  return nlohmann::ordered_json::array({to_utf8(words)});
}

std::string dump(const nlohmann::ordered_json& value, bool indented) {
  const std::string text = value.dump(indented ? 2 : -1);
  std::string out;
  out.reserve(text.size());
  const auto escape = [&](unsigned code) {
    std::array<char, 8> buffer{};
    std::snprintf(buffer.data(), buffer.size(), "\\u%04x", code);
    out += buffer.data();
  };
  for (std::size_t i = 0; i < text.size(); i++) {
    const auto byte = static_cast<unsigned char>(text[i]);
    const auto next = i + 1 < text.size() ? static_cast<unsigned char>(text[i + 1]) : 0U;
    if (byte == 0x7f || byte == '<') {  // only within strings: JSON itself has neither
      escape(byte);
    } else if (byte == 0xc2 && next >= 0x80 && next < 0xa0) {
      escape(next);
      i++;
    } else {
      out += static_cast<char>(byte);
    }
  }
  return out;
}

}  // namespace uscope::cli
