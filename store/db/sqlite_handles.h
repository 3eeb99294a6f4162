// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// SQLite's objects, each owned by a unique_ptr.
#pragma once

#include <sqlite3.h>

#include <memory>
#include <utility>
#include <vector>

namespace uscope::store {

struct SqliteCloser {
  void operator()(sqlite3* database) const { sqlite3_close_v2(database); }
};
struct SqliteFinalizer {
  void operator()(sqlite3_stmt* statement) const { sqlite3_finalize(statement); }
};

using SqliteHandle = std::unique_ptr<sqlite3, SqliteCloser>;
using SqliteStatement = std::unique_ptr<sqlite3_stmt, SqliteFinalizer>;

// Statements that nobody uses: reset, and without values.
using SpareStatements = std::vector<SqliteStatement>;

// Gives a statement back to where it is kept, if it is.
struct SqliteReleaser {
  SpareStatements* spare = nullptr;
  void operator()(sqlite3_stmt* statement) const {
    SqliteStatement owner(statement);
    if (spare == nullptr) return;
    sqlite3_reset(statement);
    sqlite3_clear_bindings(statement);
    spare->push_back(std::move(owner));
  }
};

}  // namespace uscope::store
