// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "live/query/row_table.h"

#include <fmt/core.h>

#include <array>
#include <optional>
#include <utility>

#include "live/query/quoted_name.h"
#include "query/plan/sum_functions.h"

namespace uscope::query {
namespace {

constexpr std::array kMeasureColumns{"c", "s", "mn", "mx"};

void give(sqlite3_context* context, const std::optional<std::int64_t>& value) {
  value ? sqlite3_result_int64(context, *value) : sqlite3_result_null(context);
}

// They stay where they are until no statement reads them any more.
void give(sqlite3_context* context, const StepCounts& steps) {
  if (steps.empty()) return sqlite3_result_null(context);
  sqlite3_result_blob64(context, steps.data(), steps.size() * sizeof(StepCount), SQLITE_STATIC);
}

void give_part(sqlite3_context* context, const WideSum& sum, int part) {
  if (part == 0) return sqlite3_result_int64(context, static_cast<std::int64_t>(sum.count));
  if (sum.count == 0) return sqlite3_result_null(context);
  if (part == 1) return give_wide_integer(context, sum.sum);
  sqlite3_result_int64(context, part == 2 ? sum.least : sum.greatest);
}

}  // namespace

struct RowTable::Table {
  sqlite3_vtab base;  // first, as SQLite requires
  const RowTable* rows;
};

struct RowTable::Cursor {
  sqlite3_vtab_cursor base;  // first, as SQLite requires
  std::size_t row;
};

std::vector<std::string> RowTable::columns(const Plan& plan) {
  std::vector<std::string> columns;
  for (const KeyWord& key : plan.keys)
    if (key.what == Key::kExpression) columns.push_back(key.column);
  columns.emplace_back("n");
  for (std::size_t i = 0; i < plan.measures.size(); i++)
    for (const char* what : kMeasureColumns) columns.push_back(fmt::format("{}{}", what, i));
  return columns;
}

RowTable::RowTable(const Plan& plan) : declaration_("CREATE TABLE partial_row(event INTEGER NOT NULL") {
  for (const std::string& column : columns(plan)) declaration_ += ", " + quoted_name(column);
  declaration_ += ")";
  for (std::size_t word = 0; word < plan.keys.size(); word++)
    if (plan.keys[word].what == Key::kExpression) words_.push_back(word);
}

Result<void> RowTable::add_to(sqlite3* database) {
  static const sqlite3_module methods = make_methods();
  if (sqlite3_create_module_v2(database, "partial_row", &methods, this, nullptr) == SQLITE_OK) return {};
  return Error{std::string("cannot add a table to SQLite: ") + sqlite3_errmsg(database), ""};
}

void RowTable::show(PartialRows rows, std::vector<std::uint32_t> events) {
  rows_ = std::move(rows);
  events_ = std::move(events);
}

int RowTable::connect(sqlite3* database, void* self, int, const char* const*, sqlite3_vtab** table, char**) {
  const auto& rows = *static_cast<const RowTable*>(self);
  if (const int code = sqlite3_declare_vtab(database, rows.declaration_.c_str()); code != SQLITE_OK) return code;
  sqlite3_vtab_config(database, SQLITE_VTAB_INNOCUOUS);  // a view may read it
  *table = &(new Table{{}, &rows})->base;
  return SQLITE_OK;
}

int RowTable::open(sqlite3_vtab*, sqlite3_vtab_cursor** cursor) {
  *cursor = &(new Cursor{{}, 0})->base;
  return SQLITE_OK;
}

int RowTable::is_at_end(sqlite3_vtab_cursor* cursor) {
  const auto& rows = *reinterpret_cast<Table*>(cursor->pVtab)->rows;
  return reinterpret_cast<Cursor*>(cursor)->row >= rows.events_.size() ? 1 : 0;
}

int RowTable::column(sqlite3_vtab_cursor* cursor, sqlite3_context* context, int number) {
  const auto& table = *reinterpret_cast<Table*>(cursor->pVtab)->rows;
  const std::size_t row = reinterpret_cast<Cursor*>(cursor)->row;
  const PartialRows& rows = table.rows_;
  const auto words = static_cast<int>(table.words_.size());
  if (number <= 0) {
    sqlite3_result_int64(context, std::int64_t{table.events_[row]} + 1);
  } else if (number <= words) {
    const std::size_t word = table.words_[static_cast<std::size_t>(number - 1)];
    if (rows.is_in_steps(word))
      give(context, rows.steps(row, word));
    else
      give(context, rows.word(row, word));
  } else if (number == words + 1) {
    sqlite3_result_int64(context, static_cast<std::int64_t>(rows.events(row)));
  } else {
    const int part = number - words - 2;
    constexpr int kParts = kMeasureColumns.size();
    give_part(context, rows.sum(row, static_cast<std::size_t>(part / kParts)), part % kParts);
  }
  return SQLITE_OK;
}

// There is one of it in each connection, which nobody creates, and it is gone through from end to end.
sqlite3_module RowTable::make_methods() {
  sqlite3_module methods{};
  methods.xConnect = connect;
  methods.xDisconnect = [](sqlite3_vtab* table) {
    delete reinterpret_cast<Table*>(table);
    return SQLITE_OK;
  };
  methods.xBestIndex = [](sqlite3_vtab*, sqlite3_index_info* way) {
    constexpr double kMany = 1 << 20;  // so that it is gone through once
    way->estimatedCost = kMany;
    way->estimatedRows = 1 << 20;
    return SQLITE_OK;
  };
  methods.xOpen = open;
  methods.xClose = [](sqlite3_vtab_cursor* cursor) {
    delete reinterpret_cast<Cursor*>(cursor);
    return SQLITE_OK;
  };
  methods.xFilter = [](sqlite3_vtab_cursor* cursor, int, const char*, int, sqlite3_value**) {
    reinterpret_cast<Cursor*>(cursor)->row = 0;
    return SQLITE_OK;
  };
  methods.xNext = [](sqlite3_vtab_cursor* cursor) {
    reinterpret_cast<Cursor*>(cursor)->row++;
    return SQLITE_OK;
  };
  methods.xEof = is_at_end;
  methods.xColumn = column;
  methods.xRowid = [](sqlite3_vtab_cursor* cursor, sqlite3_int64* id) {
    *id = static_cast<sqlite3_int64>(reinterpret_cast<Cursor*>(cursor)->row) + 1;
    return SQLITE_OK;
  };
  return methods;
}

}  // namespace uscope::query
