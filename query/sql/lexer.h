// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// The words of an SQL text as SQLite cuts them. SQLite has checked the text before, so nothing here is an error.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace uscope::query {

enum class TokenKind {
  kName,        // a keyword or a name without quotes; `word` is in lower case
  kQuotedName,  // "name", [name] or `name`; `word` is what the quotes hold
  kText,        // 'text'; `word` is what the quotes hold
  kBlob,
  kInteger,
  kReal,
  kParameter,
  kSign,  // an operator, a bracket, a comma; `word` is the sign
  kEnd
};

struct Token {
  TokenKind kind = TokenKind::kEnd;
  std::size_t begin = 0;  // bytes in the text
  std::size_t end = 0;
  std::string word;
};

// Without blanks and comments; the last one is kEnd.
[[nodiscard]] std::vector<Token> tokens_of(std::string_view text);

// The same text in one line: without comments, with one blank where there were several.
[[nodiscard]] std::string one_line(std::string_view text);

// Letters of ASCII only, as SQLite compares names.
[[nodiscard]] std::string lower_case(std::string_view name);

}  // namespace uscope::query
