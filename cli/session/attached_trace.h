// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// A trace of a running application: uscope attaches, records its present state once, and detaches.
#pragma once

#include <functional>

#include "cli/session/record_plan.h"
#include "store/db/database.h"
#include "support/result.h"

namespace uscope::cli {

// Records the running processes that `target` names (its output option is unused) and calls `use` with the store, in a
// child process that has given up its privileges and exits with the result of `use`. Trace and store are files without
// names. Returns an error if no such process runs, or if they cannot be traced or have ended meanwhile. An error of
// `use` is printed, and the result is then `error_code`.
[[nodiscard]] Result<int> with_attached_trace(const RecordVerbOptions& target,
                                              const std::function<Result<int>(const store::Database&)>& use,
                                              int error_code);

}  // namespace uscope::cli
