// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// Compiles the statements of one connection. It may keep those that nobody uses any more for whoever prepares the same
// text next: to compile a statement takes SQLite longer than to insert some rows by it.
#pragma once

#include <string>
#include <string_view>
#include <unordered_map>

#include "store/db/statement.h"
#include "support/result.h"

namespace uscope::store {

class Statements {
 public:
  // `keeps`: the texts must be few. The connection must outlive this object, and this object the statements.
  Statements(sqlite3* database, bool keeps) : database_(database), keeps_(keeps) {}
  Statements(const Statements&) = delete;
  Statements& operator=(const Statements&) = delete;

  // See Statement.
  Result<Statement> prepare(std::string_view sql);

 private:
  sqlite3* database_;
  bool keeps_;
  std::unordered_map<std::string, SpareStatements> spare_;  // by text
};

}  // namespace uscope::store
