// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "store/db/statement.h"

#include <utility>

namespace uscope::store {
namespace {

std::string shortened(std::string_view sql) {
  constexpr std::size_t kLongest = 120;
  return sql.size() <= kLongest ? std::string(sql) : std::string(sql.substr(0, kLongest)) + " …";
}

std::string remedy_for(int code) {
  switch (code & 0xff) {
    case SQLITE_FULL:
      return "free space on the disk, raise the limit of file sizes (ulimit -f), or write elsewhere";
    case SQLITE_CORRUPT:
    case SQLITE_NOTADB:
      return "load the trace again from its raw file";
    case SQLITE_IOERR:
      return "look at the disk and at the kernel's log";
    default:
      return "";
  }
}

}  // namespace

Result<Statement> Statement::prepare(sqlite3* database, std::string_view sql, SpareStatements* kept) {
  sqlite3_stmt* raw = nullptr;
  const char* tail = nullptr;
  const int code =
      sqlite3_prepare_v3(database, sql.data(), static_cast<int>(sql.size()), SQLITE_PREPARE_PERSISTENT, &raw, &tail);
  SqliteStatement handle(raw);
  if (code != SQLITE_OK) return Error{"SQL: " + std::string(sqlite3_errmsg(database)), remedy_for(code)};
  if (!handle) return Error{"SQL: there is no statement in '" + shortened(sql) + "'", ""};
  const std::string_view rest = sql.substr(static_cast<std::size_t>(tail - sql.data()));
  if (rest.find_first_not_of(" \t\r\n;") != std::string_view::npos) {
    sqlite3_stmt* second = nullptr;
    const int second_code = sqlite3_prepare_v2(database, rest.data(), static_cast<int>(rest.size()), &second, nullptr);
    const SqliteStatement owner(second);
    if (second || second_code != SQLITE_OK)
      return Error{"SQL: more than one statement", "give one statement at a time"};
  }
  return Statement(std::move(handle), kept);
}

Statement Statement::take(SpareStatements& kept) {
  SqliteStatement handle = std::move(kept.back());
  kept.pop_back();
  return {std::move(handle), &kept};
}

void Statement::record_error(int code) {
  if (bind_error_ == SQLITE_OK) bind_error_ = code;
}

void Statement::bind_integer(int parameter, std::int64_t value) {
  record_error(sqlite3_bind_int64(handle_.get(), parameter, value));
}

void Statement::bind(int parameter, std::string_view text) {
  // An empty view may have a null address, which would mean NULL.
  const char* start = text.data() ? text.data() : "";
  record_error(sqlite3_bind_text64(handle_.get(), parameter, start, text.size(), SQLITE_TRANSIENT, SQLITE_UTF8));
}

void Statement::bind(int parameter, double value) {
  record_error(sqlite3_bind_double(handle_.get(), parameter, value));
}

void Statement::bind_null(int parameter) {
  record_error(sqlite3_bind_null(handle_.get(), parameter));
}

void Statement::bind(int parameter, const std::optional<std::int64_t>& value) {
  if (value) {
    bind(parameter, *value);
  } else {
    bind_null(parameter);
  }
}

Result<bool> Statement::step() {
  if (const int code = std::exchange(bind_error_, SQLITE_OK); code != SQLITE_OK) return failure(code);
  const int code = sqlite3_step(handle_.get());
  if (code == SQLITE_ROW) return true;
  if (code == SQLITE_DONE) {
    sqlite3_reset(handle_.get());
    return false;
  }
  Error error = failure(code);
  sqlite3_reset(handle_.get());
  return error;
}

Result<void> Statement::execute() {
  auto row = step();
  if (!row) return row.error();
  if (*row) reset();
  return {};
}

void Statement::reset() {
  sqlite3_reset(handle_.get());
  sqlite3_clear_bindings(handle_.get());
}

std::optional<std::int64_t> Statement::maybe_integer(int column) const {
  if (is_null(column)) return std::nullopt;
  return integer(column);
}

std::string_view Statement::text(int column) const {
  const auto* start = reinterpret_cast<const char*>(sqlite3_column_text(handle_.get(), column));
  if (!start) return {};
  return {start, static_cast<std::size_t>(sqlite3_column_bytes(handle_.get(), column))};
}

std::string Statement::column_name(int column) const {
  const char* name = sqlite3_column_name(handle_.get(), column);
  return name ? name : "";
}

Error Statement::failure(int code) const {
  sqlite3* database = sqlite3_db_handle(handle_.get());
  const bool of_connection = sqlite3_errcode(database) == (code & 0xff) || sqlite3_extended_errcode(database) == code;
  const std::string why = of_connection ? sqlite3_errmsg(database) : sqlite3_errstr(code);
  const char* sql = sqlite3_sql(handle_.get());
  return {"SQL: " + why + " (in '" + shortened(sql ? sql : "") + "')", remedy_for(code)};
}

Result<void> execute(sqlite3* database, const std::string& sql) {
  char* message = nullptr;
  const int code = sqlite3_exec(database, sql.c_str(), nullptr, nullptr, &message);
  if (code == SQLITE_OK) return {};
  const std::string why = message ? message : sqlite3_errstr(code);
  sqlite3_free(message);
  return Error{"SQL: " + why, remedy_for(code)};
}

}  // namespace uscope::store
