// The store's schema: the contract for analyses and for people's own SQL. docs/schema.md explains every column.
#pragma once

#include <string>

#include "store/db/sqlite_handles.h"
#include "store/files/trace_file.h"
#include "support/result.h"

namespace uscope::store {

// Creates tables and views in an empty database, fills errno_name, sets user_version and application_id.
Result<void> create_schema(sqlite3* database);

// Creates indices and what is made of other tables (trigger_of_stack); to be called once the rows are there.
Result<void> create_indices(sqlite3* database);

// Whether the database holds exactly the tables, views and indices that the two above make, each by its text: nothing
// in place of one of them (a view, a virtual table), nothing besides (a trigger), no column, CHECK or expression of
// somebody else's. To be asked before any other statement runs on a file that may come from anybody.
Result<void> check_schema(sqlite3* database, const std::string& name);

}  // namespace uscope::store
