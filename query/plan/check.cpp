// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "query/plan/check.h"

#include <fmt/core.h>

#include <algorithm>
#include <string_view>

#include "query/plan/columns.h"
#include "query/plan/empty_answer.h"
#include "query/plan/plan.h"
#include "query/sql/lexer.h"
#include "store/db/reading_only.h"
#include "store/db/schema.h"
#include "store/db/statement.h"
#include "support/nearest.h"
#include "support/text.h"

namespace uscope::query {
namespace {

constexpr const char* kOneSelect = "give one SELECT, such as: SELECT kind, count(*) FROM v_event GROUP BY kind";

// The first column of all rows.
Result<std::vector<std::string>> texts(sqlite3* database, const std::string& sql) {
  auto query = store::Statement::prepare(database, sql);
  if (!query) return query.error();
  std::vector<std::string> found;
  for (;;) {
    auto row = query->step();
    if (!row) return row.error();
    if (!*row) return found;
    found.emplace_back(query->text(0));
  }
}

// CREATE TABLE of a table with the columns of the store's view.
Result<std::string> table_text() {
  auto memory = open_memory();
  if (!memory) return memory.error();
  if (auto done = store::create_schema(memory->get()); !done) return done.error();
  auto columns = texts(memory->get(), "SELECT '\"' || name || '\" ' || type FROM pragma_table_info('v_event')");
  if (!columns) return columns.error();
  std::string text;
  for (const std::string& column : *columns) text += (text.empty() ? "" : ", ") + column;
  return "CREATE TABLE v_event(" + text + ")";
}

// What stands at the place, up to the end of the line; a long one is cut.
std::string found_at(const std::string& text, std::size_t at) {
  constexpr std::size_t kMost = 32;
  std::size_t end = std::min({text.find('\n', at), text.size(), at + kMost});
  while (end > at && end < text.size() && (static_cast<unsigned char>(text[end]) & 0xc0) == 0x80) end--;
  return printable(text.substr(at, end - at));
}

std::string place(const std::string& text, std::size_t at) {
  const auto line = 1 + std::count(text.begin(), text.begin() + static_cast<std::ptrdiff_t>(at), '\n');
  const std::size_t newline = at ? text.rfind('\n', at - 1) : std::string::npos;
  const std::size_t column = at - (newline == std::string::npos ? 0 : newline + 1) + 1;
  return fmt::format("line {}, column {}", line, column);
}

// What follows "no such column: "; the name alone, without its table.
std::string unknown_name(std::string_view message, std::string_view before) {
  std::string_view name = message.substr(before.size());
  if (const std::size_t dot = name.rfind('.'); dot != std::string_view::npos) name.remove_prefix(dot + 1);
  return lower_case(name);
}

constexpr const char* kArguments =
    "an event holds the first six arguments of a probe, as `uscope list` shows them: a0 to a5; others are not kept";

// "a6", "a12": what would be the column of an argument behind the sixth.
bool is_later_argument(std::string_view name) {
  if (name.size() < 2 || name.size() > 3 || name[0] != 'a') return false;
  name.remove_prefix(1);
  return std::all_of(name.begin(), name.end(), [](char digit) { return digit >= '0' && digit <= '9'; });
}

std::string remedy_for(const std::string& message, const std::vector<std::string>& functions) {
  constexpr std::string_view kColumn = "no such column: ";
  constexpr std::string_view kFunction = "no such function: ";
  constexpr std::string_view kTable = "no such table: ";
  if (message.starts_with(kColumn)) {
    std::vector<std::string> names;
    for (const Column& column : all_columns()) names.emplace_back(column.name);
    const std::string unknown = unknown_name(message, kColumn);
    if (is_later_argument(unknown)) return kArguments;
    if (std::string hint = hint_for_column(unknown); !hint.empty()) return hint;
    if (std::string offered = did_you_mean(unknown, names); !offered.empty()) return offered;
    std::string all;
    for (const std::string& name : names) all += (all.empty() ? "" : ", ") + name;
    return fmt::format("{}; the columns are {}", kArguments, all);
  }
  if (message.starts_with(kFunction)) return did_you_mean(unknown_name(message, kFunction), functions);
  if (message.starts_with(kTable)) {
    const std::string offered = did_you_mean(unknown_name(message, kTable), {"v_event"});
    return offered.empty()
               ? "a question reads v_event; the other tables are those of a stored trace: uscope sql FILE.db "
                 "'SELECT …'"
               : offered;
  }
  return "docs/cli.md, \"query\", and sqlite.org/lang_select.html have the language";
}

Error error_of(sqlite3* database, const std::string& text, const std::vector<std::string>& functions) {
  const std::string message = sqlite3_errmsg(database);
  if (sqlite3_errcode(database) == SQLITE_AUTH) return {"this statement is not allowed: " + message, kOneSelect};
  int offset = sqlite3_error_offset(database);
  const std::size_t last = text.find_last_not_of(" \t\r\n");
  if (offset < 0 && message == "incomplete input") offset = static_cast<int>(last == std::string::npos ? 0 : last + 1);
  const std::string remedy = remedy_for(message, functions);
  if (offset < 0 || static_cast<std::size_t>(offset) > text.size()) return {"SQL: " + message, remedy};
  const auto at = static_cast<std::size_t>(offset);
  const std::string found = found_at(text, at);
  return {"SQL: " + message + ", in " + place(text, at) + (found.empty() ? ", where it ends" : ": " + found), remedy};
}

// Nothing but one SELECT, and what may stand before it.
Result<void> check_statement(sqlite3_stmt* statement, const char* tail, const std::string& text) {
  const std::string first = tokens_of(text).front().word;
  if (!statement) return Error{"the question is empty", kOneSelect};
  if (sqlite3_stmt_isexplain(statement))
    return Error{"EXPLAIN is SQLite's own account of a statement", "use --explain to see what runs where"};
  if (first != "select" && first != "with" && first != "values")
    return Error{"a question is a SELECT, not " + first, kOneSelect};
  const std::vector<Token> rest = tokens_of(tail);
  if (!std::all_of(rest.begin(), rest.end(), [](const Token& t) { return t.kind == TokenKind::kEnd || t.word == ";"; }))
    return Error{"there is more than one statement", kOneSelect};
  return {};
}

}  // namespace

Result<store::SqliteHandle> open_memory() {
  sqlite3* raw = nullptr;
  const int code = sqlite3_open_v2(":memory:", &raw, SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX, nullptr);
  store::SqliteHandle memory(raw);
  if (code != SQLITE_OK) return Error{std::string("cannot open a database in memory: ") + sqlite3_errstr(code), ""};
  if (auto done = add_functions(raw); !done) return done.error();
  return memory;
}

Result<Checked> check(const std::string& text) {
  static const Result<std::string> table = table_text();
  if (!table) return table.error();
  auto memory = open_memory();
  if (!memory) return memory.error();
  if (auto done = store::execute(memory->get(), *table); !done) return done.error();
  auto aggregates = texts(memory->get(), "SELECT lower(name) FROM pragma_function_list WHERE type <> 's'");
  if (!aggregates) return aggregates.error();
  auto functions = texts(
      memory->get(), "SELECT DISTINCT lower(name) FROM pragma_function_list WHERE name NOT LIKE '%\\_of' ESCAPE '\\'");
  if (!functions) return functions.error();
  store::ReadColumns read;
  store::allow_reading_only(memory->get(), &read);
  sqlite3_stmt* raw = nullptr;
  const char* tail = nullptr;
  const int code = sqlite3_prepare_v2(memory->get(), text.c_str(), static_cast<int>(text.size() + 1), &raw, &tail);
  const store::SqliteStatement statement(raw);
  if (code != SQLITE_OK) return error_of(memory->get(), text, *functions);
  if (auto done = check_statement(raw, tail, text); !done) return done.error();
  Checked checked;
  for (int i = 0; i < sqlite3_column_count(raw); i++) checked.columns.emplace_back(sqlite3_column_name(raw, i));
  checked.reads_objects = read.count({"v_event", "object"}) != 0 || read.count({"v_event", "object_kind"}) != 0;
  checked.aggregates.insert(aggregates->begin(), aggregates->end());
  return checked;
}

}  // namespace uscope::query
