// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// Temporary tables and views with the names of the store's own: SQLite looks a name up among these first.
#pragma once

#include <string>
#include <string_view>

#include "store/db/database.h"
#include "support/result.h"

namespace uscope::analyzer {

enum class Shadow { kTable, kView };

// Puts one in front of the file's table, or of what a reader has put there before. `definition` follows its name:
// "(id, name)", " AS SELECT …". It names the table of the file by Database::table().
[[nodiscard]] Result<void> shadow(const store::Database& database, Shadow kind, std::string_view name,
                                  const std::string& definition);

}  // namespace uscope::analyzer
