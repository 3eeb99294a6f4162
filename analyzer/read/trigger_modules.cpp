// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "analyzer/read/trigger_modules.h"

#include <algorithm>
#include <set>
#include <string>
#include <vector>

#include "analyzer/read/query.h"
#include "support/text.h"
#include "trace/own_libraries.h"
#include "trace/runtime_modules.h"

namespace uscope::analyzer {

Result<TriggerModules> read_trigger_modules(const store::Database& database) {
  std::set<std::string> programs;
  auto done =
      each_row(database, "SELECT DISTINCT path FROM image", [&](const SqlRow& row) { programs.insert(text(row, 0)); });
  if (!done) return done.error();
  std::vector<std::string> globs;  // --app-module of the recording
  done = each_row(database, "SELECT g.value FROM meta, json_each(meta.value) g WHERE meta.key = 'app_modules'",
                  [&](const SqlRow& row) { globs.push_back(text(row, 0)); });
  if (!done) return done.error();
  TriggerModules modules;
  done = each_row(database, "SELECT id, path, class FROM module WHERE class != 'kernel'", [&](const SqlRow& row) {
    const std::string path = text(row, 1);
    const auto matches = [&](const std::string& glob) { return trace::module_matches(glob, bytes_of(path)); };
    modules[ModuleRowId(row.integer(0))] = {.app = row.text(2) == "app",
                                            .named = std::any_of(globs.begin(), globs.end(), matches),
                                            .runtime = row.text(2) == "vdso" || trace::is_runtime(path),
                                            .program = programs.contains(path),
                                            .generated = row.text(2) == "jit" && path == "[jit]"};
  });
  if (!done) return done.error();
  return modules;
}

trace::TriggerFrame trigger_frame(const TriggerModules& modules, ModuleRowId module, std::string_view origin) {
  const auto at = modules.find(module);
  trace::TriggerFrame frame = at == modules.end() ? trace::TriggerFrame() : at->second;
  frame.origin = trace::origin_of_name(origin);
  return frame;
}

}  // namespace uscope::analyzer
