// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// What targets mean on this machine and in this application. Programs and libraries may be hostile to who reads them:
// they are read in a child process, which has given up its privileges (support/sandbox/confine.h) and sends its
// answers.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "support/result.h"
#include "tracer/host/host.h"
#include "tracer/probes/probe_plan.h"
#include "tracer/targets/application_files.h"
#include "tracer/targets/kernel_functions.h"
#include "tracer/targets/target.h"

namespace uscope::tracer {

// One thing that a target means.
struct TargetMatch {
  std::string target;   // the text of the target that means only this
  Probe probe;          // without kind; of `sample` and `offcpu` only the source
  std::string why_not;  // why it cannot be traced; empty: it can
  std::string note;     // what is not known of it, though it can be traced; empty: nothing
  // The kernel would put the probe there all the same, at the risk of all programs that use the file (--force-probe).
  bool can_be_forced = false;
};

struct TargetAnswer {
  std::vector<TargetMatch> matches;
  Error problem;  // if there are none: what was not found, and what is near it
};

struct TargetSearch {
  Host host;
  Application application;
  bool with_arguments = true;
  KernelFunctionsBy kernel_functions = KernelFunctionsBy::kKprobeMulti;  // what the backend has for them
};

// One answer for each target, in their order.
[[nodiscard]] Result<std::vector<TargetAnswer>> search_targets(std::span<const Target> targets,
                                                               const TargetSearch& search);

}  // namespace uscope::tracer
