// A trace of an application as it stands: attached to, looked at once, let go.
#pragma once

#include <functional>

#include "cli/session/record_plan.h"
#include "store/db/database.h"
#include "support/result.h"

namespace uscope::cli {

// Takes such a trace of what `target` names (running processes; its output is not used) and hands the store to `use`,
// in a process of its own that has given up its privileges and ends with what `use` gives. Trace and store have no
// names. Errors: none of it runs; it cannot be traced, or has ended meanwhile. An error of `use` is printed, and the
// result is `error_code`.
[[nodiscard]] Result<int> with_attached_trace(const RecordVerbOptions& target,
                                              const std::function<Result<int>(const store::Database&)>& use,
                                              int error_code);

}  // namespace uscope::cli
