// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// Tells a trace what the kinds of a plan's events are called, and the types of their arguments and results
// (usc_kind).
#pragma once

#include <cstdint>
#include <functional>

#include "support/result.h"
#include "trace/sink.h"
#include "tracer/probes/probe_plan.h"

namespace uscope::tracer {

// `told` gets each record, too.
[[nodiscard]] Result<void> write_kinds(trace::RecordSink& sink, const ProbePlan& plan, std::uint64_t now_ns,
                                       const std::function<void(const usc_kind&)>& told = {});

}  // namespace uscope::tracer
