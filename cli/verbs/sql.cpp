// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// SQLite's authorizer decides what may run: it is called for every single action while a statement is compiled, and
// allows only reading. So nothing depends on recognising words in SQL. Rows are printed as they come; text output takes
// the widths of its columns from the first rows, and a longer value later overflows its column.
#include "cli/verbs/sql.h"

#include <array>
#include <memory>
#include <nlohmann/json.hpp>
#include <string_view>
#include <vector>

#include "cli/render/json.h"
#include "cli/render/text_table.h"
#include "cli/session/confined_reader.h"
#include "cli/verbs/shared_options.h"
#include "store/db/database.h"
#include "support/text.h"

namespace uscope::cli {
namespace {

constexpr std::size_t kRowsMeasured = 1000;
constexpr std::size_t kGap = 2;

bool may_ask(std::string_view pragma) {
  constexpr std::array kDescribing{"table_info", "table_xinfo", "table_list",   "index_list",
                                   "index_info", "index_xinfo", "user_version", "application_id"};
  for (const char* name : kDescribing)
    if (pragma == name) return true;
  return false;
}

// SQLite's authorizer: allows only reading this database.
int authorize(void*, int action, const char* first, const char* second, const char*, const char*) {
  const auto is = [](const char* text, std::string_view name) { return text && name == text; };
  switch (action) {
    case SQLITE_SELECT:
    case SQLITE_READ:
    case SQLITE_RECURSIVE:
      return SQLITE_OK;
    case SQLITE_FUNCTION:
      return is(second, "load_extension") ? SQLITE_DENY : SQLITE_OK;
    case SQLITE_PRAGMA: {
      const bool sets = second && (is(first, "user_version") || is(first, "application_id"));
      return first && may_ask(first) && !sets ? SQLITE_OK : SQLITE_DENY;
    }
    default:
      return SQLITE_DENY;
  }
}

// Takes the first statement off `sql`, which keeps the rest. Returns "" if only blanks and comments are left.
Result<std::string> take_statement(sqlite3* database, std::string& sql) {
  const char* tail = nullptr;
  sqlite3_stmt* raw = nullptr;
  const int code = sqlite3_prepare_v2(database, sql.c_str(), static_cast<int>(sql.size()), &raw, &tail);
  const store::SqliteStatement statement(raw);
  if (code != SQLITE_OK) {
    const std::string message = sqlite3_errmsg(database);
    if (code == SQLITE_AUTH)
      return Error{"this statement is not allowed: " + message, "use SELECT: a trace is never changed"};
    return Error{"SQL: " + message, "`SELECT name, sql FROM sqlite_schema` lists tables and views with their columns"};
  }
  if (!statement) {
    sql.clear();
    return std::string();
  }
  const auto length = static_cast<std::size_t>(tail - sql.c_str());
  std::string first = sql.substr(0, length);
  sql.erase(0, length);
  return first;
}

std::string hex(std::string_view bytes) {
  return "x'" + hex_of(bytes) + "'";
}

std::string text_cell(const store::Statement& row, int column) {
  switch (row.type(column)) {
    case SQLITE_NULL:
      return "NULL";
    case SQLITE_BLOB:
      return hex(row.text(column));
    default:
      return printable(row.text(column));
  }
}

nlohmann::ordered_json json_cell(const store::Statement& row, int column) {
  switch (row.type(column)) {
    case SQLITE_NULL:
      return nullptr;
    case SQLITE_INTEGER:
      return row.integer(column);
    case SQLITE_FLOAT:
      return row.real(column);
    case SQLITE_BLOB:
      return {{"blob", hex(row.text(column))}};
    default:
      return to_utf8(row.text(column));
  }
}

std::string padded(const std::string& cell, std::size_t width, bool number) {
  const std::string padding(width - std::min(width, display_width(cell)), ' ');
  return number ? padding + cell : cell + padding;
}

// Prints rows as a table with the column widths of the first rows.
class TextRows {
 public:
  TextRows(const store::Statement& statement, Output& out) : out_(out) {
    for (int i = 0; i < statement.columns(); i++) titles_.push_back(escape_terminal(statement.column_name(i)));
    numbers_.assign(titles_.size(), true);
  }

  void add(const store::Statement& row) {
    std::vector<std::string> cells;
    for (int i = 0; i < row.columns(); i++) {
      const int type = row.type(i);
      if (!measured_ && type != SQLITE_INTEGER && type != SQLITE_FLOAT && type != SQLITE_NULL)
        numbers_[static_cast<std::size_t>(i)] = false;
      cells.push_back(text_cell(row, i));
    }
    if (measured_) {
      print(cells);
      return;
    }
    rows_.push_back(std::move(cells));
    if (rows_.size() == kRowsMeasured) flush();
  }

  void flush() {
    if (measured_) return;
    measured_ = true;
    for (std::size_t i = 0; i < titles_.size(); i++) {
      widths_.push_back(display_width(titles_[i]));
      for (const auto& row : rows_) widths_[i] = std::max(widths_[i], display_width(row[i]));
    }
    print(titles_);
    std::vector<std::string> rules;
    for (const std::size_t width : widths_) rules.emplace_back(width, '-');
    print(rules);
    for (const auto& row : rows_) print(row);
    rows_.clear();
  }

 private:
  void print(const std::vector<std::string>& cells) {
    std::string line;
    for (std::size_t i = 0; i < cells.size(); i++) {
      if (i) line.append(kGap, ' ');
      line += padded(cells[i], widths_[i], numbers_[i]);
    }
    line.erase(line.find_last_not_of(' ') + 1);
    out_.write(line + "\n");
  }

  Output& out_;
  std::vector<std::string> titles_;
  std::vector<std::size_t> widths_;
  std::vector<bool> numbers_;
  std::vector<std::vector<std::string>> rows_;
  bool measured_ = false;
};

Result<void> print_text(store::Statement& statement, bool first, Output& out) {
  if (!first) out.write("\n");
  TextRows rows(statement, out);
  while (true) {
    auto more = statement.step();
    if (!more) return more.error();
    if (!*more) break;
    rows.add(statement);
  }
  rows.flush();
  return {};
}

Result<void> print_json(store::Statement& statement, bool first, Output& out) {
  nlohmann::ordered_json columns = nlohmann::ordered_json::array();
  for (int i = 0; i < statement.columns(); i++) columns.push_back(to_utf8(statement.column_name(i)));
  out.write(std::string(first ? "" : ",") + "\n{\"columns\":" + dump(columns, false) + ",\"rows\":[");
  bool any = false;
  while (true) {
    auto more = statement.step();
    if (!more) return more.error();
    if (!*more) break;
    nlohmann::ordered_json row = nlohmann::ordered_json::array();
    for (int i = 0; i < statement.columns(); i++) row.push_back(json_cell(statement, i));
    out.write((any ? ",\n" : "\n") + dump(row, false));
    any = true;
  }
  out.write("]}");
  return {};
}

}  // namespace

void add_sql(CommandLine& line) {
  auto options = std::make_shared<SqlOptions>();
  Verb* verb = line.add_verb("sql", "query a trace in SQL, read-only; begin with the view v_event");
  verb->add_option("FILE.db", options->file, "a trace that `uscope record` or `uscope load` has written")->required();
  verb->add_option("SQL", options->sql, "SELECT statements, separated by ;")->required();
  add_format(*verb, options->format);
  verb->runs([options] { return run_sql(*options); });
}

Result<int> run_sql(const SqlOptions& options) {
  auto database = open_and_warn(options.file);
  if (!database) return database.error();
  sqlite3_set_authorizer(database->handle(), authorize, nullptr);
  std::vector<std::string> statements;  // all are compiled before the first one runs
  for (std::string rest = options.sql; !rest.empty();) {
    auto sql = take_statement(database->handle(), rest);
    if (!sql) return sql.error();
    if (!sql->empty()) statements.push_back(std::move(*sql));
  }
  if (statements.empty())
    return Error{"no SQL statement was given", "try: uscope sql FILE.db 'SELECT * FROM v_event LIMIT 10'"};
  const bool json = options.format == Format::kJson;
  Output out(stdout);
  if (json) out.write("{\"results\":[");
  for (std::size_t i = 0; i < statements.size(); i++) {
    auto statement = database->prepare(statements[i]);
    if (!statement) return statement.error();
    auto done = json ? print_json(*statement, i == 0, out) : print_text(*statement, i == 0, out);
    if (!done) return done.error();
  }
  if (json) out.write("]}\n");
  if (auto done = out.finish(); !done) return done.error();
  return 0;
}

}  // namespace uscope::cli
