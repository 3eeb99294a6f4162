// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// Partial rows as a virtual table of SQLite (https://www.sqlite.org/vtab.html), which reads them where they are: there
// may be a million of them, and each is read once.
#pragma once

#include <sqlite3.h>

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "live/query/sums.h"
#include "query/plan/plan.h"
#include "support/result.h"

namespace uscope::query {

class RowTable {
 public:
  // The columns behind `event`, the number of a row's event: words that are expressions (those in steps a BLOB of
  // StepCount), n, and c0, s0, mn0, mx0 … of the measures.
  static std::vector<std::string> columns(const Plan& plan);

  // `plan` must outlive this object.
  explicit RowTable(const Plan& plan);
  RowTable(const RowTable&) = delete;
  RowTable& operator=(const RowTable&) = delete;

  // Gives a connection the table `partial_row`. This object must outlive the connection's statements that read it.
  Result<void> add_to(sqlite3* database);

  // What the table holds from now on: rows, and for each the number of its event, from 0. No statement may be under
  // way.
  void show(PartialRows rows, std::vector<std::uint32_t> events);

 private:
  struct Table;
  struct Cursor;
  static int connect(sqlite3* database, void* self, int, const char* const*, sqlite3_vtab** table, char**);
  static int open(sqlite3_vtab* table, sqlite3_vtab_cursor** cursor);
  static int is_at_end(sqlite3_vtab_cursor* cursor);
  static int column(sqlite3_vtab_cursor* cursor, sqlite3_context* context, int number);
  static sqlite3_module make_methods();

  std::string declaration_;
  std::vector<std::size_t> words_;  // of the key, that are expressions
  PartialRows rows_;
  std::vector<std::uint32_t> events_;
};

}  // namespace uscope::query
