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

constexpr std::int64_t kLeast = std::numeric_limits<std::int64_t>::min();
constexpr std::int64_t kGreatest = std::numeric_limits<std::int64_t>::max();

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

bool is_constant(const Expr& expr, std::int64_t value) {
  const Expr& inner = bare(expr);
  return inner.node == Node::kInteger && inner.integer == value;
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
  if (std::max({d, a, b}) >= USC_QUERY_REGISTERS) {
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
  reads_clock_ = reads_clock_ || (op == USC_QUERY_FIELD && (value == USC_QUERY_TIME || value == USC_QUERY_TOOK));
}

void ProgramMaker::only_if(const Expr& expr) {
  value(expr, 0);
  add(USC_QUERY_UNLESS, 0, 0, 0, 0);
}

void ProgramMaker::only_if(usc_query_field field, const std::vector<std::int64_t>& values, bool others) {
  add(USC_QUERY_NUMBER, 1, 0, 0, 0);
  add(USC_QUERY_FIELD, 0, 0, 0, field);
  for (const std::int64_t number : values) {
    add(USC_QUERY_NUMBER, 2, 0, 0, number);
    add(USC_QUERY_EQUAL, 2, 0, 2, 0);
    add(USC_QUERY_EITHER, 1, 1, 2, 0);
  }
  if (others) add(USC_QUERY_NOT, 1, 1, 0, 0);
  add(USC_QUERY_UNLESS, 0, 1, 0, 0);
}

void ProgramMaker::key(std::uint32_t word, usc_query_field field) {
  add(USC_QUERY_FIELD, 0, 0, 0, field);
  add(USC_QUERY_KEY, 0, 0, 0, word);
}

void ProgramMaker::key(std::uint32_t word, const Expr& expr, bool in_steps) {
  value(expr, 0);
  if (in_steps) add(USC_QUERY_BUCKET, 0, 0, 0, 0);
  add(USC_QUERY_KEY, 0, 0, 0, word);
}

void ProgramMaker::measure(std::uint32_t number, const Expr& expr) {
  value(expr, 0);
  add(USC_QUERY_MEASURE, 0, 0, 0, number);
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

void ProgramMaker::value(const Expr& expr, std::uint32_t at) {
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
      value(*expr.children[0], at);
      add(USC_QUERY_IS_NULL, at, at, 0, 0);
      break;
    case Node::kBetween:
      between(expr, at);
      break;
    case Node::kIn:
      in(expr, at);
      break;
    case Node::kCall:
      value(*expr.children[0], at);
      return add(USC_QUERY_BUCKET, at, at, 0, 0);
    default:
      trouble_ = "an expression is not one of integers";
      return;
  }
  if (expr.negated) add(USC_QUERY_NOT, at, at, 0, 0);
}

void ProgramMaker::unary(const Expr& expr, std::uint32_t at) {
  const Expr& operand = *expr.children[0];
  if (expr.op == "-") {
    const Expr& inner = bare(operand);
    if (inner.node == Node::kInteger && inner.integer != kLeast) return add(USC_QUERY_NUMBER, at, 0, 0, -inner.integer);
    add(USC_QUERY_NUMBER, at, 0, 0, 0);
    value(operand, at + 1);
    return add(USC_QUERY_SUB, at, at, at + 1, 0);
  }
  value(operand, at);
  if (expr.op == "~") add(USC_QUERY_INVERT, at, at, 0, 0);
  if (expr.op == "not") add(USC_QUERY_NOT, at, at, 0, 0);
}

void ProgramMaker::binary(const Expr& expr, std::uint32_t at) {
  const Expr& left = *expr.children[0];
  const Expr& right = *expr.children[1];
  if (is_comparison(expr.op)) {
    if (real_of(left)) {
      value(right, at);
      return compare(at, turned(expr.op), left, at);
    }
    value(left, at);
    return compare(at, expr.op, right, at);
  }
  value(left, at);
  value(right, at + 1);
  const usc_query_op op = *operation_of(expr.op);
  add(op, at, at, at + 1, 0);
  if (op == USC_QUERY_DIV)  // by -1 only
    may_overflow_ = may_overflow_ || bare(right).node != Node::kInteger || is_constant(right, -1);
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
  value(*expr.children[0], at);
  compare(at, ">=", *expr.children[1], at + 1);
  compare(at, "<=", *expr.children[2], at + 2);
  add(USC_QUERY_BOTH, at, at + 1, at + 2, 0);
}

// In an empty list there is nothing, not even NULL.
void ProgramMaker::in(const Expr& expr, std::uint32_t at) {
  const std::size_t items = expr.children.size() - 1;
  if (!items) return add(USC_QUERY_NUMBER, at, 0, 0, 0);
  value(*expr.children[0], at);
  for (std::size_t i = 1; i <= items; i++) {
    const bool first = i == 1;
    compare(at, "=", *expr.children[i], first ? at + 1 : at + 2);
    if (!first) add(USC_QUERY_EITHER, at + 1, at + 1, at + 2, 0);
  }
  add(USC_QUERY_EITHER, at, at + 1, at + 1, 0);
}

void ProgramMaker::compare(std::uint32_t x, const std::string& op, const Expr& operand, std::uint32_t out) {
  if (const auto real = real_of(operand)) return compare_real(x, op, *real, out);
  const std::uint32_t y = out > x ? out : x + 1;
  value(operand, y);
  compare_registers(x, op, y, out);
}

void ProgramMaker::compare_registers(std::uint32_t x, const std::string& op, std::uint32_t y, std::uint32_t out) {
  if (op == "=" || op == "<>") return add(op == "=" ? USC_QUERY_EQUAL : USC_QUERY_DIFFER, out, x, y, 0);
  if (op[0] == '>') std::swap(x, y);
  add(op.size() == 1 ? USC_QUERY_LESS : USC_QUERY_LESS_EQUAL, out, x, y, 0);
}

// What holds of no integer, or of each, is written as a comparison that does, so that it is NULL of NULL.
void ProgramMaker::compare_real(std::uint32_t x, const std::string& op, double real, std::uint32_t out) {
  constexpr double kEnd = 9223372036854775808.0;
  const std::uint32_t y = out > x ? out : x + 1;
  const double below = std::floor(real);
  const bool whole = below == real && below >= -kEnd && below < kEnd;
  if (whole) {
    add(USC_QUERY_NUMBER, y, 0, 0, static_cast<std::int64_t>(below));
    return compare_registers(x, op, y, out);
  }
  const bool equal = op == "=" || op == "<>";
  const bool all_below = !equal && below >= kEnd;  // every integer is less than the literal
  const bool all_above = !equal && below < -kEnd;
  if (equal || all_below || all_above) {
    const bool holds = op == "<>" || (all_below && op[0] == '<') || (all_above && op[0] == '>');
    add(USC_QUERY_NUMBER, y, 0, 0, kGreatest);
    return compare_registers(x, holds ? "<=" : ">", y, out);
  }
  add(USC_QUERY_NUMBER, y, 0, 0, static_cast<std::int64_t>(below));
  compare_registers(x, op[0] == '<' ? "<=" : ">", y, out);
}

}  // namespace uscope::query
