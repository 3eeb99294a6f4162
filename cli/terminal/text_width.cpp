// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "cli/terminal/text_width.h"

#include <algorithm>

namespace uscope::cli {
namespace {

bool continues(char c) {
  return (static_cast<unsigned char>(c) & 0xc0) == 0x80;
}

// The bytes of a text's first column, with the sequences that colour it before it.
std::size_t first_column(std::string_view text) {
  std::size_t at = 0;
  while (const std::size_t sequence = paint_length(text.substr(at))) at += sequence;
  if (at < text.size()) at++;
  while (at < text.size() && continues(text[at])) at++;
  return at;
}

// Byte offset behind that many columns.
std::size_t byte_offset(std::string_view text, std::size_t columns) {
  std::size_t at = 0;
  for (; at < text.size() && columns > 0; columns--) at += first_column(text.substr(at));
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
  for (std::size_t at = 0; at < text.size();) {
    if (const std::size_t sequence = text[at] == '\x1b' ? paint_length(text.substr(at)) : 0; sequence != 0) {
      at += sequence;
      continue;
    }
    if (!continues(text[at])) columns++;
    at++;
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
  const std::size_t begin = byte_offset(text, head);
  const std::size_t end = byte_offset(text, full - tail);
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
