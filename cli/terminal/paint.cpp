// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "cli/terminal/paint.h"

#include <cstdlib>

#include "cli/terminal/pager.h"
#include "cli/terminal/terminal_choice.h"

namespace uscope::cli {
namespace {

constexpr std::string_view kBegin = "\x1b[";
constexpr const char* kReset = "\x1b[0m";

const char* sequence(Ink ink) {
  switch (ink) {
    case Ink::kHeading:
      return "\x1b[1m";
    case Ink::kBad:
      return "\x1b[1;31m";
    case Ink::kDoubt:
      return "\x1b[35m";
    default:
      return "";
  }
}

}  // namespace

std::string Paint::operator()(Ink ink, std::string_view text) const {
  if (!colours_ || ink == Ink::kPlain || text.empty()) return std::string(text);
  return sequence(ink) + std::string(text) + kReset;
}

std::size_t paint_length(std::string_view text) {
  if (!text.starts_with(kBegin)) return 0;
  const std::size_t end = text.find_first_not_of("0123456789;", kBegin.size());
  return end != std::string_view::npos && text[end] == 'm' ? end + 1 : 0;
}

Paint paint_for(std::FILE* stream) {
  switch (terminal_choice().colours) {
    case ColoursWhen::kAlways:
      return Paint(true);
    case ColoursWhen::kNever:
      return Paint(false);
    default:
      break;
  }
  const char* refused = std::getenv("NO_COLOR");
  if (refused && *refused != '\0') return Paint(false);
  return Paint(terminal_behind(stream) >= 0 && !is_dumb_terminal());
}

}  // namespace uscope::cli
