// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "cli/terminal/text_width.h"

#include <algorithm>

namespace uscope::cli {
namespace {

bool continues(char c) {
  return (static_cast<unsigned char>(c) & 0xc0) == 0x80;
}

// Byte offset of code point number `columns`.
std::size_t byte_offset(std::string_view text, std::size_t columns) {
  std::size_t at = 0;
  while (at < text.size() && columns > 0) {
    at++;
    while (at < text.size() && continues(text[at])) at++;
    columns--;
  }
  return at;
}

}  // namespace

std::size_t display_width(std::string_view text) {
  return static_cast<std::size_t>(std::count_if(text.begin(), text.end(), [](char c) { return !continues(c); }));
}

std::string shorten(const std::string& text, std::size_t width, Shrink shrink) {
  const std::size_t full = display_width(text);
  if (full <= width || shrink == Shrink::kNever) return text;
  if (width == 0) return "";
  const std::size_t kept = width - 1;
  const bool is_path = text.starts_with('/') && text.find(' ') == std::string::npos;
  const std::size_t head = shrink == Shrink::kEnd ? kept : is_path ? 0 : (kept + 1) / 2;
  const std::size_t tail = kept - head;
  return text.substr(0, byte_offset(text, head)) + "…" + text.substr(byte_offset(text, full - tail));
}

std::string wrapped(std::string_view text, std::size_t width, std::size_t indent) {
  std::string out;
  std::size_t column = indent;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find(' '), text.size());
    const std::string_view word = text.substr(0, end);
    const std::size_t columns = display_width(word);
    if (!out.empty()) {
      const bool fits = column + 1 + columns <= width;
      out += fits ? " " : "\n" + std::string(indent, ' ');
      column = fits ? column + 1 : indent;
    }
    out += word;
    column += columns;
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return out;
}

}  // namespace uscope::cli
