// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// Makes instructions of expressions over integers: registers are taken like a stack, each operator puts its result into
// the lowest one that its operands used.
#pragma once

#include <string>
#include <vector>

#include "query/plan/names.h"
#include "query/sql/tree.h"
#include "uscope/query.h"

namespace uscope::query {

// Whether the instructions can compute an expression, with the value that SQLite gives it: an integer or NULL, or,
// where an operation goes beyond 64 bits, whatever SQLite makes of the event.
[[nodiscard]] bool is_integers(const Expr& expr);

// … and it is no constant.
[[nodiscard]] bool is_of_numbers(const Expr& expr);

class ProgramMaker {
 public:
  // The event ends here unless the expression is true.
  void only_if(const Expr& expr);
  // … or unless a field has one of these values; with `others`, unless it has none of them.
  void only_if(usc_query_field field, const std::vector<std::int64_t>& values, bool others);
  void key(std::uint32_t word, usc_query_field field);
  void key(std::uint32_t word, const Expr& expr, bool in_steps);
  void measure(std::uint32_t number, const Expr& expr);

  // Only if trouble() is empty.
  [[nodiscard]] usc_query program(std::uint32_t keys, std::uint32_t measures);
  // Why the expressions do not fit; empty if they do.
  [[nodiscard]] const std::string& trouble() const { return trouble_; }
  // Whether an operation may go beyond 64 bits.
  [[nodiscard]] bool may_overflow() const { return may_overflow_; }
  [[nodiscard]] bool reads_clock() const {
    return (usc_query_reads(&program_) & (1U << USC_QUERY_TIME | 1U << USC_QUERY_TOOK)) != 0;
  }

 private:
  void add(std::uint32_t op, std::uint32_t d, std::uint32_t a, std::uint32_t b, std::int64_t value);
  // Register `at` = the expression.
  void value(const Expr& expr, std::uint32_t at);
  // The expression as an operand: a field, or register `at`.
  std::uint32_t operand(const Expr& expr, std::uint32_t at);
  void unary(const Expr& expr, std::uint32_t at);
  void binary(const Expr& expr, std::uint32_t at);
  void is(const Expr& expr, std::uint32_t at);
  void between(const Expr& expr, std::uint32_t at);
  void in(const Expr& expr, std::uint32_t at);
  // Register `out` = the comparison of the operand `x` with an expression, which may be a REAL literal.
  void compare(std::uint32_t x, const std::string& op, const Expr& operand, std::uint32_t out);
  void compare_real(std::uint32_t x, const std::string& op, double real, std::uint32_t out);
  // `value`: what USC_QUERY_OWN is.
  void compare_operands(std::uint32_t x, const std::string& op, std::uint32_t y, std::uint32_t out, std::int64_t value);

  usc_query program_{};
  std::string trouble_;
  bool may_overflow_ = false;
};

}  // namespace uscope::query
