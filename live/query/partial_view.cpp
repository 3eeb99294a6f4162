// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "live/query/partial_view.h"

#include <fmt/core.h>

#include <algorithm>
#include <cstdint>
#include <utility>

#include "live/query/partial_events.h"
#include "live/query/quoted_name.h"
#include "store/db/reading_only.h"

namespace uscope::query {
namespace {

struct Column {
  std::string name;  // quoted
  std::string type;  // which decides how SQLite compares it
};

Result<std::vector<Column>> columns_of_events(sqlite3* database) {
  auto query = store::Statement::prepare(database, "SELECT name, type FROM pragma_table_info('v_event')");
  if (!query) return query.error();
  std::vector<Column> columns;
  for (;;) {
    auto row = query->step();
    if (!row) return row.error();
    if (!*row) return columns;
    columns.push_back({quoted_name(std::string(query->text(0))), std::string(query->text(1))});
  }
}

// What the statement reads of `partial`, which is a table with these columns meanwhile.
Result<store::ReadColumns> columns_read(sqlite3* database, const std::string& statement, const std::string& columns) {
  if (auto done = store::execute(database, "CREATE TEMP TABLE partial(" + columns + ")"); !done) return done.error();
  store::ReadColumns read;
  store::allow_reading_only(database, &read);
  {
    const auto prepared = store::Statement::prepare(database, statement);
    if (!prepared) return prepared.error();
  }
  sqlite3_set_authorizer(database, nullptr, nullptr);
  if (auto done = store::execute(database, "DROP TABLE temp.partial"); !done) return done.error();
  return read;
}

}  // namespace

Result<std::unique_ptr<PartialView>> PartialView::create(const store::ReusedStore& store, const Plan& plan) {
  std::unique_ptr<PartialView> view(new PartialView(store, plan));
  if (auto done = view->table_.add_to(store.handle()); !done) return done.error();
  if (auto done = view->make(); !done) return done.error();
  return view;
}

Result<void> PartialView::make() {
  sqlite3* const database = store_.handle();
  const auto of_events = columns_of_events(database);
  if (!of_events) return of_events.error();
  std::string all;      // of `partial`
  std::string of_rows;  // the same, of rows and their events
  for (const std::string& name : RowTable::columns(plan_)) {
    const std::string quoted = quoted_name(name);
    all += fmt::format("{}{}", all.empty() ? "" : ", ", quoted);
    of_rows += fmt::format("{}partial_row.{} AS {}", of_rows.empty() ? "" : ", ", quoted, quoted);
  }
  std::string could_read = all;
  for (const Column& column : *of_events) could_read += ", " + column.name;
  const auto read = columns_read(database, plan_.outer, could_read);
  if (!read) return read.error();
  std::string declared;
  std::string named;
  for (const Column& column : *of_events) {
    const bool is_read = std::any_of(read->begin(), read->end(), [&](const auto& one) {
      return one.first == "partial" && quoted_name(one.second) == column.name;
    });
    if (!is_read) continue;
    declared += fmt::format(", {} {}", column.name, column.type);
    named += ", " + column.name;
    all += ", " + column.name;
    of_rows += fmt::format(", partial_event.{} AS {}", column.name, column.name);
  }
  std::string make = fmt::format("CREATE TEMP TABLE partial_event(event INTEGER PRIMARY KEY{});", declared);
  // The name v_event is that of whole events from here on.
  if (!plan_.whole.empty())
    make +=
        "CREATE TEMP VIEW v_event AS SELECT * FROM main.v_event "
        "WHERE id > (SELECT ifnull(max(event), 0) FROM temp.partial_event);";
  make += fmt::format(
      "CREATE TEMP VIEW partial AS SELECT {} FROM partial_row CROSS JOIN temp.partial_event "
      "ON partial_event.event = partial_row.event",
      of_rows);
  if (!plan_.whole.empty()) make += fmt::format(" UNION ALL SELECT {} FROM ({})", all, plan_.whole);
  if (auto done = store::execute(database, make); !done) return done;
  auto look_up = store::Statement::prepare(
      database, fmt::format("INSERT INTO temp.partial_event SELECT id{} FROM main.v_event WHERE id <= ?1", named));
  if (!look_up) return look_up.error();
  look_up_.emplace(std::move(*look_up));
  return {};
}

Result<void> PartialView::show(PartialRows rows) {
  std::vector<std::uint32_t> events = events_of(rows, plan_.keys);
  const std::int64_t last = events.empty() ? 0 : std::int64_t{*std::max_element(events.begin(), events.end())} + 1;
  table_.show(std::move(rows), std::move(events));
  return look_up_->run(last);
}

}  // namespace uscope::query
