// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// Opens databases that may come from anyone: once the database is open, the process gives up everything that reading
// does not need, so that a file which takes over SQLite can do little.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "store/db/database.h"
#include "support/result.h"

namespace uscope::cli {

// Permanent, see confine(): from here on the process writes only in these open folders and the one for temporary files.
Result<void> confine_reader(std::vector<int> folders = {});

// Opens a store, and says on stderr what it lacks if an older version of uscope made it.
Result<store::Database> open_store(const std::filesystem::path& file);

// The same, and confines this process.
Result<store::Database> open_confined(const std::filesystem::path& file);

// "uscope: THIS TRACE IS NOT COMPLETE: 12 lost; `uscope report x.db` says more"; empty if no event is missing.
[[nodiscard]] Result<std::string> missing_events_note(const store::Database& database);

// The same, and prints that note on stderr, so that nobody takes what a reader shows for all that happened. For readers
// that do not show losses themselves, as `report`, `diff` and `deadlock` do.
Result<store::Database> open_and_warn(const std::filesystem::path& file);
// For a store that is open.
Result<void> warn_of_missing_events(const store::Database& database);

}  // namespace uscope::cli
