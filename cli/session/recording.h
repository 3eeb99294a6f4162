// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// A complete recording: trace, load into the database, and exit as the command exited.
#pragma once

#include "cli/session/record_plan.h"
#include "support/result.h"

namespace uscope::cli {

constexpr int kTracingFailed = 125;

// Returns the exit status: the command's own if a command was traced.
Result<int> run_record(const RecordVerbOptions& options);

}  // namespace uscope::cli
