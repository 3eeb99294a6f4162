// A recording as a whole: traced, loaded into the database, and ended as the command ended.
#pragma once

#include "cli/session/record_plan.h"
#include "support/result.h"

namespace uscope::cli {

constexpr int kTracingFailed = 125;

// Returns the exit status: the command's own where one was traced.
Result<int> run_record(const RecordVerbOptions& options);

}  // namespace uscope::cli
