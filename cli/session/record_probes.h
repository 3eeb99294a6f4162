// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// -t TARGET of a recording: what is to be attached.
#pragma once

#include <vector>

#include "cli/session/record_plan.h"
#include "support/result.h"
#include "tracer/targets/application_files.h"
#include "tracer/targets/kernel_functions.h"

namespace uscope::tracer {
struct ProbePlan;
struct RecordOptions;
}  // namespace uscope::tracer

namespace uscope::cli {

// The application that the options name, as far as it can be found before tracing: the command's program, or the
// processes that run.
[[nodiscard]] Result<tracer::Application> application_of(const RecordVerbOptions& options);

// By what functions of the kernel are traced with the backend of `out`; and, once these are chosen, the backend that
// traces them.
[[nodiscard]] tracer::KernelFunctionsBy kernel_functions_by(const tracer::RecordOptions& out);
void choose_backend(tracer::KernelFunctionsBy by, tracer::RecordOptions& out);

// Puts the plan and the trace's meta entries of options.targets into `out`, whose target is set. Says on stderr which
// targets are met only in part, unless options.quiet.
[[nodiscard]] Result<void> set_probes(const RecordVerbOptions& options, tracer::RecordOptions& out);

}  // namespace uscope::cli
