// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "tracer/backend/bpf_kernel_functions.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <utility>

#include "tracer/backend/bpf_map_memory.h"
#include "tracer/backend/load_failure.h"

namespace uscope::tracer {
namespace {

constexpr std::size_t kFewFunctions = 16;       // of which the kernel finds one as soon
constexpr std::uint64_t kMostCells = 4U << 20;  // 64 MiB of code; functions of modules may lie far behind it

}  // namespace

Result<void> BpfKernelFunctions::prepare(uscope_bpf& skeleton, const std::vector<Probe>& probes) {
  skeleton_ = &skeleton;
  for (std::size_t i = 0; i < probes.size(); i++) {
    names_.push_back(probes[i].name);
    if (probes[i].source != USC_SOURCE_KFUNCTION) continue;
    KprobePlaces& places = probes[i].with_return ? lasting_ : moments_;
    for (const std::uint64_t place : probes[i].places) {
      places.addresses.push_back(place);
      places.cookies.push_back(i);
    }
  }
  prepare_numbers();
  const auto& progs = skeleton.progs;
  if (auto prepared = prepare(progs.on_kernel_function, kAttachKprobeMulti, moments_); !prepared) return prepared;
  return prepare(progs.on_kernel_function_with_return, kAttachKprobeSession, lasting_);
}

Result<void> BpfKernelFunctions::prepare(bpf_program* program, int attach_type, const KprobePlaces& places) {
  bpf_program__set_autoattach(program, false);
  bpf_program__set_autoload(program, places.size() != 0);
  if (places.size() == 0) return {};
  bpf_program__set_expected_attach_type(program, static_cast<bpf_attach_type>(attach_type));
  if (const std::string why = why_no_kprobe_multi(attach_type); !why.empty())
    return Error{"functions of the kernel cannot be traced: " + why, "leave targets `kfunction` out"};
  return {};
}

// A function that does not begin with a cell may be hit in a cell where another one begins.
void BpfKernelFunctions::prepare_numbers() {
  if (moments_.size() < kFewFunctions) return;
  const auto [first, last] = std::minmax_element(moments_.addresses.begin(), moments_.addresses.end());
  begin_ = *first / FUNCTION_CELL_BYTES * FUNCTION_CELL_BYTES;
  numbers_.resize(std::min((*last - begin_) / FUNCTION_CELL_BYTES / 2 * 2 + 4, kMostCells));
  const auto set = [this](std::uint64_t address, __u32 number) {
    const std::uint64_t cell = (address - begin_) / FUNCTION_CELL_BYTES;
    if (cell < numbers_.size()) numbers_[cell] = number;
  };
  for (std::size_t i = 0; i < moments_.size(); i++)
    set(moments_.addresses[i], static_cast<__u32>(moments_.cookies[i]) + 1);
  for (const std::uint64_t address : moments_.addresses)
    if (address % FUNCTION_CELL_BYTES != 0)
      for (std::uint64_t inside = 0; inside < FUNCTION_CELL_BYTES; inside++) set(address + inside, 0);
  bpf_map__set_max_entries(skeleton_->maps.function_numbers, static_cast<__u32>(numbers_.size() / 2));
  bpf_map__set_map_flags(skeleton_->maps.function_numbers, BPF_F_MMAPABLE);
  const_cast<__u64&>(skeleton_->rodata->functions_begin) = begin_;
  const_cast<__u32&>(skeleton_->rodata->function_cells) = static_cast<__u32>(numbers_.size());
}

Result<void> BpfKernelFunctions::tell_numbers() {
  if (numbers_.empty()) return {};
  MapMemory memory;
  if (auto opened = memory.open(bpf_map__fd(skeleton_->maps.function_numbers), numbers_.size() * sizeof(__u32),
                                "function_numbers");
      !opened)
    return opened;
  std::copy(numbers_.begin(), numbers_.end(), memory.as<__u32>());
  numbers_ = {};
  return {};
}

Result<void> BpfKernelFunctions::attach() {
  if (auto told = tell_numbers(); !told) return told;
  const auto& progs = skeleton_->progs;
  if (auto attached = attach_places(progs.on_kernel_function, kAttachKprobeMulti, moments_); !attached) return attached;
  return attach_places(progs.on_kernel_function_with_return, kAttachKprobeSession, lasting_);
}

Error BpfKernelFunctions::not_attached(int number, const KprobePlaces& places) const {
  const std::string what = places.size() == 1 ? fmt::format("cannot probe the function {} of the kernel at {:#x}",
                                                            names_[places.cookies[0]], places.addresses[0])
                                              : fmt::format("cannot probe {} functions of the kernel", places.size());
  return errno_error(what, number, places.size() == 1 ? "leave it out" : bpf_remedy(number));
}

// All places, or none. If one of them cannot be probed, halves are tried until it is found which.
Result<void> BpfKernelFunctions::attach_places(const bpf_program* program, int attach_type,
                                               const KprobePlaces& places) {
  if (places.size() == 0) return {};
  UniqueFd link = attach_kprobe_multi(bpf_program__fd(program), attach_type, places);
  const int number = errno;
  if (link) {
    links_.push_back(std::move(link));
    return {};
  }
  const bool is_of_one_place = number == EINVAL || number == ENOENT || number == EBUSY;
  if (places.size() < 2 || !is_of_one_place) return not_attached(number, places);
  const std::size_t half = places.size() / 2;
  if (auto attached = attach_places(program, attach_type, places.part(0, half)); !attached) return attached;
  return attach_places(program, attach_type, places.part(half, places.size() - half));
}

void BpfKernelFunctions::detach() {
  for (const UniqueFd& link : links_) missed_ += missed_at_kprobes(link.get());
  links_.clear();
}

std::uint64_t BpfKernelFunctions::missed() const {
  std::uint64_t missed = missed_;
  for (const UniqueFd& link : links_) missed += missed_at_kprobes(link.get());
  return missed;
}

}  // namespace uscope::tracer
