// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "analyzer/read/shadow.h"

#include <fmt/core.h>

#include "analyzer/read/query.h"

namespace uscope::analyzer {

Result<void> shadow(const store::Database& database, Shadow kind, std::string_view name,
                    const std::string& definition) {
  std::string drop;
  auto done = each_row(database, fmt::format("SELECT type FROM temp.sqlite_schema WHERE name = '{}'", name),
                       [&](const SqlRow& row) { drop = fmt::format("DROP {} temp.{};", row.text(0), name); });
  if (!done) return done;
  return store::execute(database.handle(), fmt::format("{}CREATE TEMP {} {}{}", drop,
                                                       kind == Shadow::kTable ? "TABLE" : "VIEW", name, definition));
}

}  // namespace uscope::analyzer
