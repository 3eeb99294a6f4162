// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "query/plan/known_part.h"

#include <fmt/core.h>

#include "query/plan/check.h"
#include "query/plan/known_calls.h"
#include "query/plan/names.h"
#include "store/db/reading_only.h"
#include "store/db/statement.h"

namespace uscope::query {

std::string known_part(const std::string& text, const Expr& condition, const std::vector<std::string_view>& columns) {
  const auto part = [&](std::size_t child) { return known_part(text, *condition.children[child], columns); };
  if (is_of(condition, columns)) return "(" + original_text(text, condition) + ")";
  if (condition.node == Node::kParen) return part(0);
  if (condition.node == Node::kUnary && condition.op == "not") return "(NOT " + part(0) + ")";
  if (condition.node == Node::kBinary && (condition.op == "and" || condition.op == "or"))
    return fmt::format("({} {} {})", part(0), condition.op, part(1));
  return "NULL";
}

Result<std::vector<Holds>> where_holds(const std::string& condition, const std::string& source,
                                       const std::vector<std::string_view>& columns,
                                       const std::vector<std::vector<std::string>>& rows) {
  auto memory = open_memory();
  if (!memory) return memory.error();
  std::string declared = "number INTEGER PRIMARY KEY";
  std::string places = "?1";
  for (std::size_t i = 0; i < columns.size(); i++) {
    declared += fmt::format(", {} TEXT", quoted_name(columns[i]));
    places += fmt::format(", ?{}", i + 2);
  }
  if (auto done = store::execute(memory->get(), "CREATE TABLE known(" + declared + ")"); !done) return done.error();
  if (auto done = store::execute(memory->get(), "BEGIN"); !done) return done.error();
  {
    auto insert = store::Statement::prepare(memory->get(), "INSERT INTO known VALUES(" + places + ")");
    if (!insert) return insert.error();
    for (std::size_t number = 0; number < rows.size(); number++) {
      insert->bind(1, static_cast<std::int64_t>(number));
      for (std::size_t i = 0; i < columns.size(); i++) insert->bind(static_cast<int>(i) + 2, rows[number][i]);
      if (auto done = insert->run(); !done) return done.error();
    }
  }
  if (auto done = store::execute(memory->get(), "COMMIT"); !done) return done.error();
  store::allow_reading_only(memory->get());
  auto query = store::Statement::prepare(
      memory->get(), fmt::format("SELECT number, CASE WHEN {0} THEN 2 WHEN ({0}) IS NULL THEN 1 ELSE 0 END "
                                 "FROM known AS {1} ORDER BY number",
                                 condition, quoted_name(source)));
  if (!query) return query.error();
  std::vector<Holds> holds;
  for (;;) {
    auto row = query->step();
    if (!row) return row.error();
    if (!*row) return holds;
    holds.push_back(static_cast<Holds>(query->integer(1)));
  }
}

}  // namespace uscope::query
