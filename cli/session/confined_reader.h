// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// Opens databases that may come from anyone: once the database is open, the process gives up everything that reading
// does not need, so that a file which takes over SQLite can do little.
#pragma once

#include <filesystem>
#include <vector>

#include "store/db/database.h"
#include "support/result.h"

namespace uscope::cli {

// Permanent, see confine(): from here on the process writes only in these open folders and the one for temporary files.
Result<void> confine_reader(std::vector<int> folders = {});

// Opens a store and confines this process.
Result<store::Database> open_confined(const std::filesystem::path& file);

}  // namespace uscope::cli
