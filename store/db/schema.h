// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// The store's schema: the contract for analyses and for users' own SQL. docs/schema.md explains every column.
#pragma once

#include <string>

#include "store/db/older_schema.h"
#include "store/db/sqlite_handles.h"
#include "store/db/statements.h"
#include "store/files/trace_file.h"
#include "support/result.h"

namespace uscope::store {

// Creates tables and views in an empty database, fills errno_name, sets user_version and application_id.
Result<void> create_schema(sqlite3* database);

// Creates indices, and fills the tables derived from others (trigger_of_stack); call it once all rows are inserted.
Result<void> create_indices(sqlite3* database);

// Both for a store that takes one trace after the other, each for one question. Of the indices it has only what v_event
// needs to be gone through from end to end once, which takes less time than the others take to be made. check_schema()
// misses them.
Result<void> create_reused_schema(sqlite3* database);
// Fills its derived tables; call it once all other rows of a trace are inserted.
Result<void> fill_derived_tables(Statements& statements);

// How a database of an older version is read.
struct OlderSchema {
  SchemaChanges lacks;    // none: its schema is the present one
  SuppliedTables tables;  // those that are supplied
};

// Checks that the database holds exactly the tables, views and indices that the two functions above create, each with
// the text that this version or an older one gives it: nothing in place of one of them (a view, a virtual table),
// nothing more (a trigger), no foreign column, CHECK or expression. Supplies what an older one lacks. Call it before
// any other statement runs on a file that may come from anyone.
Result<OlderSchema> check_schema(sqlite3* database, const std::string& name);

}  // namespace uscope::store
