// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#pragma once

#include <cstdint>

#include "support/result.h"
#include "trace/sink.h"
#include "tracer/jit/jit_names.h"

namespace uscope::tracer {

// Writes the name of an address (a usc_jit_name) with this time.
Result<void> write_jit_name(trace::RecordSink& sink, const JitNews::Name& name, std::uint64_t time);

}  // namespace uscope::tracer
