// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "cli/verbs/sql.h"

#include <memory>
#include <nlohmann/json.hpp>
#include <string_view>
#include <utility>
#include <vector>

#include "cli/render/json.h"
#include "cli/render/sql_rows.h"
#include "cli/session/confined_reader.h"
#include "cli/terminal/pager.h"
#include "cli/verbs/shared_options.h"
#include "query/plan/empty_answer.h"
#include "query/plan/plan.h"
#include "store/db/database.h"
#include "store/db/reading_only.h"
#include "support/nearest.h"
#include "support/text.h"

namespace uscope::cli {
namespace {

// The names of tables and views, or of all their columns.
std::vector<std::string> schema_names(sqlite3* database, bool of_columns) {
  std::vector<std::string> names;
  auto query = store::Statement::prepare(
      database, of_columns ? "SELECT DISTINCT c.name FROM sqlite_schema s JOIN pragma_table_info(s.name) c"
                           : "SELECT name FROM sqlite_schema WHERE type IN ('table', 'view')");
  if (!query) return names;
  for (auto row = query->step(); row && *row; row = query->step()) names.emplace_back(query->text(0));
  return names;
}

// What was perhaps meant by the name that SQLite did not find.
std::string sql_remedy(sqlite3* database, const std::string& message) {
  for (const auto& [head, of_columns] :
       {std::pair<std::string, bool>{"no such table: ", false}, {"no such column: ", true}}) {
    if (!message.starts_with(head)) continue;
    const std::string name = message.substr(std::max(head.size(), message.rfind('.') + 1));
    if (of_columns)
      if (std::string hint = query::hint_for_column(name); !hint.empty()) return "in v_event, " + hint;
    if (std::string meant = did_you_mean(name, schema_names(database, of_columns)); !meant.empty()) return meant;
  }
  return "`uscope sql FILE.db .schema` lists tables and views with their columns";
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
    return Error{"SQL: " + message, sql_remedy(database, message)};
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

// As sqlite3 has them: .schema, of all tables and views or of those that match a pattern of LIKE, and .tables. They
// become questions of the schema; anything else stays as it is.
Result<std::string> without_dot_command(const std::string& sql) {
  const std::size_t begin = sql.find_first_not_of(" \t\r\n");
  if (begin == std::string::npos || sql[begin] != '.') return sql;
  const std::size_t last = sql.find_last_not_of(" \t\r\n;");
  const std::string line = sql.substr(begin, last + 1 - begin);
  const std::size_t space = line.find_first_of(" \t");
  const std::string command = line.substr(0, space);
  std::string pattern = space == std::string::npos ? "%" : line.substr(line.find_first_not_of(" \t", space));
  if ((command != ".schema" && command != ".tables") || pattern.find('\'') != std::string::npos)
    return Error{command + " is not a command of `uscope sql`",
                 "there are .tables, .schema and .schema NAME, and SELECT statements"};
  const std::string from =
      "FROM sqlite_schema WHERE type IN ('table', 'view') AND name NOT LIKE 'sqlite\\_%' ESCAPE "
      "'\\' AND name LIKE '" +
      pattern + "' ORDER BY type DESC, name";
  if (command == ".tables") return "SELECT name, type " + from;
  return "SELECT s.name AS name, s.type AS type, (SELECT group_concat(c.name || iif(c.type = '', '', ' ' || c.type), "
         "', ') "
         "FROM pragma_table_info(s.name) c) AS columns FROM (SELECT * " +
         from + ") s";
}

Result<void> print_text(store::Statement& statement, bool first, Output& out) {
  if (!first) out.write("\n");
  DrawnRows rows(
      statement, [&out](std::string_view text) { out.write(text); }, paint_for(stdout));
  while (!out.has_no_reader()) {
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
  while (!out.has_no_reader()) {
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

void define_sql(Verb& verb) {
  auto options = std::make_shared<SqlOptions>();
  verb.add_option("FILE.db", options->file, "a trace that `uscope record` or `uscope load` has written")->required();
  verb.add_option("SQL", options->sql, "SELECT statements, separated by ;")->required();
  add_app_choice(verb, options->app);
  add_format(verb, options->format);
  add_color(verb);
  add_no_pager(verb);
  verb.runs([options] { return run_sql(*options); });
}

}  // namespace

void add_sql(CommandLine& line) {
  line.add_verb("sql", "query a trace in SQL, read-only; begin with the view v_event", define_sql);
}

Result<int> run_sql(const SqlOptions& options) {
  const Pager pager;
  auto database = open_and_warn(options.file);
  if (!database) return database.error();
  if (auto done = query::add_functions(database->handle()); !done) return done.error();
  if (auto done = choose_app(*database, options.app); !done) return done.error();
  store::allow_reading_only(database->handle());
  auto text = without_dot_command(options.sql);
  if (!text) return text.error();
  std::vector<std::string> statements;  // all are compiled before the first one runs
  for (std::string rest = *text; !rest.empty();) {
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
