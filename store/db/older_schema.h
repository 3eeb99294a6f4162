// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// Reads databases of older versions: what they lack is supplied by temporary views with the names of the store's own,
// which SQLite looks up first. A column that is missing is NULL there, or what the present schema gives it by default;
// a missing table is empty. The file itself is not changed.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "store/db/schema_history.h"
#include "store/db/sqlite_handles.h"
#include "support/result.h"

namespace uscope::store {

// A table, view or index as sqlite_schema has it. Indices that SQLite creates by itself have no text.
struct SchemaObject {
  std::string type;
  std::string name;
  std::string table;
  std::string text;
};

using SchemaChanges = std::vector<const SchemaChange*>;

// "which descriptors a call waits for (event_descriptor); …": what a database without these changes does not tell.
[[nodiscard]] std::string lacking_text(const SchemaChanges& changes);

// Compares an object of a file with the present one of that name, by the text alone. Returns the changes that it lacks,
// the oldest first, or nothing if no version of uscope made it so.
[[nodiscard]] std::optional<SchemaChanges> changes_since(const SchemaObject& now, std::string_view found);

// Whether a file may be without this object, since it is a new one or belongs to a new table.
[[nodiscard]] const SchemaChange* new_object(const SchemaObject& now);

// By the name of a table, the question that answers as the table of now would.
using SuppliedTables = std::map<std::string, std::string, std::less<>>;

// Creates the temporary views for objects with older texts and for those that are missing; `memory` has the present
// schema.
Result<SuppliedTables> supply_missing(sqlite3* database, sqlite3* memory, const std::vector<SchemaObject>& changed,
                                      const std::vector<SchemaObject>& missing);

}  // namespace uscope::store
