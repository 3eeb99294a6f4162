// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "query/plan/names.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>

#include "query/sql/lexer.h"

namespace uscope::query {
namespace {

const Expr* alias_of(const Select& select, const std::string& name) {
  for (const ResultColumn& column : select.columns)
    if (!column.alias.empty() && lower_case(column.alias) == lower_case(name)) return column.expr.get();
  return nullptr;
}

void resolve_column(Expr& expr, const Select& select, bool aliases) {
  const std::string name = lower_case(expr.name);
  if (!expr.table.empty()) {
    if (lower_case(expr.table) == lower_case(select.source_name)) expr.name = name;
    return;
  }
  if (find_column(name)) {
    expr.name = name;
    return;
  }
  if (aliases) expr.alias = alias_of(select, name);
  if (expr.alias) return;
  if (expr.quoted) {
    expr.node = Node::kText;
  } else if (name == "true" || name == "false") {
    expr.node = Node::kTruth;
    expr.integer = name == "true";
  }
}

void resolve_all(Expr& expr, const Select& select, bool aliases) {
  if (expr.node == Node::kColumn) resolve_column(expr, select, aliases);
  for (const ExprPtr& child : expr.children) resolve_all(*child, select, aliases);
  if (expr.filter) resolve_all(*expr.filter, select, aliases);
}

void resolve_term(Expr& term, const Select& select) {
  Expr* name = &term;
  while (name->node == Node::kParen || name->node == Node::kCollate) name = name->children[0].get();
  if (name->node == Node::kColumn && name->table.empty()) name->alias = alias_of(select, name->name);
  if (name->alias) {
    name->keeps_alias = true;
  } else {
    resolve_all(term, select, true);
  }
}

// The children in the order of the text.
std::vector<const Expr*> parts_of(const Expr& expr) {
  std::vector<const Expr*> parts;
  for (const ExprPtr& child : expr.children) parts.push_back(child.get());
  if (expr.filter) parts.push_back(expr.filter.get());
  return parts;
}

}  // namespace

void resolve(Select& select) {
  for (ResultColumn& column : select.columns)
    if (column.expr) resolve_all(*column.expr, select, false);
  if (select.where) resolve_all(*select.where, select, true);
  for (const ExprPtr& term : select.group) resolve_all(*term, select, true);
  if (select.having) resolve_all(*select.having, select, true);
  for (const ExprPtr& term : select.order) resolve_term(*term, select);
}

const Column* column_of(const Expr& expr) {
  return expr.node == Node::kColumn && !expr.alias ? find_column(expr.name) : nullptr;
}

void each(const Expr& expr, const std::function<void(const Expr&)>& use) {
  use(expr);
  if (expr.alias) each(*expr.alias, use);
  for (const Expr* part : parts_of(expr)) each(*part, use);
}

bool any_of(const Expr& expr, const std::function<bool(const Expr&)>& holds) {
  bool any = false;
  each(expr, [&](const Expr& part) { any = any || holds(part); });
  return any;
}

std::vector<const Expr*> roots_of(const Select& select) {
  std::vector<const Expr*> roots;
  for (const ResultColumn& column : select.columns)
    if (column.expr) roots.push_back(column.expr.get());
  if (select.where) roots.push_back(select.where.get());
  for (const ExprPtr& term : select.group) roots.push_back(term.get());
  if (select.having) roots.push_back(select.having.get());
  for (const ExprPtr& term : select.order) roots.push_back(term.get());
  return roots;
}

bool is_aggregate(const Expr& expr) {
  constexpr std::array kFunctions{"count", "sum", "total", "avg", "quantile", "hist"};
  if (expr.node != Node::kCall) return false;
  if (expr.name == "min" || expr.name == "max") return expr.children.size() == 1;
  return std::any_of(kFunctions.begin(), kFunctions.end(), [&](const char* name) { return expr.name == name; });
}

std::string normal_form(const Expr& expr) {
  if (expr.alias) return normal_form(*expr.alias);
  if (expr.node == Node::kParen) return normal_form(*expr.children[0]);
  std::string form = fmt::format("({} {} {} {}{}{}{}", static_cast<int>(expr.node), expr.op, expr.integer, expr.negated,
                                 expr.distinct, expr.star, expr.based);
  form += " '" + expr.name + "'";
  for (const Expr* part : parts_of(expr)) form += normal_form(*part);
  return form + ")";
}

std::string spliced_text(const std::string& text, const Expr& expr,
                         const std::function<std::string(const Expr&)>& replaced) {
  std::string result;
  std::size_t at = expr.begin;
  for (const Expr* part : parts_of(expr)) {
    result += text.substr(at, part->begin - at) + replaced(*part);
    at = part->end;
  }
  return result + text.substr(at, expr.end - at);
}

std::string quoted_name(std::string_view name) {
  std::string quoted;
  for (const char c : name) quoted += c == '"' ? "\"\"" : std::string(1, c);
  return '"' + quoted + '"';
}

std::string original_text(const std::string& text, const Expr& expr) {
  if (expr.alias) return "(" + original_text(text, *expr.alias) + ")";
  return spliced_text(text, expr, [&](const Expr& part) { return original_text(text, part); });
}

}  // namespace uscope::query
