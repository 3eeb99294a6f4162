// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "cli/terminal/text_width.h"

#include <fmt/core.h>

#include <algorithm>

namespace uscope::cli {
namespace {

bool continues(char c) {
  return (static_cast<unsigned char>(c) & 0xc0) == 0x80;
}

// A character of UTF-8 with the sequences that colour it before it, or such sequences at the end of a text.
struct Character {
  std::size_t bytes = 0;
  std::size_t columns = 0;
};

// fmt fills a field by the width that the C++ standard gives to characters (format.string.std): no file of the system
// is asked, so that a table looks the same everywhere.
std::size_t columns_of(std::string_view character) {
  constexpr std::size_t kField = 3;
  if (character.size() == 1) return 1;
  const std::size_t blanks = fmt::format("{:<{}}", character, kField).size() - character.size();
  return kField - std::min(blanks, kField - 1);
}

Character first_character(std::string_view text) {
  std::size_t at = 0;
  while (const std::size_t sequence = at < text.size() && text[at] == '\x1b' ? paint_length(text.substr(at)) : 0)
    at += sequence;
  if (at == text.size()) return {at, 0};
  std::size_t end = at + 1;
  while (end < text.size() && continues(text[end])) end++;
  return {end, columns_of(text.substr(at, end - at))};
}

// Bytes of a text's beginning that has room in so many columns.
std::size_t fitting(std::string_view text, std::size_t columns) {
  std::size_t at = 0;
  while (at < text.size()) {
    const Character next = first_character(text.substr(at));
    if (next.columns > columns) break;
    at += next.bytes;
    columns -= next.columns;
  }
  return at;
}

// Bytes of a text's beginning that takes at least so many columns.
std::size_t behind(std::string_view text, std::size_t columns) {
  std::size_t at = 0;
  while (columns > 0 && at < text.size()) {
    const Character next = first_character(text.substr(at));
    at += next.bytes;
    columns -= std::min(columns, next.columns);
  }
  return at;
}

// The sequences that colour a text, without the text.
std::string only_paint(std::string_view text) {
  std::string out;
  for (std::size_t at = text.find('\x1b'); at != std::string_view::npos; at = text.find('\x1b', at + 1))
    out += text.substr(at, paint_length(text.substr(at)));
  return out;
}

}  // namespace

std::size_t display_width(std::string_view text) {
  std::size_t columns = 0;
  while (!text.empty()) {
    const Character next = first_character(text);
    columns += next.columns;
    text.remove_prefix(next.bytes);
  }
  return columns;
}

std::string shorten(const std::string& text, std::size_t width, Shrink shrink) {
  const std::size_t full = display_width(text);
  if (full <= width || shrink == Shrink::kNever) return text;
  if (width == 0) return "";
  const std::size_t kept = width - 1;
  const bool is_path = text.starts_with('/') && text.find(' ') == std::string::npos;
  const std::size_t head = shrink == Shrink::kEnd ? kept : is_path ? 0 : (kept + 1) / 2;
  const std::size_t tail = kept - head;
  const std::size_t begin = fitting(text, head);
  const std::size_t end = behind(text, full - tail);
  return text.substr(0, begin) + only_paint(std::string_view(text).substr(begin, end - begin)) + "…" + text.substr(end);
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
