// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// The width of a text on a terminal, and how to shorten one that is too wide.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "cli/terminal/paint.h"

namespace uscope::cli {

// The part that a text loses if it is too wide. A path loses its beginning instead of its middle.
enum class Shrink { kNever, kMiddle, kEnd };

// The columns that a text is laid out for, and whether in colour. On a terminal, what is wider is cut or broken.
// Elsewhere nothing is cut: a long cell of a table moves the rest of its line to the right, and no column is left out.
struct TextWidth {
  std::size_t columns;
  bool cuts = true;
  Paint paint;
  // NOLINTNEXTLINE(google-explicit-constructor): a number of columns is a width that cuts
  constexpr TextWidth(std::size_t of, bool is_cut = true, Paint with = {}) : columns(of), cuts(is_cut), paint(with) {}
};

// Columns of a text of UTF-8, without the sequences that colour it: two for a wide character (Chinese, Japanese,
// Korean, most emoji), one for each other code point, also for one that a terminal puts over the character before it.
[[nodiscard]] std::size_t display_width(std::string_view text);

// At most `width` columns, with "…" for the part left out. All sequences that colour the text stay.
[[nodiscard]] std::string shorten(const std::string& text, std::size_t width, Shrink shrink);

// Breaks a text at its spaces into lines of at most `width` columns; the lines behind the first begin with `indent`
// spaces, which the first one has too, before the text. A longer word has a line for itself.
[[nodiscard]] std::string wrapped(std::string_view text, std::size_t width, std::size_t indent);

}  // namespace uscope::cli
