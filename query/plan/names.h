// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// What the names in a SELECT stand for, and what its expressions are made of.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "query/plan/columns.h"
#include "query/sql/tree.h"

namespace uscope::query {

// Finds the aliases of result columns that names stand for, by SQLite's rules: in WHERE, GROUP BY and HAVING, a column
// of v_event comes first; a term of ORDER BY that is a name alone is an alias first. TRUE and FALSE become truths, and
// what is in double quotes and no name becomes a text.
void resolve(Select& select);

// The column that a kColumn names; nullptr for an alias, and for what v_event does not have.
[[nodiscard]] const Column* column_of(const Expr& expr);

// Calls `use` for the expression and all those in it; also in what aliases stand for.
void each(const Expr& expr, const std::function<void(const Expr&)>& use);

[[nodiscard]] bool any_of(const Expr& expr, const std::function<bool(const Expr&)>& holds);

// All expressions of a SELECT: result columns, WHERE, GROUP BY, HAVING, ORDER BY.
[[nodiscard]] std::vector<const Expr*> roots_of(const Select& select);

// A call of count, sum, total, avg, min, max, quantile or hist over many rows.
[[nodiscard]] bool is_aggregate(const Expr& expr);

// Equal for expressions that mean the same, however they are written.
[[nodiscard]] std::string normal_form(const Expr& expr);

// A name in quotes, as SQL has it.
[[nodiscard]] std::string quoted_name(std::string_view name);

// The text of an expression as it was asked, with what aliases stand for in their place.
[[nodiscard]] std::string original_text(const std::string& text, const Expr& expr);

// The text of an expression in which `replaced` gives the texts of its children.
[[nodiscard]] std::string spliced_text(const std::string& text, const Expr& expr,
                                       const std::function<std::string(const Expr&)>& replaced);

}  // namespace uscope::query
