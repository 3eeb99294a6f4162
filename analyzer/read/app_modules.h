// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// --app-module of the readers: modules that count as the application's, named after recording.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "store/db/database.h"
#include "support/result.h"

namespace uscope::analyzer {

// Chooses the triggers of the stored stacks anew (trace/trigger.h), with the modules that match one of `globs` as
// modules of the application; returns how many matched. The tables module, stack, cell, error_cell and cell_latency
// have the new triggers afterwards for every statement of this connection that names them; views do not, nor does
// trigger_of_stack. The file stays as it is. Reads each event once, unless no trigger changes. Call it once.
[[nodiscard]] Result<std::size_t> count_as_app(const store::Database& database, const std::vector<std::string>& globs);

// The error if none matched in any of the stores, of which `file` is one.
[[nodiscard]] Error no_such_module(const std::vector<std::string>& globs, const std::string& file);

}  // namespace uscope::analyzer
