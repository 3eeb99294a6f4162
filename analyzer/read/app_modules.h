// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// --app-module and --app-runtime of the readers: what counts as the application's, chosen after recording.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "store/db/database.h"
#include "support/result.h"

namespace uscope::analyzer {

struct AppChoice {
  std::vector<std::string> modules;  // globs: of the application, too
  bool runtime = false;              // functions of run-time systems in the application's modules count, too
  [[nodiscard]] bool is_any() const { return !modules.empty() || runtime; }
};

// Chooses the triggers of the stored stacks anew (trace/trigger.h); returns how many modules match. The tables module,
// stack, trigger_of_stack, cell, error_cell and cell_latency, and the views v_event and dual_space, have the new
// triggers afterwards for every statement of this connection that names them; object_total has those of `runtime`, but
// not those of `modules`. The file stays as it is. Reads each event once, unless no trigger changes. Call it once,
// before writing is forbidden (store::allow_reading_only()).
[[nodiscard]] Result<std::size_t> count_as_app(const store::Database& database, const AppChoice& choice);

// The error if none matched in any of the stores, of which `file` is one.
[[nodiscard]] Error no_such_module(const std::vector<std::string>& globs, const std::string& file);

}  // namespace uscope::analyzer
