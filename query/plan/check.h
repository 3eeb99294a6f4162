// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// SQLite's own judgement of a question, and what SQLite alone can say of it.
#pragma once

#include <set>
#include <string>
#include <vector>

#include "store/db/sqlite_handles.h"
#include "support/result.h"

namespace uscope::query {

struct Checked {
  std::vector<std::string> columns;  // names of the result's columns
  std::set<std::string> aggregates;  // names of all functions over many rows that SQLite has
  bool reads_objects = false;        // `object` or `object_kind`
};

// Compiles the text over an empty v_event. Errors are SQLite's, with the place in the text and with names that are like
// one that is not known.
[[nodiscard]] Result<Checked> check(const std::string& text);

// An empty database in memory, with the functions of questions.
[[nodiscard]] Result<store::SqliteHandle> open_memory();

}  // namespace uscope::query
