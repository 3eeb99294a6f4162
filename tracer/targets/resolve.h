// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// Targets become the plan of what is attached.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "support/result.h"
#include "tracer/probes/probe_plan.h"
#include "tracer/targets/target_search.h"

namespace uscope::tracer {

// More probes are attached only on demand: each costs time at its attaching, its removal and each hit.
constexpr std::size_t kMostProbes = 1000;

struct ResolvedTargets {
  ProbePlan plan;
  std::vector<std::string> left_out;  // a sentence for each target of which some matches cannot be traced
  std::string not_kept;               // a sentence where events lack something that is known at their probes
};

// What must be equal in probes of one kind: an event's arguments are told apart by their kind alone.
[[nodiscard]] std::string description_of(const Probe& probe);

// An error where a target means nothing, or nothing that can be traced, or all of them more than `most` probes.
[[nodiscard]] Result<ResolvedTargets> resolve_targets(std::span<const Target> targets, const TargetSearch& search,
                                                      std::size_t most);

// The same of answers to these targets.
[[nodiscard]] Result<ResolvedTargets> plan_of(std::span<const Target> targets, std::vector<TargetAnswer> answers,
                                              std::size_t most);

}  // namespace uscope::tracer
