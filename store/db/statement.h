// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// A prepared SQL statement with typed parameters and columns.
//
//   auto query = Statement::prepare(db, "SELECT path FROM module WHERE id = ?1");
//   if (!query) return query.error();
//   query->bind(1, id);
//   for (;;) {
//     auto row = query->step();
//     if (!row) return row.error();
//     if (!*row) break;
//     use(query->text(0));
//   }
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "store/db/sqlite_handles.h"
#include "support/result.h"
#include "trace/ids.h"

namespace uscope::store {

// NULL where there is no id.
template <typename Kind, typename Number>
[[nodiscard]] std::optional<std::int64_t> maybe_id(trace::Id<Kind, Number> id) {
  return id ? std::optional(static_cast<std::int64_t>(id.value())) : std::nullopt;
}

class Statement {
 public:
  // `sql` must hold one statement. The caller keeps the connection, which must outlive the Statement.
  // Where it is `kept`, its destructor gives it back to there.
  static Result<Statement> prepare(sqlite3* database, std::string_view sql, SpareStatements* kept = nullptr);
  // One of those that were given back.
  static Statement take(SpareStatements& kept);

  // Parameters are numbered from 1. A failing bind (a number out of range, no memory) is reported by the next step().
  // Texts are copied.
  void bind(int parameter, std::integral auto value) { bind_integer(parameter, static_cast<std::int64_t>(value)); }
  template <typename Kind, typename Number>
  void bind(int parameter, trace::Id<Kind, Number> id) {
    bind_integer(parameter, static_cast<std::int64_t>(id.value()));
  }
  template <typename Kind, typename Number>
  void bind(int parameter, const std::optional<trace::Id<Kind, Number>>& id) {
    id ? bind(parameter, *id) : bind_null(parameter);
  }
  void bind(int parameter, std::string_view text);
  void bind(int parameter, double value);
  void bind(int parameter, std::nullptr_t) { bind_null(parameter); }
  void bind(int parameter, const std::optional<std::int64_t>& value);
  void bind_integer(int parameter, std::int64_t value);
  void bind_null(int parameter);

  // Returns true if there is a row; its columns are valid until the next step or reset. Returns false at the end; a
  // further step starts again.
  Result<bool> step();

  // For statements without rows: binds the arguments from parameter 1 on, steps, resets. An error names the statement.
  template <typename... Values>
  Result<void> run(const Values&... values) {
    int parameter = 0;
    (bind(++parameter, values), ...);
    return execute();
  }
  Result<void> execute();

  void reset();

  // Columns are numbered from 0; numbers and texts are converted as SQLite does, NULL is 0 and "".
  [[nodiscard]] std::int64_t integer(int column) const { return sqlite3_column_int64(handle_.get(), column); }
  [[nodiscard]] double real(int column) const { return sqlite3_column_double(handle_.get(), column); }
  [[nodiscard]] bool is_null(int column) const { return type(column) == SQLITE_NULL; }
  [[nodiscard]] std::optional<std::int64_t> maybe_integer(int column) const;
  [[nodiscard]] std::string_view text(int column) const;  // valid until the next step; blobs unchanged
  [[nodiscard]] int type(int column) const { return sqlite3_column_type(handle_.get(), column); }  // SQLITE_INTEGER …
  [[nodiscard]] int columns() const { return sqlite3_column_count(handle_.get()); }
  [[nodiscard]] std::string column_name(int column) const;

  // For hot loops, which bind and step themselves; failure() is the error of the last sqlite3_step that failed.
  [[nodiscard]] sqlite3_stmt* handle() const { return handle_.get(); }
  [[nodiscard]] Error failure() const { return failure(sqlite3_errcode(sqlite3_db_handle(handle_.get()))); }

 private:
  Statement(SqliteStatement handle, SpareStatements* kept) : handle_(handle.release(), SqliteReleaser{kept}) {}
  void record_error(int code);
  [[nodiscard]] Error failure(int code) const;

  std::unique_ptr<sqlite3_stmt, SqliteReleaser> handle_;
  int bind_error_ = SQLITE_OK;
};

// Runs statements that return no rows, separated by `;`.
Result<void> execute(sqlite3* database, const std::string& sql);

}  // namespace uscope::store
