// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "analyzer/read/trigger_modules.h"

#include <set>
#include <string>

#include "analyzer/read/query.h"
#include "trace/runtime_modules.h"

namespace uscope::analyzer {

Result<TriggerModules> read_trigger_modules(const store::Database& database) {
  std::set<std::string> programs;
  auto done =
      each_row(database, "SELECT DISTINCT path FROM image", [&](const SqlRow& row) { programs.insert(text(row, 0)); });
  if (!done) return done.error();
  TriggerModules modules;
  done = each_row(database, "SELECT id, path, class FROM module WHERE class != 'kernel'", [&](const SqlRow& row) {
    const std::string path = text(row, 1);
    modules[ModuleRowId(row.integer(0))] = {.app = row.text(2) == "app",
                                            .runtime = row.text(2) == "vdso" || trace::is_runtime(path),
                                            .program = programs.contains(path)};
  });
  if (!done) return done.error();
  return modules;
}

}  // namespace uscope::analyzer
