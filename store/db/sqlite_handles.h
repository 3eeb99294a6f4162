// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// SQLite's objects, each owned by a unique_ptr.
#pragma once

#include <sqlite3.h>

#include <memory>

namespace uscope::store {

struct SqliteCloser {
  void operator()(sqlite3* database) const { sqlite3_close_v2(database); }
};
struct SqliteFinalizer {
  void operator()(sqlite3_stmt* statement) const { sqlite3_finalize(statement); }
};

using SqliteHandle = std::unique_ptr<sqlite3, SqliteCloser>;
using SqliteStatement = std::unique_ptr<sqlite3_stmt, SqliteFinalizer>;

}  // namespace uscope::store
