// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// An integer is compared with a REAL literal as SQLite does it, exactly: by the integers on both sides of the literal.
// Only literals of at most 15 digits are taken, whose value does not depend on how they are read.
#include "query/plan/program_maker.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>
#include <limits>
#include <optional>
#include <string_view>
#include <utility>

namespace uscope::query {
namespace {

constexpr std::int64_t kLeastLiteral = std::numeric_limits<std::int64_t>::min();
constexpr std::int64_t kGreatestLiteral = std::numeric_limits<std::int64_t>::max();

bool is_comparison(const std::string& op) {
  return op == "=" || op == "<>" || op == "<" || op == "<=" || op == ">" || op == ">=";
}

struct Operation {
  const char* sign;
  usc_query_op op;
};
constexpr std::array kOperations{
    Operation{"+", USC_QUERY_ADD},    Operation{"-", USC_QUERY_SUB},    Operation{"*", USC_QUERY_MUL},
    Operation{"/", USC_QUERY_DIV},    Operation{"%", USC_QUERY_REM},    Operation{"&", USC_QUERY_AND},
    Operation{"|", USC_QUERY_OR},     Operation{"<<", USC_QUERY_LEFT},  Operation{">>", USC_QUERY_RIGHT},
    Operation{"and", USC_QUERY_BOTH}, Operation{"or", USC_QUERY_EITHER}};

std::optional<usc_query_op> operation_of(const std::string& sign) {
  for (const auto& [known, op] : kOperations)
    if (sign == known) return op;
  return std::nullopt;
}

std::optional<double> real_of(const Expr& expr) {
  constexpr std::ptrdiff_t kDigits = 15;
  const Expr& inner = bare(expr);
  if (inner.node == Node::kUnary && (inner.op == "-" || inner.op == "+")) {
    const auto value = real_of(*inner.children[0]);
    return value && inner.op == "-" ? std::optional(-*value) : value;
  }
  if (inner.node != Node::kReal) return std::nullopt;
  const std::string_view mantissa = std::string_view(inner.name).substr(0, inner.name.find_first_of("eE"));
  const auto digits = std::count_if(mantissa.begin(), mantissa.end(), [](char c) { return c != '.'; });
  const double value = std::strtod(inner.name.c_str(), nullptr);
  constexpr double kBeyond = 1e22;
  constexpr double kTiny = 1e-15;
  if (digits > kDigits || value > kBeyond || (value != 0 && value < kTiny)) return std::nullopt;
  return value;
}

bool is_operand(const Expr& expr) {
  return is_integers(expr) || real_of(expr).has_value();
}

bool are_compared(const Expr& a, const Expr& b) {
  const bool a_fits = is_integers(a);  // each asked once: they may be comparisons themselves
  const bool b_fits = is_integers(b);
  return (a_fits && (b_fits || real_of(b))) || (b_fits && real_of(a));
}

const Expr* truth_of(const Expr& expr) {
  const Expr& inner = bare(expr);
  return inner.node == Node::kTruth ? &inner : nullptr;
}

std::optional<std::int64_t> literal_of(const Expr& expr) {
  if (expr.alias) return literal_of(*expr.alias);
  const Expr& inner = bare(expr);
  if (inner.node == Node::kInteger || inner.node == Node::kTruth) return inner.integer;
  if (inner.node != Node::kUnary || inner.op != "-") return std::nullopt;
  const Expr& operand = bare(*inner.children[0]);
  if (operand.node != Node::kInteger || operand.integer == kLeastLiteral) return std::nullopt;
  return -operand.integer;
}

// A register that nothing at `x` needs.
std::uint32_t beside(std::uint32_t x, std::uint32_t out) {
  return out > x || x >= USC_QUERY_OWN ? out : x + 1;
}

std::string turned(const std::string& op) {
  if (op[0] == '<' && op != "<>") return ">" + op.substr(1);
  if (op[0] == '>') return "<" + op.substr(1);
  return op;
}

}  // namespace

bool is_integers(const Expr& expr) {
  const auto child = [&](std::size_t i) -> const Expr& { return *expr.children[i]; };
  switch (expr.node) {
    case Node::kInteger:
    case Node::kNull:
    case Node::kTruth:
      return true;
    case Node::kColumn: {
      if (expr.alias) return is_integers(*expr.alias);
      const Column* column = column_of(expr);
      return column && column->kind == ColumnKind::kNumber;
    }
    case Node::kCast:
      return expr.name.find("int") != std::string::npos && is_integers(child(0));
    case Node::kParen:
    case Node::kUnary:
    case Node::kIsNull:
      return is_integers(child(0));
    case Node::kBinary:
      if (is_comparison(expr.op)) return are_compared(child(0), child(1));
      return operation_of(expr.op) && is_integers(child(0)) && is_integers(child(1));
    case Node::kIs:
      return is_integers(child(0)) && is_operand(child(1));
    case Node::kBetween:
    case Node::kIn:
      return is_integers(child(0)) &&
             std::all_of(expr.children.begin() + 1, expr.children.end(), [](const auto& e) { return is_operand(*e); });
    case Node::kCall:
      return expr.name == "bucket" && expr.children.size() == 1 && !expr.filter && !expr.distinct &&
             is_integers(child(0));
    default:
      return false;
  }
}

bool is_of_numbers(const Expr& expr) {
  return is_integers(expr) && any_of(expr, [](const Expr& part) { return column_of(part) != nullptr; });
}

void ProgramMaker::add(std::uint32_t op, std::uint32_t d, std::uint32_t a, std::uint32_t b, std::int64_t value) {
  const auto is_beyond = [](std::uint32_t place) { return place >= USC_QUERY_REGISTERS && place < USC_QUERY_OWN; };
  if (d >= USC_QUERY_REGISTERS || is_beyond(a) || is_beyond(b)) {
    trouble_ = fmt::format("an expression takes more than {} numbers at a time", USC_QUERY_REGISTERS);
  } else if (program_.length >= USC_QUERY_MOST) {
    trouble_ = fmt::format("it takes more than {} instructions", USC_QUERY_MOST);
  }
  if (!trouble_.empty()) return;
  usc_query_insn& insn = program_.insn[program_.length++];
  insn.op = static_cast<__u8>(op);
  insn.d = static_cast<__u8>(d);
  insn.a = static_cast<__u8>(a);
  insn.b = static_cast<__u8>(b);
  insn.value = value;
  may_overflow_ = may_overflow_ || op == USC_QUERY_ADD || op == USC_QUERY_SUB || op == USC_QUERY_MUL;
}

void ProgramMaker::only_if(const Expr& expr) {
  add(USC_QUERY_UNLESS, 0, operand(expr, 0), 0, 0);
}

void ProgramMaker::only_if(usc_query_field field, const std::vector<std::int64_t>& values, bool others) {
  if (values.empty()) add(USC_QUERY_NUMBER, 0, 0, 0, 0);
  for (std::size_t i = 0; i < values.size(); i++) {
    add(USC_QUERY_EQUAL, i == 0 ? 0 : 1, USC_QUERY_OF_FIELD + field, USC_QUERY_OWN, values[i]);
    if (i != 0) add(USC_QUERY_EITHER, 0, 0, 1, 0);
  }
  if (others) add(USC_QUERY_NOT, 0, 0, 0, 0);
  add(USC_QUERY_UNLESS, 0, 0, 0, 0);
}

void ProgramMaker::key(std::uint32_t word, usc_query_field field) {
  add(USC_QUERY_KEY, 0, USC_QUERY_OF_FIELD + field, 0, word);
}

void ProgramMaker::key(std::uint32_t word, const Expr& expr, bool in_steps) {
  add(in_steps ? USC_QUERY_KEY_STEP : USC_QUERY_KEY, 0, operand(expr, 0), 0, word);
}

void ProgramMaker::measure(std::uint32_t number, const Expr& expr) {
  add(USC_QUERY_MEASURE, 0, operand(expr, 0), 0, number);
}

usc_query ProgramMaker::program(std::uint32_t keys, std::uint32_t measures) {
  if (!program_.length) add(USC_QUERY_NUMBER, 0, 0, 0, 0);  // a question without instructions is none
  program_.version = USC_QUERY_VERSION;
  program_.rows = USC_QUERY_ROWS;
  program_.keys = static_cast<__u16>(keys);
  program_.measures = static_cast<__u16>(measures);
  program_.reads = usc_query_reads(&program_);
  return program_;
}

std::uint32_t ProgramMaker::operand(const Expr& expr, std::uint32_t at) {
  if (expr.alias) return operand(*expr.alias, at);
  const Expr& inner = bare(expr);
  if (inner.alias) return operand(*inner.alias, at);
  if (inner.node == Node::kColumn && at < USC_QUERY_REGISTERS) return USC_QUERY_OF_FIELD + column_of(inner)->field;
  value(expr, at);
  return at;
}

void ProgramMaker::value(const Expr& expr, std::uint32_t at) {
  // A register that there is not is refused here: one expression may lie deep in others before anything is added.
  if (at >= USC_QUERY_REGISTERS) add(USC_QUERY_NUMBER, at, 0, 0, 0);
  if (!trouble_.empty()) return;
  if (expr.alias) return value(*expr.alias, at);
  switch (expr.node) {
    case Node::kParen:
    case Node::kCast:
      return value(*expr.children[0], at);
    case Node::kColumn:
      return add(USC_QUERY_FIELD, at, 0, 0, column_of(expr)->field);
    case Node::kInteger:
    case Node::kTruth:
      return add(USC_QUERY_NUMBER, at, 0, 0, expr.integer);
    case Node::kNull:  // 0 / 0
      add(USC_QUERY_NUMBER, at, 0, 0, 0);
      return add(USC_QUERY_DIV, at, at, at, 0);
    case Node::kUnary:
      return unary(expr, at);
    case Node::kBinary:
      return binary(expr, at);
    case Node::kIs:
      return is(expr, at);
    case Node::kIsNull:
      add(USC_QUERY_IS_NULL, at, operand(*expr.children[0], at), 0, 0);
      break;
    case Node::kBetween:
      between(expr, at);
      break;
    case Node::kIn:
      in(expr, at);
      break;
    case Node::kCall:
      return add(USC_QUERY_BUCKET, at, operand(*expr.children[0], at), 0, 0);
    default:
      trouble_ = "an expression is not one of integers";
      return;
  }
  if (expr.negated) add(USC_QUERY_NOT, at, at, 0, 0);
}

void ProgramMaker::unary(const Expr& expr, std::uint32_t at) {
  const Expr& operand = *expr.children[0];
  if (expr.op == "-") {
    if (const auto literal = literal_of(expr)) return add(USC_QUERY_NUMBER, at, 0, 0, *literal);
    return add(USC_QUERY_SUB, at, USC_QUERY_OWN, this->operand(operand, at), 0);
  }
  if (expr.op == "~") return add(USC_QUERY_INVERT, at, this->operand(operand, at), 0, 0);
  if (expr.op == "not") return add(USC_QUERY_NOT, at, this->operand(operand, at), 0, 0);
  value(operand, at);
}

void ProgramMaker::binary(const Expr& expr, std::uint32_t at) {
  const Expr& left = *expr.children[0];
  const Expr& right = *expr.children[1];
  if (is_comparison(expr.op)) {
    if (real_of(left) || (literal_of(left) && !real_of(right) && !literal_of(right)))
      return compare(operand(right, at), turned(expr.op), left, at);
    return compare(operand(left, at), expr.op, right, at);
  }
  const usc_query_op op = *operation_of(expr.op);
  const auto by = literal_of(right);
  if (by) {
    add(op, at, operand(left, at), USC_QUERY_OWN, *by);
  } else if (const auto from = literal_of(left)) {
    add(op, at, USC_QUERY_OWN, operand(right, at), *from);
  } else {
    const std::uint32_t x = operand(left, at);
    add(op, at, x, operand(right, x == at ? at + 1 : at), 0);
  }
  if (op == USC_QUERY_DIV) may_overflow_ = may_overflow_ || !by || *by == -1;  // by -1 only
}

// a IS b: both are NULL, or a = b is true.
void ProgramMaker::is(const Expr& expr, std::uint32_t at) {
  const Expr& right = *expr.children[1];
  value(*expr.children[0], at);
  if (const Expr* truth = truth_of(right)) {
    add(USC_QUERY_IS_NULL, at + 1, at, 0, 0);
    add(USC_QUERY_NOT, at + 1, at + 1, 0, 0);
    if (!truth->integer) add(USC_QUERY_NOT, at, at, 0, 0);
    add(USC_QUERY_BOTH, at, at + 1, at, 0);
  } else if (bare(right).node == Node::kNull) {
    add(USC_QUERY_IS_NULL, at, at, 0, 0);
  } else if (real_of(right)) {
    compare(at, "=", right, at);
    add(USC_QUERY_IS_NULL, at + 1, at, 0, 0);
    add(USC_QUERY_NOT, at + 1, at + 1, 0, 0);
    add(USC_QUERY_BOTH, at, at + 1, at, 0);
  } else {
    value(right, at + 1);
    add(USC_QUERY_EQUAL, at + 2, at, at + 1, 0);
    add(USC_QUERY_IS_NULL, at + 3, at + 2, 0, 0);
    add(USC_QUERY_NOT, at + 3, at + 3, 0, 0);
    add(USC_QUERY_BOTH, at + 2, at + 3, at + 2, 0);
    add(USC_QUERY_IS_NULL, at, at, 0, 0);
    add(USC_QUERY_IS_NULL, at + 1, at + 1, 0, 0);
    add(USC_QUERY_BOTH, at, at, at + 1, 0);
    add(USC_QUERY_EITHER, at, at, at + 2, 0);
  }
  if (expr.negated) add(USC_QUERY_NOT, at, at, 0, 0);
}

void ProgramMaker::between(const Expr& expr, std::uint32_t at) {
  const std::uint32_t x = operand(*expr.children[0], at);
  compare(x, ">=", *expr.children[1], at + 1);
  compare(x, "<=", *expr.children[2], at + 2);
  add(USC_QUERY_BOTH, at, at + 1, at + 2, 0);
}

// In an empty list there is nothing, not even NULL.
void ProgramMaker::in(const Expr& expr, std::uint32_t at) {
  const std::size_t items = expr.children.size() - 1;
  if (!items) return add(USC_QUERY_NUMBER, at, 0, 0, 0);
  const std::uint32_t x = operand(*expr.children[0], at);
  for (std::size_t i = 1; i <= items; i++) {
    const bool first = i == 1;
    compare(x, "=", *expr.children[i], first ? at + 1 : at + 2);
    if (!first) add(USC_QUERY_EITHER, at + 1, at + 1, at + 2, 0);
  }
  add(USC_QUERY_EITHER, at, at + 1, at + 1, 0);
}

void ProgramMaker::compare(std::uint32_t x, const std::string& op, const Expr& operand, std::uint32_t out) {
  if (const auto real = real_of(operand)) return compare_real(x, op, *real, out);
  if (const auto literal = literal_of(operand)) return compare_operands(x, op, USC_QUERY_OWN, out, *literal);
  compare_operands(x, op, this->operand(operand, beside(x, out)), out, 0);
}

void ProgramMaker::compare_operands(std::uint32_t x, const std::string& op, std::uint32_t y, std::uint32_t out,
                                    std::int64_t value) {
  if (op == "=" || op == "<>") return add(op == "=" ? USC_QUERY_EQUAL : USC_QUERY_DIFFER, out, x, y, value);
  if (op[0] == '>') std::swap(x, y);
  add(op.size() == 1 ? USC_QUERY_LESS : USC_QUERY_LESS_EQUAL, out, x, y, value);
}

// What holds of no integer, or of each, is written as a comparison that does, so that it is NULL of NULL.
void ProgramMaker::compare_real(std::uint32_t x, const std::string& op, double real, std::uint32_t out) {
  constexpr double kEnd = 9223372036854775808.0;
  constexpr std::uint32_t kLiteral = USC_QUERY_OWN;
  const double below = std::floor(real);
  const bool whole = below == real && below >= -kEnd && below < kEnd;
  if (whole) return compare_operands(x, op, kLiteral, out, static_cast<std::int64_t>(below));
  const bool equal = op == "=" || op == "<>";
  const bool all_below = !equal && below >= kEnd;  // every integer is less than the literal
  const bool all_above = !equal && below < -kEnd;
  if (equal || all_below || all_above) {
    const bool holds = op == "<>" || (all_below && op[0] == '<') || (all_above && op[0] == '>');
    return compare_operands(x, holds ? "<=" : ">", kLiteral, out, kGreatestLiteral);
  }
  compare_operands(x, op[0] == '<' ? "<=" : ">", kLiteral, out, static_cast<std::int64_t>(below));
}

}  // namespace uscope::query
