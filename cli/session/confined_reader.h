// How readers reach a database that may come from anybody: once it is open, the process gives up what reading does not
// need, so that a file which takes SQLite over can do little.
#pragma once

#include <filesystem>
#include <vector>

#include "store/db/database.h"
#include "support/result.h"

namespace uscope::cli {

// For good, see confine(): from here on files are written in these open folders only, and in that of temporary files.
Result<void> confine_reader(std::vector<int> folders = {});

// Opens a store and confines this process.
Result<store::Database> open_confined(const std::filesystem::path& file);

}  // namespace uscope::cli
