// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "query/sql/lexer.h"

#include <algorithm>
#include <array>
#include <utility>

namespace uscope::query {
namespace {

bool is_digit(char c) {
  return c >= '0' && c <= '9';
}

bool is_hex(char c) {
  return is_digit(c) || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F');
}

bool is_blank(char c) {
  return c == ' ' || c == '\t' || c == '\n' || c == '\r' || c == '\f';
}

bool begins_name(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || (static_cast<unsigned char>(c) & 0x80) != 0;
}

class Lexer {
 public:
  explicit Lexer(std::string_view text) : text_(text) {}

  std::vector<Token> run() {
    for (;;) {
      skip_blanks();
      begin_ = at_;
      if (at_ >= text_.size()) break;
      take();
    }
    add(TokenKind::kEnd, "");
    return std::move(tokens_);
  }

 private:
  [[nodiscard]] char peek(std::size_t ahead = 0) const {
    return at_ + ahead < text_.size() ? text_[at_ + ahead] : '\0';
  }

  void add(TokenKind kind, std::string word) { tokens_.push_back({kind, begin_, at_, std::move(word)}); }

  void skip_to(std::string_view end) {
    const std::size_t found = text_.find(end, at_);
    at_ = found == std::string_view::npos ? text_.size() : found + end.size();
  }

  void skip_blanks() {
    for (;;) {
      while (is_blank(peek())) at_++;
      if (peek() == '-' && peek(1) == '-') {
        skip_to("\n");
      } else if (peek() == '/' && peek(1) == '*') {
        at_ += 2;
        skip_to("*/");
      } else {
        return;
      }
    }
  }

  void take() {
    const char c = peek();
    if (c == '\'') return quoted(TokenKind::kText, '\'');
    if (c == '"' || c == '`') return quoted(TokenKind::kQuotedName, c);
    if (c == '[') return bracketed();
    if ((c == 'x' || c == 'X') && peek(1) == '\'') {
      at_++;
      return quoted(TokenKind::kBlob, '\'');
    }
    if (is_digit(c) || (c == '.' && is_digit(peek(1)))) return number();
    if (c == '?' || c == ':' || c == '@' || c == '$' || c == '#') return parameter();
    if (begins_name(c)) return name();
    sign();
  }

  // A quote that is written twice stands for itself.
  void quoted(TokenKind kind, char quote) {
    std::string word;
    for (at_++; at_ < text_.size(); at_++) {
      if (peek() == quote) {
        if (peek(1) != quote) break;
        at_++;
      }
      word += peek();
    }
    at_ = std::min(at_ + 1, text_.size());
    add(kind, std::move(word));
  }

  void bracketed() {
    skip_to("]");
    add(TokenKind::kQuotedName, std::string(text_.substr(begin_ + 1, at_ - begin_ - 2)));
  }

  void number() {
    TokenKind kind = TokenKind::kInteger;
    if (peek() == '0' && (peek(1) == 'x' || peek(1) == 'X') && is_hex(peek(2))) {
      at_ += 2;
      while (is_hex(peek())) at_++;
      return add(kind, std::string(text_.substr(begin_, at_ - begin_)));
    }
    while (is_digit(peek())) at_++;
    if (peek() == '.') {
      kind = TokenKind::kReal;
      at_++;
      while (is_digit(peek())) at_++;
    }
    const std::size_t sign = peek(1) == '+' || peek(1) == '-' ? 2 : 1;
    if ((peek() == 'e' || peek() == 'E') && is_digit(peek(sign))) {
      kind = TokenKind::kReal;
      at_ += sign;
      while (is_digit(peek())) at_++;
    }
    add(kind, std::string(text_.substr(begin_, at_ - begin_)));
  }

  void parameter() {
    at_++;
    while (begins_name(peek()) || is_digit(peek()) || peek() == ':' || peek() == '$') at_++;
    add(TokenKind::kParameter, "");
  }

  void name() {
    while (begins_name(peek()) || is_digit(peek()) || peek() == '$') at_++;
    add(TokenKind::kName, lower_case(text_.substr(begin_, at_ - begin_)));
  }

  void sign() {
    constexpr std::array kLong{"->>", "->", "||", "<<", ">>", "<=", ">=", "<>", "!=", "=="};
    for (const std::string_view known : kLong) {
      if (text_.substr(at_, known.size()) != known) continue;
      at_ += known.size();
      return add(TokenKind::kSign, std::string(known));
    }
    at_++;
    add(TokenKind::kSign, std::string(text_.substr(begin_, 1)));
  }

  std::string_view text_;
  std::size_t at_ = 0;
  std::size_t begin_ = 0;
  std::vector<Token> tokens_;
};

}  // namespace

std::string lower_case(std::string_view name) {
  std::string lower(name);
  for (char& c : lower)
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  return lower;
}

std::string one_line(std::string_view text) {
  std::string line;
  std::size_t at = 0;
  for (const Token& token : tokens_of(text)) {
    if (token.kind == TokenKind::kEnd) break;
    if (!line.empty() && token.begin > at) line += ' ';
    line += text.substr(token.begin, token.end - token.begin);
    at = token.end;
  }
  return line;
}

std::vector<Token> tokens_of(std::string_view text) {
  return Lexer(text).run();
}

}  // namespace uscope::query
