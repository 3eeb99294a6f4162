// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// Helpers to read rows of a store.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "store/db/database.h"
#include "store/db/statement.h"
#include "support/result.h"

namespace uscope::analyzer {

using SqlRow = store::Statement;

[[nodiscard]] inline std::string text(const SqlRow& row, int column) {
  return std::string(row.text(column));
}

// The id in a column; nullopt for NULL.
template <typename Id>
[[nodiscard]] std::optional<Id> maybe_id(const SqlRow& row, int column) {
  return row.is_null(column) ? std::nullopt : std::optional(Id(row.integer(column)));
}

// Calls `use(row)` for every row that the bound statement returns.
template <typename Use>
Result<void> each(store::Statement& statement, const Use& use) {
  while (true) {
    auto more = statement.step();
    if (!more) return more.error();
    if (!*more) return {};
    use(statement);
  }
}

template <typename Use>
Result<void> each_row(const store::Database& database, std::string_view sql, const Use& use) {
  auto statement = database.prepare(sql);
  if (!statement) return statement.error();
  return each(*statement, use);
}

// The first column of the first row; 0 if there is none.
[[nodiscard]] inline Result<std::int64_t> one_number(Result<store::Statement> query) {
  if (!query) return query.error();
  auto row = query->step();
  if (!row) return row.error();
  return *row ? query->integer(0) : 0;
}

}  // namespace uscope::analyzer
