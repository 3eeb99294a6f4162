// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "tracer/backend/bpf_probes.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <fmt/core.h>

#include <algorithm>
#include <cerrno>
#include <utility>

#include "tracer/backend/load_failure.h"
#include "tracer/host/host.h"
#include "tracer/probes/kernel_probes.h"

namespace uscope::tracer {
namespace {

// There is room for these beside twice the plan's: in files that come later.
constexpr std::size_t kMoreProbes = 1024;
constexpr std::size_t kMoreJumps = 1024;
constexpr std::uint64_t kMostCounts = 8U << 20;  // of all processors; of more, hits are looked at one by one

bool is_tracepoint(const Probe& probe) {
  return probe.source == USC_SOURCE_TRACEPOINT;
}

bool lasts(const Probe& probe) {
  return probe.with_return;
}

}  // namespace

// From 6.15 on a program that keeps preemption off may call functions that are verified by themselves.
bool is_at_least(const std::string& release, int major, int minor) {
  int its_major = 0;
  int its_minor = 0;
  std::sscanf(release.c_str(), "%d.%d", &its_major, &its_minor);
  return its_major > major || (its_major == major && its_minor >= minor);
}

void BpfProbes::prepare_counts(const usc_query& query, std::uint32_t cpus) {
  const std::uint64_t places = std::uint64_t{probes_.size()} * 2 * cpus;
  auto counted = counted_probes(query, probes_);
  if (!counted || places == 0 || places > kMostCounts) return;
  counted_ = std::move(*counted);
  cpus_ = cpus;
  bpf_map__set_max_entries(skeleton_->maps.probe_counts, static_cast<__u32>(places));
  const_cast<__u32&>(skeleton_->rodata->counted_probes) = static_cast<__u32>(counted_.size());
}

Result<void> BpfProbes::open_counts() {
  if (counted_.empty()) return {};
  const std::size_t bytes = counted_.size() * 2 * cpus_ * sizeof(__u64);
  return counts_.open(bpf_map__fd(skeleton_->maps.probe_counts), bytes, "probe_counts");
}

void BpfProbes::take_counts(std::uint32_t turn, const Backend::SumHandler& handle) {
  usc_query_row row{};
  for (std::size_t number = 0; number < counted_.size(); number++) {
    row.events = 0;
    for (std::size_t cpu = 0; cpu < cpus_; cpu++)
      row.events += std::exchange(counts_.as<__u64>()[(cpu * 2 + turn) * counted_.size() + number], 0);
    if (row.events == 0 || !counted_[number]) continue;
    row.key = *counted_[number];
    handle(row, nullptr);
  }
}

Result<void> BpfProbes::prepare(uscope_bpf& skeleton, const ProbePlan& plan, const usc_query& query,
                                std::uint32_t cpus) {
  auto probes = kernel_probes(plan);
  if (!probes) return probes.error();
  skeleton_ = &skeleton;
  plan_ = plan.probes;
  probes_ = std::move(*probes);
  jumps_ = kernel_jumps(plan);
  prepare_counts(query, cpus);
  const bool has_tracepoints = std::any_of(plan_.begin(), plan_.end(), is_tracepoint);
  const bool has_places = std::any_of(plan_.begin(), plan_.end(), is_in_file);
  const auto& progs = skeleton.progs;
  has_returns_ = std::any_of(plan_.begin(), plan_.end(), lasts);
  in_files_ =
      has_returns_ && usc_query_is_of_brief_hits(&query) != 0 ? progs.on_user_probe_briefly : progs.on_user_probe;
  for (bpf_program* program : {progs.on_tracepoint, progs.on_user_probe, progs.on_user_probe_briefly})
    bpf_program__set_autoattach(program, false);
  bpf_program__set_autoload(progs.on_tracepoint, has_tracepoints);
  for (bpf_program* program : {progs.on_user_probe, progs.on_user_probe_briefly})
    bpf_program__set_autoload(program, has_places && program == in_files_);
  room_ = has_places && counted_.empty() ? std::min<std::size_t>(2 * probes_.size() + kMoreProbes, USC_PROBES_MOST)
                                         : std::max<std::size_t>(probes_.size(), 1);
  room_ = std::max(room_, probes_.size());
  bpf_map__set_max_entries(skeleton.maps.probes, static_cast<__u32>(room_));
  jump_room_ =
      has_places && counted_.empty() ? 2 * jumps_.size() + kMoreJumps : std::max<std::size_t>(jumps_.size(), 1);
  bpf_map__set_max_entries(skeleton.maps.indirect_jumps, static_cast<__u32>(jump_room_));
  if (auto prepared = kernel_functions_.prepare(skeleton, plan_); !prepared) return prepared;
  const_cast<bool&>(skeleton.rodata->has_returns) = has_returns_;
  bpf_program__set_autoattach(progs.list_open_functions, false);
  bpf_program__set_autoload(progs.list_open_functions, has_returns_);
  if (!has_returns_) bpf_map__set_max_entries(skeleton.maps.open_functions, 1);
  bpf_program__set_autoattach(progs.list_debugged, false);
  bpf_program__set_autoload(progs.list_debugged, has_places);
  const_cast<bool&>(skeleton.rodata->has_file_probes) = has_places;
  if (!has_places) return {};
  const_cast<bool&>(skeleton.rodata->keeps_processor) = is_at_least(this_host().release, 6, 15);
  const bool has_multi = !plan.attach_singly && kernel_has_uprobe_multi();
  if (has_multi) bpf_program__set_expected_attach_type(in_files_, static_cast<bpf_attach_type>(kAttachUprobeMulti));
  return files_.prepare(in_files_, has_multi);
}

Result<void> BpfProbes::tell_kernel(std::size_t first, std::size_t first_jump) {
  const int probes = bpf_map__fd(skeleton_->maps.probes);
  for (auto i = static_cast<__u32>(first); i < probes_.size(); i++)
    if (bpf_map_update_elem(probes, &i, &probes_[i], BPF_ANY) != 0)
      return errno_error("cannot tell the BPF programs of a probe", errno);
  const int jumps = bpf_map__fd(skeleton_->maps.indirect_jumps);
  for (auto i = static_cast<__u32>(first_jump); i < jumps_.size(); i++)
    if (bpf_map_update_elem(jumps, &i, &jumps_[i], BPF_ANY) != 0)
      return errno_error("cannot tell the BPF programs of an indirect jump", errno);
  return {};
}

Result<void> BpfProbes::attach(const Debugged& debugged) {
  if (auto opened = open_counts(); !opened) return opened;
  if (auto told = tell_kernel(0, 0); !told) return told;
  for (std::size_t i = 0; i < plan_.size(); i++)
    if (is_tracepoint(plan_[i]))
      if (auto attached = tracepoints_.attach(skeleton_->progs.on_tracepoint, plan_[i], i); !attached) return attached;
  if (auto attached = files_.attach(plan_, debugged); !attached) return attached;
  return kernel_functions_.attach();
}

Result<void> BpfProbes::attach_file(int fd, const std::string& path, const std::vector<Probe>& probes,
                                    const Debugged& debugged) {
  const std::size_t first = probes_.size();
  const std::size_t first_jump = jumps_.size();
  if (!has_returns_ && std::any_of(probes.begin(), probes.end(), lasts))
    return Error{"the programs were loaded without returns of functions", ""};
  ProbePlan more;
  more.probes = probes;
  auto raw = kernel_probes(more);
  if (!raw) return raw.error();
  const std::vector<usc_jump> jumps = kernel_jumps(more);
  if (first + probes.size() > room_ || first_jump + jumps.size() > jump_room_)
    return Error{"there is no room for more probes", "name fewer targets"};
  plan_.insert(plan_.end(), probes.begin(), probes.end());
  probes_.insert(probes_.end(), raw->begin(), raw->end());
  jumps_.insert(jumps_.end(), jumps.begin(), jumps.end());
  if (auto told = tell_kernel(first, first_jump); !told) return told;
  return files_.attach_file(fd, path, probes, {first, first_jump}, debugged);
}

void BpfProbes::detach() {
  kernel_functions_.detach();
  tracepoints_.detach();
  files_.detach();
}

std::array<const bpf_program*, 5> BpfProbes::programs(const uscope_bpf& skeleton) {
  return {skeleton.progs.on_tracepoint, skeleton.progs.on_user_probe, skeleton.progs.on_user_probe_briefly,
          skeleton.progs.on_kernel_function, skeleton.progs.on_kernel_function_with_return};
}

std::uint64_t BpfProbes::missed() const {
  std::uint64_t missed = kernel_functions_.missed();
  for (const bpf_program* program : programs(*skeleton_)) missed += times_skipped(program);
  return missed;
}

}  // namespace uscope::tracer
