// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// A star that failed is tried again only until the next star has been reached: what lies before that one can stay as it
// is. So no text makes the number of tries grow with the number of stars.
#include "support/glob.h"

#include <cctype>
#include <cstddef>
#include <optional>
#include <utility>

namespace uscope {
namespace {

unsigned char byte_of(char letter) {
  return static_cast<unsigned char>(letter);
}

bool is_of_class(std::string_view name, unsigned char byte) {
  constexpr std::pair<std::string_view, int (*)(int)> kClasses[] = {
      {"alnum", std::isalnum}, {"alpha", std::isalpha}, {"blank", std::isblank}, {"cntrl", std::iscntrl},
      {"digit", std::isdigit}, {"graph", std::isgraph}, {"lower", std::islower}, {"print", std::isprint},
      {"punct", std::ispunct}, {"space", std::isspace}, {"upper", std::isupper}, {"xdigit", std::isxdigit}};
  for (const auto& [known, holds] : kClasses)
    if (known == name) return holds(byte) != 0;
  return false;
}

struct SetMatch {
  bool holds = false;
  std::size_t bytes = 0;  // of the set in the pattern
};

// `pattern` begins with `[`. Nothing if no `]` ends it: then it is a letter like others.
std::optional<SetMatch> match_set(std::string_view pattern, unsigned char byte) {
  std::size_t at = 1;
  const bool inverted = at < pattern.size() && (pattern[at] == '!' || pattern[at] == '^');
  if (inverted) at++;
  bool holds = false;
  for (bool first = true; at < pattern.size(); first = false) {
    if (pattern[at] == ']' && !first) return SetMatch{holds != inverted, at + 1};
    if (pattern.substr(at, 2) == "[:") {
      const std::size_t end = pattern.find(":]", at + 2);
      if (end != std::string_view::npos) {
        holds = holds || is_of_class(pattern.substr(at + 2, end - at - 2), byte);
        at = end + 2;
        continue;
      }
    }
    const unsigned char low = byte_of(pattern[at++]);
    unsigned char high = low;
    if (at + 1 < pattern.size() && pattern[at] == '-' && pattern[at + 1] != ']') {
      high = byte_of(pattern[at + 1]);
      at += 2;
    }
    holds = holds || (low <= byte && byte <= high);
  }
  return std::nullopt;
}

// How many bytes of the pattern stand for this byte of the text; 0: they do not. The pattern does not begin with a
// star.
std::size_t match_one(std::string_view pattern, char letter) {
  if (pattern.empty()) return 0;
  if (pattern.front() == '?') return 1;
  if (pattern.front() == '[')
    if (const auto set = match_set(pattern, byte_of(letter))) return set->holds ? set->bytes : 0;
  return pattern.front() == letter ? 1 : 0;
}

}  // namespace

bool glob_matches(std::string_view pattern, std::string_view text) {
  std::size_t in_pattern = 0;
  std::size_t in_text = 0;
  // Behind the last star, and the text that it was last tried to end before.
  std::optional<std::size_t> behind_star;
  std::size_t star_ends = 0;
  while (in_text < text.size()) {
    if (in_pattern < pattern.size() && pattern[in_pattern] == '*') {
      behind_star = ++in_pattern;
      star_ends = in_text;
      continue;
    }
    if (const std::size_t bytes = match_one(pattern.substr(in_pattern), text[in_text])) {
      in_pattern += bytes;
      in_text++;
      continue;
    }
    if (!behind_star) return false;
    in_pattern = *behind_star;
    in_text = ++star_ends;
  }
  while (in_pattern < pattern.size() && pattern[in_pattern] == '*') in_pattern++;
  return in_pattern == pattern.size();
}

}  // namespace uscope
