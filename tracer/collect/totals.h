// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#pragma once

#include "support/result.h"
#include "trace/sink.h"
#include "tracer/backend/backend.h"

namespace uscope::tracer {

// Writes, at the end of a trace, how many sequence numbers each CPU gave out, and the kernel side's counters as meta.
Result<void> write_totals(Backend& backend, trace::RecordSink& sink);

}  // namespace uscope::tracer
