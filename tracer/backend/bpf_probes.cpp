// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "tracer/backend/bpf_probes.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <fmt/core.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <map>
#include <utility>

#include "tracer/backend/load_failure.h"
#include "tracer/host/host.h"
#include "tracer/probes/kernel_probes.h"

namespace uscope::tracer {
namespace {

constexpr std::uint64_t kMostCounts = 8U << 20;  // of all processors; of more, hits are looked at one by one
constexpr int kNotSupported = 524;               // the kernel's ENOTSUPP, which has no name here

bool is_tracepoint(const Probe& probe) {
  return probe.source == USC_SOURCE_TRACEPOINT;
}

bool lasts(const Probe& probe) {
  return probe.with_return;
}

bool is_in_file(const Probe& probe) {
  return probe.source == USC_SOURCE_UFUNCTION || probe.source == USC_SOURCE_USDT;
}

// `number`: of an indirect jump among those of the plan, from 1; else 0.
std::uint64_t role_of(const ProbeJump& jump, std::uint64_t number) {
  std::uint64_t role = USC_PLACE_OF_JUMP | std::uint64_t{jump.condition} << USC_PLACE_CONDITION_SHIFT;
  if (jump.again) role |= USC_PLACE_AGAIN;
  if (jump.may_return) role |= USC_PLACE_OF_RETURN;
  if (jump.indirect && jump.indirect->pops != 0) role |= USC_PLACE_POPS;
  return role | number << USC_PLACE_INDIRECT_SHIFT;
}

std::string remedy_of(int number) {
  switch (number) {
    case EPERM:
    case EACCES:
      return kProbePrivileges;
    case ENOENT:
      return "only files that exist when tracing begins can be probed";
    case EBADF:
      return "name an executable or a library: a regular file";
    case kNotSupported:
    case EILSEQ:
      return "leave it out: the kernel cannot probe the instruction there";
    case EINVAL:
      return "leave it out; if another tracer probes this place for a USDT probe, end that one";
    default:
      return bpf_remedy(number);
  }
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
  bpf_map__set_max_entries(skeleton.maps.probes, static_cast<__u32>(std::max<std::size_t>(probes_.size(), 1)));
  bpf_map__set_max_entries(skeleton.maps.indirect_jumps, static_cast<__u32>(std::max<std::size_t>(jumps_.size(), 1)));
  if (auto prepared = kernel_functions_.prepare(skeleton, plan_); !prepared) return prepared;
  const_cast<bool&>(skeleton.rodata->has_returns) = has_returns_;
  bpf_program__set_autoattach(progs.list_open_functions, false);
  bpf_program__set_autoload(progs.list_open_functions, has_returns_);
  if (!has_returns_) bpf_map__set_max_entries(skeleton.maps.open_functions, 1);
  if (!has_places) return {};
  const_cast<bool&>(skeleton.rodata->keeps_processor) = is_at_least(this_host().release, 6, 15);
  has_multi_ = !plan.attach_singly && kernel_has_uprobe_multi();
  if (has_multi_) bpf_program__set_expected_attach_type(in_files_, static_cast<bpf_attach_type>(kAttachUprobeMulti));
  return {};
}

Result<void> BpfProbes::attach() {
  if (auto opened = open_counts(); !opened) return opened;
  const int map = bpf_map__fd(skeleton_->maps.probes);
  for (__u32 i = 0; i < probes_.size(); i++)
    if (bpf_map_update_elem(map, &i, &probes_[i], BPF_ANY) != 0)
      return errno_error("cannot tell the BPF programs of a probe", errno);
  const int jumps = bpf_map__fd(skeleton_->maps.indirect_jumps);
  for (__u32 i = 0; i < jumps_.size(); i++)
    if (bpf_map_update_elem(jumps, &i, &jumps_[i], BPF_ANY) != 0)
      return errno_error("cannot tell the BPF programs of an indirect jump", errno);
  for (std::size_t i = 0; i < plan_.size(); i++)
    if (is_tracepoint(plan_[i]))
      if (auto attached = tracepoints_.attach(skeleton_->progs.on_tracepoint, plan_[i], i); !attached) return attached;
  if (auto attached = attach_in_files(); !attached) return attached;
  return kernel_functions_.attach();
}

Result<void> BpfProbes::attach_in_files() {
  std::map<std::string, UprobePlaces> files;
  std::uint64_t indirect = 0;
  for (std::size_t i = 0; i < plan_.size(); i++) {
    if (!is_in_file(plan_[i])) continue;
    UprobePlaces& places = files[plan_[i].path];
    const auto add = [&](std::uint64_t offset, std::uint64_t role) {
      places.offsets.push_back(offset);
      places.cookies.push_back(i | role);
      places.semaphores.push_back(plan_[i].semaphore);
    };
    // In this order they are attached: an entry whose return is not seen would be taken for left.
    for (const std::uint64_t place : plan_[i].returns) add(place, USC_PLACE_OF_RETURN);
    for (const ProbeJump& jump : plan_[i].jumps) add(jump.place, role_of(jump, jump.indirect ? ++indirect : 0));
    for (const std::uint64_t place : plan_[i].places) add(place, 0);
  }
  std::size_t total = 0;
  for (const auto& [path, places] : files) total += places.size();
  if (!has_multi_ && total > kMostSingly)
    return Error{
        fmt::format("{} places in files are too many for this kernel, which attaches and detaches each by itself: "
                    "at most {}",
                    total, kMostSingly),
        "name fewer targets; Linux 6.6 and later attach many places at once"};
  for (const auto& [path, places] : files) {
    if (places.size() == 0) continue;
    auto attached = has_multi_ ? attach_places(path, places) : attach_singly(path, places);
    if (!attached) return attached;
  }
  return {};
}

Error BpfProbes::not_attached(int number, const std::string& path, const UprobePlaces& places) const {
  const std::string what = places.size() == 1
                               ? fmt::format("cannot probe {} at {:#x} of {}",
                                             plan_[places.cookies[0] & USC_PLACE_NUMBER].name, places.offsets[0], path)
                               : fmt::format("cannot probe {}", path);
  if (number == kNotSupported) return {what + ": not supported", remedy_of(number)};
  return errno_error(what, number, remedy_of(number));
}

// All places, or none. If one of them cannot be probed, halves are tried until it is found which.
Result<void> BpfProbes::attach_places(const std::string& path, const UprobePlaces& places) {
  UniqueFd link = attach_uprobe_multi(bpf_program__fd(in_files_), path, places);
  const int number = errno;
  if (link) {
    multi_links_.push_back(std::move(link));
    return {};
  }
  const bool is_of_one_place = number == EINVAL || number == EILSEQ || number == kNotSupported;
  if (places.size() < 2 || !is_of_one_place) return not_attached(number, path, places);
  const std::size_t half = places.size() / 2;
  if (auto attached = attach_places(path, places.part(0, half)); !attached) return attached;
  return attach_places(path, places.part(half, places.size() - half));
}

Result<void> BpfProbes::attach_singly(const std::string& path, const UprobePlaces& places) {
  for (std::size_t i = 0; i < places.size(); i++) {
    LIBBPF_OPTS(bpf_uprobe_opts, options, .ref_ctr_offset = places.semaphores[i], .bpf_cookie = places.cookies[i]);
    LinkHandle link(bpf_program__attach_uprobe_opts(in_files_, -1, path.c_str(), places.offsets[i], &options));
    if (!link) return not_attached(errno, path, places.part(i, 1));
    links_.push_back(std::move(link));
  }
  return {};
}

void BpfProbes::detach() {
  kernel_functions_.detach();
  tracepoints_.detach();
  multi_links_.clear();
  links_.clear();
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
