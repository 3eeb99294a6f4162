// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "cli/options/help_text.h"

#include "cli/terminal/text_width.h"

namespace uscope::cli {
namespace {

constexpr std::size_t kHelpWidth = 80;
constexpr std::size_t kNameWidth = 30;

}  // namespace

std::string help_line(const std::string& name, const std::string& text) {
  constexpr std::size_t kIndent = 2;
  std::string out = "  " + name;
  if (display_width(out) > kHelpWidth) {  // only lists of choices are longer than one line
    std::string spaced;
    for (const char c : name) spaced += c == ',' ? std::string(", ") : std::string(1, c);
    out = "  " + wrapped(spaced, kHelpWidth, kIndent);
  }
  if (text.empty()) return out + "\n";
  out += display_width(out) + 1 < kNameWidth ? std::string(kNameWidth - display_width(out), ' ')
                                             : "\n" + std::string(kNameWidth, ' ');
  return out + wrapped(text, kHelpWidth, kNameWidth) + "\n";
}

std::string help_heading(const std::string& text) {
  return wrapped(text, kHelpWidth, 0) + "\n";
}

}  // namespace uscope::cli
