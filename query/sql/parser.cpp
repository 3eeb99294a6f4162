// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// Recursive descent; operators between two operands by precedence climbing. SQLite has accepted the text before, so
// what does not fit is a part of the language that is not cut, and never an error of the text.
#include "query/sql/parser.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <limits>
#include <optional>
#include <string_view>
#include <utility>

#include "query/sql/lexer.h"

namespace uscope::query {
namespace {

// SQLite's precedence, the loosest first.
enum Level { kOr = 1, kAnd, kNot, kEqual, kLess, kEscape, kBits, kAdd, kMultiply, kJoin, kCollation };

constexpr std::array kReserved{"all",      "and",    "as",     "between", "case",   "cast",      "collate", "cross",
                               "distinct", "else",   "escape", "except",  "exists", "from",      "full",    "glob",
                               "group",    "having", "in",     "indexed", "inner",  "intersect", "is",      "isnull",
                               "join",     "left",   "like",   "limit",   "match",  "natural",   "not",     "notnull",
                               "null",     "offset", "on",     "or",      "order",  "outer",     "regexp",  "right",
                               "select",   "then",   "union",  "using",   "when",   "where",     "window",  "with",
                               "end",      "filter", "over",   "asc",     "desc",   "nulls"};

bool is_reserved(std::string_view word) {
  return std::any_of(kReserved.begin(), kReserved.end(), [&](const char* known) { return word == known; });
}

struct Infix {
  const char* sign;
  Level level;
};
constexpr std::array kInfix{Infix{"or", kOr},      Infix{"and", kAnd},    Infix{"=", kEqual},    Infix{"==", kEqual},
                            Infix{"<>", kEqual},   Infix{"!=", kEqual},   Infix{"<", kLess},     Infix{"<=", kLess},
                            Infix{">", kLess},     Infix{">=", kLess},    Infix{"&", kBits},     Infix{"|", kBits},
                            Infix{"<<", kBits},    Infix{">>", kBits},    Infix{"+", kAdd},      Infix{"-", kAdd},
                            Infix{"*", kMultiply}, Infix{"/", kMultiply}, Infix{"%", kMultiply}, Infix{"||", kJoin},
                            Infix{"->", kJoin},    Infix{"->>", kJoin}};

// What ends the parsing: the text holds a part of the language that is not cut.
struct NotCut {
  std::string reason;
};

class Parser {
 public:
  explicit Parser(const std::string& text) : text_(text), tokens_(tokens_of(text)) {}

  Select select() {
    look_for_other_selects();
    if (!take("select")) throw NotCut{"it does not begin with SELECT"};
    Select select;
    select.distinct = take("distinct");
    if (!select.distinct) (void)take("all");
    do select.columns.push_back(result_column());
    while (take(","));
    if (!take("from")) throw NotCut{"it does not read v_event"};
    source(select);
    if (is("where")) {
      select.where_begin = now().begin;
      at_++;
      select.where = expression(kOr);
    }
    if (take("group")) {
      expect("by");
      do select.group.push_back(expression(kOr));
      while (take(","));
    }
    if (take("having")) select.having = expression(kOr);
    if (is("window")) throw NotCut{"it has a window"};
    if (take("order")) order(select);
    if (take("limit")) {  // numbers: they stay as they are
      (void)expression(kOr);
      if (take("offset") || take(",")) (void)expression(kOr);
    }
    (void)take(";");
    if (now().kind != TokenKind::kEnd) throw_at();
    return select;
  }

 private:
  [[nodiscard]] const Token& now() const { return tokens_[at_]; }
  [[nodiscard]] const Token& next() const { return tokens_[std::min(at_ + 1, tokens_.size() - 1)]; }

  static bool is(const Token& token, std::string_view word) {
    return (token.kind == TokenKind::kName || token.kind == TokenKind::kSign) && token.word == word;
  }
  [[nodiscard]] bool is(std::string_view word) const { return is(now(), word); }

  bool take(std::string_view word) {
    if (!is(word)) return false;
    at_++;
    return true;
  }

  [[noreturn]] void throw_at() const {
    if (now().kind == TokenKind::kEnd) throw NotCut{"its end is not understood"};
    throw NotCut{"'" + text_.substr(now().begin, now().end - now().begin) + "' is not understood where it stands"};
  }

  void expect(std::string_view word) {
    if (!take(word)) throw_at();
  }

  void look_for_other_selects() const {
    std::size_t selects = 0;
    for (const Token& token : tokens_) {
      if (is(token, "union") || is(token, "intersect") || is(token, "except")) throw NotCut{"it has several SELECTs"};
      selects += is(token, "select") || is(token, "values");
    }
    if (is(tokens_.front(), "with")) throw NotCut{"it begins with WITH"};
    if (selects > 1) throw NotCut{"it has a subquery"};
  }

  [[nodiscard]] bool is_name() const {
    return now().kind == TokenKind::kQuotedName || (now().kind == TokenKind::kName && !is_reserved(now().word));
  }

  std::string take_name() {
    if (!is_name() && now().kind != TokenKind::kText) throw_at();
    return tokens_[at_++].word;
  }

  ResultColumn result_column() {
    ResultColumn column;
    if (take("*")) return column;
    if (is_name() && is(next(), ".") && is(tokens_[std::min(at_ + 2, tokens_.size() - 1)], "*")) {
      at_ += 3;
      return column;
    }
    column.expr = expression(kOr);
    if (take("as") || is_name() || now().kind == TokenKind::kText) column.alias = take_name();
    return column;
  }

  void source(Select& select) {
    select.source.begin = now().begin;
    if (is("(")) throw NotCut{"it reads more than v_event"};
    std::string table = take_name();
    if (is(".")) throw NotCut{"it names a database"};
    if (is("(")) throw NotCut{"it reads a table-valued function"};
    if (lower_case(table) != "v_event") throw NotCut{"it reads " + table};
    select.source.end = tokens_[at_ - 1].end;
    select.source_name = table;
    if (take("as") || is_name() || now().kind == TokenKind::kText) {
      select.source_name = take_name();
      select.source.end = tokens_[at_ - 1].end;
    }
    if (take("not")) {
      expect("indexed");
      select.source.end = tokens_[at_ - 1].end;
    }
    constexpr std::array kJoins{",", "join", "natural", "left", "right", "full", "cross", "inner", "outer"};
    for (const char* word : kJoins)
      if (is(word)) throw NotCut{"it joins tables"};
  }

  void order(Select& select) {
    expect("by");
    do {
      select.order.push_back(expression(kOr));
      if (!take("asc")) (void)take("desc");
      if (take("nulls")) at_++;
    } while (take(","));
  }

  ExprPtr make(Node node, std::size_t begin) const {
    auto expr = std::make_unique<Expr>();
    expr->node = node;
    expr->begin = begin;
    return expr;
  }

  ExprPtr ended(ExprPtr expr) const {
    expr->end = tokens_[at_ - 1].end;
    return expr;
  }

  ExprPtr expression(int least) {
    if (++depth_ > kDeepest) throw NotCut{"its expressions are nested too deeply"};
    ExprPtr left = prefix();
    while (ExprPtr more = infix(left, least)) left = std::move(more);
    depth_--;
    return left;
  }

  ExprPtr prefix() {
    const std::size_t begin = now().begin;
    if (is("not")) {
      at_++;
      return unary(begin, "not", expression(kNot));
    }
    for (const char* sign : {"-", "+", "~"}) {
      if (!take(sign)) continue;
      ExprPtr operand = expression(kCollation + 1);
      const bool least_number = bare(*operand).node == Node::kReal && bare(*operand).name == "9223372036854775808";
      if (*sign == '-' && least_number) {
        ExprPtr number = make(Node::kInteger, begin);
        number->integer = std::numeric_limits<std::int64_t>::min();
        return ended(std::move(number));
      }
      return unary(begin, sign, std::move(operand));
    }
    return primary();
  }

  ExprPtr unary(std::size_t begin, const char* op, ExprPtr operand) {
    ExprPtr expr = make(Node::kUnary, begin);
    expr->op = op;
    expr->children.push_back(std::move(operand));
    return ended(std::move(expr));
  }

  // The operator behind `left` with its other operands; nothing where there is none that binds at least so closely.
  // Takes `left` only if it finds one.
  ExprPtr infix(ExprPtr& left, int least) {
    for (const auto& [sign, level] : kInfix) {
      if (level < least || !is(sign)) continue;
      at_++;
      ExprPtr expr = over(Node::kBinary, left);
      expr->op = sign == std::string_view("==") ? "=" : sign == std::string_view("!=") ? "<>" : sign;
      expr->children.push_back(expression(level + 1));
      return ended(std::move(expr));
    }
    if (least <= kCollation && take("collate")) {
      ExprPtr expr = over(Node::kCollate, left);
      (void)take_name();
      return ended(std::move(expr));
    }
    return least <= kEqual ? equality(left) : nullptr;
  }

  ExprPtr over(Node node, ExprPtr& left) {
    ExprPtr expr = make(node, left->begin);
    expr->children.push_back(std::move(left));
    return expr;
  }

  // IS, IN, BETWEEN, LIKE, ISNULL and their like.
  ExprPtr equality(ExprPtr& left) {
    if (take("is")) return is_operator(left);
    if (is("isnull") || is("notnull")) {
      ExprPtr expr = over(Node::kIsNull, left);
      expr->negated = is("notnull");
      at_++;
      return ended(std::move(expr));
    }
    const bool negated = is("not");
    const Token& word = negated ? next() : now();
    if (negated && is(word, "null")) {
      at_ += 2;
      ExprPtr expr = over(Node::kIsNull, left);
      expr->negated = true;
      return ended(std::move(expr));
    }
    ExprPtr expr;
    if (is(word, "between")) {
      at_ += negated ? 2 : 1;
      expr = over(Node::kBetween, left);
      expr->children.push_back(expression(kNot));
      expect("and");
      expr->children.push_back(expression(kEqual + 1));
    } else if (is(word, "in")) {
      at_ += negated ? 2 : 1;
      expr = over(Node::kIn, left);
      if (!is("(")) throw NotCut{"IN reads a table"};
      at_++;
      list(*expr);
    } else if (is(word, "like") || is(word, "glob") || is(word, "regexp") || is(word, "match")) {
      const std::string op = word.word;
      at_ += negated ? 2 : 1;
      expr = over(Node::kLike, left);
      expr->op = op;
      expr->children.push_back(expression(kEqual + 1));
      if (take("escape")) expr->children.push_back(expression(kEscape + 1));
    } else {
      return nullptr;
    }
    expr->negated = negated;
    return ended(std::move(expr));
  }

  ExprPtr is_operator(ExprPtr& left) {
    ExprPtr expr = over(Node::kIs, left);
    expr->negated = take("not");
    if (is("distinct") && is(next(), "from")) {
      at_ += 2;
      expr->negated = !expr->negated;
    }
    expr->children.push_back(expression(kEqual + 1));
    return ended(std::move(expr));
  }

  // Expressions up to the closing bracket.
  void list(Expr& expr) {
    if (take(")")) return;
    do expr.children.push_back(expression(kOr));
    while (take(","));
    expect(")");
  }

  ExprPtr primary() {
    const Token& token = now();
    const std::size_t begin = token.begin;
    switch (token.kind) {
      case TokenKind::kInteger:
      case TokenKind::kReal:
        at_++;
        return number(token);
      case TokenKind::kText:
        if (is(next(), ".")) break;
        at_++;
        return leaf(Node::kText, token);
      case TokenKind::kBlob:
        at_++;
        return leaf(Node::kBlob, token);
      case TokenKind::kParameter:
        throw NotCut{"it has a parameter"};
      default:
        break;
    }
    if (take("(")) return bracket(begin);
    if (is("null")) {
      at_++;
      return leaf(Node::kNull, token);
    }
    if (take("case")) return case_expression(begin);
    if (is("cast") && is(next(), "(")) return cast(begin);
    // `like(` and `glob(` are calls, too.
    const bool calls = token.kind == TokenKind::kName && is(next(), "(") && !is("exists") && !is("raise");
    if (!is_name() && !calls && token.kind != TokenKind::kText) throw_at();
    at_++;
    if (is("(")) return call(token);
    return column(token);
  }

  ExprPtr leaf(Node node, const Token& token) const {
    ExprPtr expr = make(node, token.begin);
    expr->name = token.word;
    return ended(std::move(expr));
  }

  ExprPtr number(const Token& token) const {
    ExprPtr expr = leaf(Node::kReal, token);
    if (token.kind == TokenKind::kReal) return expr;
    const bool hex = token.word.size() > 2 && (token.word[1] == 'x' || token.word[1] == 'X');
    const char* digits = token.word.data() + (hex ? 2 : 0);
    std::uint64_t value = 0;
    const auto [end, error] = std::from_chars(digits, token.word.data() + token.word.size(), value, hex ? 16 : 10);
    if (error != std::errc() || (!hex && value > std::uint64_t{std::numeric_limits<std::int64_t>::max()})) return expr;
    expr->node = Node::kInteger;
    expr->integer = static_cast<std::int64_t>(value);
    return expr;
  }

  ExprPtr bracket(std::size_t begin) {
    ExprPtr expr = make(Node::kParen, begin);
    expr->children.push_back(expression(kOr));
    if (is(",")) throw NotCut{"it compares rows of values"};
    expect(")");
    return ended(std::move(expr));
  }

  ExprPtr case_expression(std::size_t begin) {
    ExprPtr expr = make(Node::kCase, begin);
    expr->based = !is("when");
    if (expr->based) expr->children.push_back(expression(kOr));
    while (take("when")) {
      expr->children.push_back(expression(kOr));
      expect("then");
      expr->children.push_back(expression(kOr));
    }
    if (take("else")) expr->children.push_back(expression(kOr));
    expect("end");
    return ended(std::move(expr));
  }

  ExprPtr cast(std::size_t begin) {
    at_ += 2;
    ExprPtr expr = make(Node::kCast, begin);
    expr->children.push_back(expression(kOr));
    expect("as");
    while (!is(")")) {
      if (now().kind == TokenKind::kEnd) throw_at();
      if (is("(")) throw NotCut{"it casts to a type with a length"};
      expr->name += lower_case(tokens_[at_++].word);
    }
    at_++;
    return ended(std::move(expr));
  }

  ExprPtr call(const Token& name) {
    ExprPtr expr = make(Node::kCall, name.begin);
    expr->name = lower_case(name.word);
    expect("(");
    expr->distinct = take("distinct");
    if (take("*")) {
      expr->star = true;
      expect(")");
    } else {
      list(*expr);
    }
    if (is("filter") && is(next(), "(")) {
      at_ += 2;
      expect("where");
      expr->filter = expression(kOr);
      expect(")");
    }
    if (is("over")) throw NotCut{"it has a window"};
    return ended(std::move(expr));
  }

  ExprPtr column(const Token& token) {
    ExprPtr expr = leaf(Node::kColumn, token);
    expr->quoted = token.kind == TokenKind::kQuotedName;
    if (!take(".")) return expr;
    expr->table = token.word;
    expr->name = take_name();
    if (is(".")) throw NotCut{"it names a database"};
    return ended(std::move(expr));
  }

  static constexpr int kDeepest = 500;

  const std::string& text_;
  std::vector<Token> tokens_;
  std::size_t at_ = 0;
  int depth_ = 0;
};

}  // namespace

Result<Select> parse(const std::string& text) {
  try {
    return Parser(text).select();
  } catch (const NotCut& not_cut) {
    return Error{not_cut.reason, ""};
  }
}

}  // namespace uscope::query
