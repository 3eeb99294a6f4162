// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// A plan's probes as the kernel side takes them: one each, in the plan's order.
#pragma once

#include <vector>

#include "support/result.h"
#include "tracer/probes/probe_plan.h"
#include "uscope/jumps.h"
#include "uscope/probes.h"

namespace uscope::tracer {

// Refuses what the kernel side could not carry out, before anything is attached.
Result<std::vector<usc_probe>> kernel_probes(const ProbePlan& plan);

// The indirect jumps of a plan's functions, in the plan's order.
[[nodiscard]] std::vector<usc_jump> kernel_jumps(const ProbePlan& plan);

}  // namespace uscope::tracer
