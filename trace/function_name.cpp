// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "trace/function_name.h"

#include <algorithm>
#include <cstddef>

namespace uscope::trace {
namespace {

constexpr std::string_view kOperator = "operator";

bool is_word(char c) {
  return c == '_' || c == '$' || (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
         (c & 0x80) != 0;
}

// How many characters of an operator's name begin at `at`, which is behind "operator": those that would open or close a
// bracket otherwise.
std::size_t operator_length(std::string_view text, std::size_t at) {
  for (const std::string_view sign : {"()", "<=>", "<<=", ">>=", "<<", ">>", "<=", ">=", "->*", "->", "<", ">", "[]"})
    if (text.substr(at).starts_with(sign)) return sign.size();
  return 0;
}

bool is_operator_at(std::string_view text, std::size_t at) {
  return text.substr(at).starts_with(kOperator) && (at == 0 || !is_word(text[at - 1])) &&
         (at + kOperator.size() >= text.size() || !is_word(text[at + kOperator.size()]));
}

bool opens(char c) {
  return c == '<' || c == '(' || c == '[' || c == '{';
}

bool closes(char c) {
  return c == '>' || c == ')' || c == ']' || c == '}';
}

// Behind the bracket that `text` opens at `at`; its end if nothing closes it. "->" closes nothing.
std::size_t behind_bracket(std::string_view text, std::size_t at) {
  std::size_t depth = 0;
  for (; at < text.size(); at++) {
    if (is_operator_at(text, at)) {
      at += kOperator.size();
      at += operator_length(text, at);
      if (at >= text.size()) break;
    }
    if (opens(text[at])) depth++;
    if (closes(text[at]) && (at == 0 || text[at - 1] != '-') && --depth == 0) return at + 1;
  }
  return text.size();
}

// Where `part` stands outside of all brackets, or npos.
std::size_t find_outside(std::string_view text, std::string_view part) {
  for (std::size_t at = 0; at < text.size();) {
    if (text.substr(at).starts_with(part)) return at;
    at = opens(text[at]) ? behind_bracket(text, at) : at + 1;
  }
  return std::string_view::npos;
}

// The crate of a Rust path or type; "" if it names none.
std::string_view crate_of(std::string_view type) {
  for (bool again = true; again;) {
    again = false;
    for (const std::string_view prefix : {"&", "*const ", "*mut ", "mut ", "dyn ", "impl ", "(", "[", " "})
      if (type.starts_with(prefix)) {
        type.remove_prefix(prefix.size());
        again = true;
      }
  }
  if (type.starts_with('<')) {
    const auto crates = rust_crates(type);
    return crates.empty() ? "" : crates.front();
  }
  const auto end = std::find_if_not(type.begin(), type.end(), is_word);
  const auto length = static_cast<std::size_t>(end - type.begin());
  return type.substr(length).starts_with("::") ? type.substr(0, length) : "";
}

void add_crate(std::string_view type, std::vector<std::string_view>& crates) {
  if (const std::string_view crate = crate_of(type); !crate.empty()) crates.push_back(crate);
}

}  // namespace

std::string_view qualified_name(std::string_view function) {
  for (const std::string_view thunk : {"non-virtual thunk to ", "virtual thunk to ", "covariant return thunk to "})
    if (function.starts_with(thunk)) function.remove_prefix(thunk.size());
  std::size_t start = 0;
  for (std::size_t at = 0; at < function.size();) {
    if (is_operator_at(function, at)) {
      // What follows is part of the name: a sign, a type, `new`.
      at += kOperator.size();
      at += operator_length(function, at);
      const std::size_t parameters = find_outside(function.substr(at), "(");
      return parameters == 0 || !function.substr(at).starts_with(' ') ? function.substr(start, at - start)
                                                                      : function.substr(start, at - start + parameters);
    }
    const bool within_name = at == start || function.substr(0, at).ends_with("::");
    if (function[at] == '(' && !within_name) return function.substr(start, at - start);
    if (opens(function[at])) {
      at = behind_bracket(function, at);
    } else if (function[at] == ' ') {
      start = ++at;
    } else {
      at++;
    }
  }
  return function.substr(start);
}

std::vector<std::string_view> rust_crates(std::string_view function) {
  std::vector<std::string_view> crates;
  // Rust's old mangling has "core::fmt::num::<impl core::fmt::Display for i32>::fmt": the path is where it was written.
  if (!function.starts_with('<')) {
    add_crate(function, crates);
    return crates;
  }
  const std::size_t end = behind_bracket(function, 0);
  const std::string_view within = function.substr(1, end < 2 ? 0 : end - 2);
  const std::size_t as = find_outside(within, " as ");
  add_crate(within.substr(0, as), crates);
  if (as != std::string_view::npos) add_crate(within.substr(as + 4), crates);
  return crates;
}

std::string go_package(std::string_view function) {
  function = function.substr(0, function.find('['));
  if (function.starts_with("go:") || function.starts_with("go.") || function.starts_with("type:") ||
      function.starts_with("type."))
    return "runtime";  // equality, hashes, tables: the linker made them
  const std::size_t slash = function.rfind('/', function.find('('));
  const std::size_t dot = function.find('.', slash == std::string_view::npos ? 0 : slash);
  if (dot == std::string_view::npos || dot == 0) return "";
  std::string path;
  for (std::size_t at = 0; at < dot; at++) {
    // Go writes a dot in the last part of a path as "%2e".
    if (function.substr(at).starts_with("%2e")) {
      path += '.';
      at += 2;
    } else {
      path += function[at];
    }
  }
  return path;
}

}  // namespace uscope::trace
