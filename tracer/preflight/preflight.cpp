// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "tracer/preflight/preflight.h"

#include <memory>

#include "support/result.h"
#include "tracer/backend/backend.h"
#include "uscope/target.h"
#include "uscope/trace_map.h"

namespace uscope::tracer {
namespace {

using OpenBackend = Result<std::unique_ptr<Backend>> (*)(const usc_config& config, const BackendSizes& sizes,
                                                         const ProbePlan& probes);

// The decisive check: opens a small session on this machine, attaches and closes it.
Check check_by_use(const char* name, OpenBackend open) {
  usc_config config{};
  config.scope = {USC_MODE_ALL_ALL, 64};
  config.target = {USC_TARGET_LAUNCH, USC_FOLLOW_TREE};
  config.cpus = possible_processors();
  BackendSizes sizes;
  sizes.ring_bytes = 1u << 16;
  sizes.rows = 1u << 10;
  sizes.index_entries = 1u << 10;
  auto backend = open(config, sizes, {});
  if (!backend) return {name, false, backend.error().what, backend.error().remedy};
  if (auto attached = (*backend)->attach(); !attached)
    return {name, false, attached.error().what, attached.error().remedy};
  return {name, true, "opened and attached", ""};
}

}  // namespace

BackendReport examine_bpf() {
  BackendReport report{"bpf", true, bpf_checks(this_host())};
  report.checks.push_back(check_by_use("load the programs", open_bpf_backend));
  report.usable = report.checks.back().ok;
  return report;
}

BackendReport examine_kmod() {
  BackendReport report{"kmod", false, kmod_checks(this_host())};
  if (!report.checks.back().ok) return report;
  report.checks.push_back(check_by_use("open a session", open_kmod_backend));
  report.usable = report.checks.back().ok;
  return report;
}

}  // namespace uscope::tracer
