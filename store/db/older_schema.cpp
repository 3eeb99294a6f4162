// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "store/db/older_schema.h"

#include <fmt/core.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <set>

#include "store/db/statement.h"
#include "syscalls/call_traits.h"
#include "syscalls/errno_names.h"
#include "syscalls/syscall_table.h"

namespace uscope::store {
namespace {

// By the name of each column of a table: the expression for a file that lacks it.
using Columns = std::vector<std::pair<std::string, std::string>>;

Result<Columns> columns_of(sqlite3* database, const std::string& table) {
  auto query =
      Statement::prepare(database, "SELECT name, coalesce(dflt_value, 'NULL') FROM pragma_table_info(?1, 'main')");
  if (!query) return query.error();
  query->bind(1, std::string_view(table));
  Columns out;
  for (;;) {
    auto row = query->step();
    if (!row) return row.error();
    if (!*row) return out;
    out.emplace_back(query->text(0), query->text(1));
  }
}

// What older versions did not count, but can be counted in their events, which takes a while.
std::string counted(std::string_view table) {
  if (table != "program_total") return {};
  std::set<std::string> waits;
  for (std::size_t abi = 0; abi < USC_ABI_COUNT; abi++)
    for (std::uint32_t nr = 0; nr < syscalls::kSyscallNumbers; nr++)
      if (const std::string name = syscalls::syscall_name(static_cast<usc_abi>(abi), nr); syscalls::waits(name))
        waits.insert("'" + name + "'");
  std::vector<int> no_errors{0};
  for (int number = 1; number <= syscalls::kLastErrno; number++)
    if (!syscalls::is_error(-number)) no_errors.push_back(-number);
  return fmt::format(
      "SELECT event.thread_id AS thread_id, event.image_id AS image_id, count(*) AS events, coalesce(sum(kind.class = "
      "'syscall' AND event.result BETWEEN -{} AND -1 AND event.result NOT IN ({})), 0) AS errors, coalesce(sum(CASE "
      "kind.class WHEN 'syscall' THEN event.dur_ns END), 0) AS total_ns, coalesce(sum(CASE WHEN kind.class = 'syscall' "
      "AND kind.name IN ({}) THEN event.dur_ns END), 0) AS wait_ns FROM main.event JOIN main.kind ON kind.id = "
      "event.kind_id GROUP BY event.thread_id, event.image_id",
      syscalls::kLastErrno, fmt::join(no_errors, ", "), fmt::join(waits, ", "));
}

Result<std::string> question_for(sqlite3* database, sqlite3* memory, const std::string& table, bool is_missing) {
  if (std::string counts = is_missing ? counted(table) : ""; !counts.empty()) return counts;
  const auto now = columns_of(memory, table);
  if (!now) return now.error();
  const auto found = is_missing ? Result<Columns>(Columns()) : columns_of(database, table);
  if (!found) return found.error();
  std::string list;
  for (const auto& [name, otherwise] : *now) {
    const bool is_there = std::any_of(found->begin(), found->end(),
                                      [&wanted = name](const auto& column) { return column.first == wanted; });
    list += fmt::format("{}{} AS \"{}\"", list.empty() ? "" : ", ", is_there ? '"' + name + '"' : otherwise, name);
  }
  return is_missing ? fmt::format("SELECT {} WHERE 0", list) : fmt::format("SELECT {} FROM main.\"{}\"", list, table);
}

}  // namespace

std::string lacking_text(const SchemaChanges& changes) {
  std::string out;
  for (const SchemaChange* change : changes)
    if (!change->lacking.empty())
      out += fmt::format("{}{} ({})", out.empty() ? "" : "; ", change->lacking, change->name());
  return out;
}

std::optional<SchemaChanges> changes_since(const SchemaObject& now, std::string_view found) {
  SchemaChanges undone;
  std::string text = now.text;
  for (auto change = kSchemaHistory.rbegin(); text != found && change != kSchemaHistory.rend(); ++change) {
    if (change->object != now.name || change->now.empty()) continue;
    const std::size_t at = text.find(change->now);
    if (at == std::string::npos) return std::nullopt;
    text.replace(at, change->now.size(), change->before);
    undone.insert(undone.begin(), &*change);
  }
  return text == found ? std::optional(undone) : std::nullopt;
}

const SchemaChange* new_object(const SchemaObject& now) {
  const auto change = std::find_if(kSchemaHistory.begin(), kSchemaHistory.end(), [&](const SchemaChange& one) {
    return one.now.empty() && (one.object == now.name || one.object == now.table);
  });
  return change == kSchemaHistory.end() ? nullptr : &*change;
}

Result<SuppliedTables> supply_missing(sqlite3* database, sqlite3* memory, const std::vector<SchemaObject>& changed,
                                      const std::vector<SchemaObject>& missing) {
  SuppliedTables tables;
  std::vector<std::string> views;
  for (const auto* list : {&changed, &missing}) {
    for (const SchemaObject& object : *list) {
      if (object.type == "view") views.push_back(object.text);
      if (object.type != "table") continue;
      auto question = question_for(database, memory, object.name, list == &missing);
      if (!question) return question.error();
      if (auto done = execute(database, fmt::format("CREATE TEMP VIEW \"{}\" AS {}", object.name, *question)); !done)
        return done.error();
      tables.emplace(object.name, std::move(*question));
    }
  }
  // A view of now, over what tables of now would be.
  constexpr std::string_view kCreate = "CREATE VIEW";
  for (const std::string& text : views)
    if (auto done = execute(database, "CREATE TEMP VIEW" + text.substr(kCreate.size())); !done) return done.error();
  return tables;
}

}  // namespace uscope::store
