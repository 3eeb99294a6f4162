// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "cli/session/record_probes.h"

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <limits>
#include <nlohmann/json.hpp>
#include <string>
#include <system_error>
#include <utility>

#include "support/text.h"
#include "tracer/host/host.h"
#include "tracer/process/launcher.h"
#include "tracer/process/name_search.h"
#include "tracer/process/process_list.h"
#include "tracer/recorder/recorder.h"
#include "tracer/targets/copied_code.h"
#include "tracer/targets/met_files.h"
#include "tracer/targets/resolve.h"
#include "tracer/targets/target.h"

namespace uscope::cli {
namespace {

std::vector<std::uint32_t> members_of(const std::string& cgroup) {
  std::vector<std::uint32_t> pids;
  const auto read_one = [&](const std::filesystem::path& folder) {
    std::ifstream file(folder / "cgroup.procs");
    for (std::uint32_t pid = 0; file >> pid;) pids.push_back(pid);
  };
  read_one(cgroup);
  std::error_code error;
  for (const auto& below : std::filesystem::recursive_directory_iterator(cgroup, error))
    if (below.is_directory()) read_one(below.path());
  return pids;
}

bool is_kernel_function(const tracer::Probe& probe) {
  return probe.source == USC_SOURCE_KFUNCTION;
}

}  // namespace

tracer::KernelFunctionsBy kernel_functions_by(const tracer::RecordOptions& out) {
  if (out.backend == tracer::BackendChoice::kAuto) return tracer::kernel_functions_here();
  return out.backend == tracer::BackendChoice::kKmod ? tracer::KernelFunctionsBy::kFtrace
                                                     : tracer::KernelFunctionsBy::kKprobeMulti;
}

void choose_backend(tracer::KernelFunctionsBy by, tracer::RecordOptions& out) {
  const auto& probes = out.probes.probes;
  if (by == tracer::KernelFunctionsBy::kFtrace && std::any_of(probes.begin(), probes.end(), is_kernel_function))
    out.backend = tracer::BackendChoice::kKmod;
}

Result<tracer::Application> application_of(const RecordVerbOptions& options) {
  tracer::Application out;
  if (!options.command.empty()) {
    auto program = tracer::find_program(options.command.front());
    if (!program) return program.error();
    out.program = std::move(*program);
  }
  out.pids = options.pids;
  if (!options.apps.empty()) {
    tracer::NameSearch search(options.apps);
    for (const std::uint32_t pid : tracer::running_processes())
      if (!tracer::is_own_process(pid) && search.take(pid, tracer::names_of(pid))) out.pids.push_back(pid);
  }
  for (const std::string& cgroup : options.cgroups)
    for (const std::uint32_t pid : members_of(cgroup)) out.pids.push_back(pid);
  return out;
}

Result<void> set_probes(const RecordVerbOptions& options, tracer::RecordOptions& out) {
  if (options.targets.empty()) {
    if (options.force_probe)
      return Error{"--force-probe is for targets, and none is given", "name the place: -t ufunction:BINARY:FUNCTION"};
    return {};
  }
  std::vector<tracer::Target> targets;
  for (const std::string& text : options.targets) {
    auto target = tracer::parse_target(text);
    if (!target) return target.error();
    targets.push_back(std::move(*target));
  }
  if (options.force_probe && std::none_of(targets.begin(), targets.end(), tracer::names_one))
    return Error{"--force-probe is for a target that names one place, and all that are given are patterns",
                 "name the place: -t ufunction:BINARY:FUNCTION"};
  tracer::TargetSearch search;
  search.host = tracer::this_host();
  auto application = application_of(options);
  if (!application) return application.error();
  search.application = std::move(*application);
  search.kernel_functions = kernel_functions_by(out);
  tracer::ResolveLimits limits;
  if (options.all_matches) limits.most = std::numeric_limits<std::size_t>::max();
  limits.force = options.force_probe;
  auto resolved = tracer::resolve_targets(targets, search, limits);
  if (!resolved) return resolved.error();
  out.probes = std::move(resolved->plan);
  choose_backend(search.kernel_functions, out);
  out.without_probes = tracer::processes_without_probes(out.probes, search.application.pids);
  for (const auto& [pid, why] : out.without_probes)
    std::fprintf(stderr, "uscope: warning: %s\n", escape_terminal(why).c_str());
  out.file_targets = std::make_shared<tracer::MetFiles>(targets, search, out.probes);
  nlohmann::json texts = nlohmann::json::array();
  for (const std::string& text : options.targets) texts.push_back(trace_text(text));
  out.meta.emplace_back("targets", texts.dump());
  if (!resolved->not_kept.empty()) resolved->left_out.push_back(std::move(resolved->not_kept));
  if (!options.quiet)
    for (const std::string& line : resolved->left_out)
      std::fprintf(stderr, "uscope: %s\n", escape_terminal(line).c_str());
  return {};
}

}  // namespace uscope::cli
