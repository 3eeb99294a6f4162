// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// What a question asks for beside system calls, as probes: those of -t, and those that WHERE chooses of the other
// classes.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "query/plan/plan.h"
#include "support/result.h"

namespace uscope::tracer {
struct RecordOptions;
}

namespace uscope::cli {

struct RecordVerbOptions;

// The classes that -t names, as bits of sources.
[[nodiscard]] Result<std::uint32_t> sources_of_targets(const std::vector<std::string>& targets);

// Adds what the plan asks for to `out`, which has the probes of -t.
[[nodiscard]] Result<void> set_question_probes(const RecordVerbOptions& options, const query::Plan& plan,
                                               tracer::RecordOptions& out);

}  // namespace uscope::cli
