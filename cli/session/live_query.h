// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// A question that is asked of what runs: traced, cut into intervals, answered by a process of its own.
#pragma once

#include <cstdint>
#include <string>

#include "cli/render/query_render.h"
#include "cli/session/record_plan.h"
#include "live/query/answer_file.h"
#include "query/plan/plan.h"
#include "support/result.h"

namespace uscope::cli {

struct LiveQueryOptions {
  RecordVerbOptions record;      // target, calls, backend, modules, duration
  std::int64_t interval_ns = 0;  // 0: one answer at the end
  AnswerStyle style;
  std::string output;  // a database for all answers; "": none
  bool force = false;  // it may replace a file that is none of uscope's
  bool app_runtime = false;
};

// Returns the exit status. Returns an error if the question cannot be asked; one that comes later is printed.
Result<int> run_live_query(const LiveQueryOptions& options, const query::Plan& plan);

}  // namespace uscope::cli
