// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// Colours on a terminal. They only repeat what the text says. Only attributes that can be read on dark and on light
// terminals are used: bold, red and magenta.
#pragma once

#include <cstddef>
#include <cstdio>
#include <string>
#include <string_view>

namespace uscope::cli {

enum class Ink {
  kPlain,
  kHeading,  // headings, and the names that a reader searches for
  kBad,      // losses, errors, what makes a verdict
  kDoubt,    // what has not ended, and what may be otherwise
};

class Paint {
 public:
  constexpr Paint() = default;  // leaves each text as it is
  constexpr explicit Paint(bool colours) : colours_(colours) {}

  // A text that is safe for a terminal, of one line, with the sequences that colour it around it.
  [[nodiscard]] std::string operator()(Ink ink, std::string_view text) const;

 private:
  bool colours_ = false;
};

// The length of the sequence that begins `text`, if Paint writes such; else 0. No other text has any: escape_terminal
// and printable leave no Esc.
[[nodiscard]] std::size_t paint_length(std::string_view text);

// For a stream, by what the user chose (terminal_choice.h), NO_COLOR, and the terminal.
[[nodiscard]] Paint paint_for(std::FILE* stream);

}  // namespace uscope::cli
