// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// SQLite's authorizer decides what may run: it is called for every single action while a statement is compiled. So
// nothing depends on recognising words in SQL.
#pragma once

#include <sqlite3.h>

#include <set>
#include <string>
#include <utility>

#include "support/result.h"

namespace uscope::store {

// What statements read by name: table or view, and column. What a view reads in turn is not among it.
using ReadColumns = std::set<std::pair<std::string, std::string>>;

// From here on, statements of this connection may only read, call functions other than load_extension, and ask by
// PRAGMA what tables and indices there are. Others fail with SQLITE_AUTH. `seen`, unless it is null, gets what they
// read, and must live as long as statements are compiled.
void allow_reading_only(sqlite3* database, ReadColumns* seen = nullptr);

// The same as long as `*on` is true, which must live as long as statements are compiled; else they may do anything. To
// change an authorizer makes SQLite compile all statements of the connection again.
void allow_reading_only_while(sqlite3* database, const bool* on);

// Takes from a connection what reading a store needs none of: extensions, triggers, schemas that are written to, texts
// of any length.
Result<void> harden(sqlite3* database);

}  // namespace uscope::store
