// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// Targets become the plan of what is attached.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "support/result.h"
#include "tracer/probes/probe_plan.h"
#include "tracer/targets/target_search.h"

namespace uscope::tracer {

// More probes are attached only on demand: each costs time at its attaching, its removal and each hit.
constexpr std::size_t kMostProbes = 1000;

// How many probes targets may mean, and whether places that are refused are probed all the same: at the risk of all
// programs that use the file, where a target names one such place and is no pattern.
struct ResolveLimits {
  std::size_t most = kMostProbes;
  bool force = false;
};

struct ResolvedTargets {
  ProbePlan plan;
  std::vector<std::string> left_out;  // a sentence for each target of which some matches cannot be traced
  std::string not_kept;               // a sentence where events lack something that is known at their probes
};

// What must be equal in probes of one kind: an event's arguments are told apart by their kind alone.
[[nodiscard]] std::string description_of(const Probe& probe);

// An error where a target means nothing, or nothing that can be traced, or all of them more probes than may be.
[[nodiscard]] Result<ResolvedTargets> resolve_targets(std::span<const Target> targets, const TargetSearch& search,
                                                      const ResolveLimits& limits);

// The same of answers to these targets.
[[nodiscard]] Result<ResolvedTargets> plan_of(std::span<const Target> targets, std::vector<TargetAnswer> answers,
                                              const ResolveLimits& limits);

// How many of the matches cannot be traced, by reason: those with most matches first.
[[nodiscard]] std::vector<std::pair<std::string, std::size_t>> reasons_of(std::span<const TargetMatch> matches);

}  // namespace uscope::tracer
