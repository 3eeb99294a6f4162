// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "tracer/backend/bpf_kernel_functions.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <fmt/core.h>

#include <array>
#include <cerrno>
#include <utility>

#include "tracer/backend/load_failure.h"

namespace uscope::tracer {

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

Result<void> BpfKernelFunctions::attach() {
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
