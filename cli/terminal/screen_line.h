// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// What a screen shows, and what a user types: plain data, so that what is drawn and what keys do is tested without a
// terminal.
#pragma once

#include <cstddef>
#include <string>

namespace uscope::cli {

struct ScreenSize {
  std::size_t columns = 0;
  std::size_t rows = 0;
  bool operator==(const ScreenSize&) const = default;
};

enum class Look { kPlain, kStrong, kReverse };

// `text` must be safe for a terminal (escape_terminal).
struct ScreenLine {
  std::string text;
  Look look = Look::kPlain;
};

enum class KeyName { kText, kEnter, kEscape, kBackspace, kUp, kDown, kPageUp, kPageDown, kHome, kEnd, kOther };

struct Key {
  KeyName name = KeyName::kOther;
  std::string text;  // of kText: one character, in UTF-8
};

}  // namespace uscope::cli
