// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "store/db/row_batch.h"

#include <algorithm>

namespace uscope::store {
namespace {

constexpr std::size_t kValuesOfStatement = 512;
constexpr std::size_t kStatementsOfBatch = 8;

// SQLite's own limit is 250,000 parameters.
std::size_t rows_of_statement(std::size_t columns) {
  return std::max<std::size_t>(1, kValuesOfStatement / columns);
}

std::string sql_of(std::string_view table, std::size_t columns, std::size_t rows, OnConflict on_conflict) {
  std::string row = "(";
  for (std::size_t i = 0; i < columns; i++) row += i == 0 ? "?" : ",?";
  row += ')';
  std::string sql = on_conflict == OnConflict::kIgnore ? "INSERT OR IGNORE INTO " : "INSERT OR FAIL INTO ";
  sql.append(table).append(" VALUES");
  for (std::size_t i = 0; i < rows; i++) sql.append(i == 0 ? "" : ",").append(row);
  return sql;
}

// Texts in `bytes` are valid until the statement has run.
int bind_value(sqlite3_stmt* statement, int parameter, const RowValue& value, const std::string& bytes) {
  const auto length = static_cast<int>(value.length);
  switch (value.kind) {
    case RowValue::Kind::kInteger:
      return sqlite3_bind_int64(statement, parameter, value.number);
    case RowValue::Kind::kLasting:
      return sqlite3_bind_text(statement, parameter, value.lasting, length, SQLITE_STATIC);
    case RowValue::Kind::kText:
      return sqlite3_bind_text(statement, parameter, bytes.data() + value.at, length, SQLITE_STATIC);
    case RowValue::Kind::kBlob:
      return sqlite3_bind_blob(statement, parameter, bytes.data() + value.at, length, SQLITE_STATIC);
    default:
      return sqlite3_bind_null(statement, parameter);
  }
}

// Whether a parameter that has one of these values need not be bound to get the other.
bool is_same(const RowValue& bound, const RowValue& value) {
  if (bound.kind != value.kind) return false;
  switch (value.kind) {
    case RowValue::Kind::kNull:
      return true;
    case RowValue::Kind::kInteger:
      return bound.number == value.number;
    case RowValue::Kind::kLasting:
      return bound.lasting == value.lasting && bound.length == value.length;
    default:
      return false;
  }
}

}  // namespace

RowStatements::Rows::Rows(Statement prepared, std::size_t values) : statement(std::move(prepared)), bound(values) {}

Result<void> RowStatements::Rows::insert(const RowValue* first, const std::string& bytes) {
  sqlite3_stmt* const handle = statement.handle();
  int failed = SQLITE_OK;
  for (std::size_t i = 0; i < bound.size(); i++) {
    if (is_same(bound[i], first[i])) continue;
    failed |= bind_value(handle, static_cast<int>(i + 1), first[i], bytes);
    bound[i] = first[i];
  }
  // A column that could not be bound still holds an older value, so the row is not written then.
  Result<void> done;
  if (failed != SQLITE_OK || sqlite3_step(handle) != SQLITE_DONE) done = statement.failure();
  sqlite3_reset(handle);
  return done;
}

Result<RowStatements> RowStatements::prepare(Statements& statements, std::string_view table, std::size_t columns,
                                             OnConflict on_conflict) {
  auto one = statements.prepare(sql_of(table, columns, 1, on_conflict));
  if (!one) return one.error();
  return RowStatements(statements, std::string(table), on_conflict, {std::move(*one), columns});
}

std::size_t RowStatements::values_of_many() const {
  const std::size_t columns = one_.bound.size();
  return rows_of_statement(columns) * columns;
}

std::size_t RowStatements::values_of_batch() const {
  return values_of_many() * kStatementsOfBatch;
}

Result<void> RowStatements::prepare_many() {
  const std::size_t columns = one_.bound.size();
  auto many = statements_->prepare(sql_of(table_, columns, rows_of_statement(columns), on_conflict_));
  if (!many) return many.error();
  many_.emplace(std::move(*many), values_of_many());
  return {};
}

Result<void> RowStatements::insert(const std::vector<RowValue>& values, const std::string& bytes) {
  const std::size_t many = values_of_many();
  std::size_t at = 0;
  for (; values.size() - at >= many; at += many) {
    if (!many_)
      if (auto done = prepare_many(); !done) return done;
    if (auto done = many_->insert(&values[at], bytes); !done) return done;
  }
  for (; at < values.size(); at += one_.bound.size())
    if (auto done = one_.insert(&values[at], bytes); !done) return done;
  return {};
}

}  // namespace uscope::store
