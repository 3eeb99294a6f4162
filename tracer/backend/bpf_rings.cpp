// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "tracer/backend/bpf_rings.h"

#include <bpf/bpf.h>
#include <fmt/core.h>

#include <cerrno>
#include <system_error>
#include <utility>

#include "tracer/backend/load_failure.h"

namespace uscope::tracer {
namespace {

Result<UniqueFd> make_ring(std::uint32_t cpu, std::uint32_t bytes) {
  UniqueFd ring(bpf_map_create(BPF_MAP_TYPE_RINGBUF, "uscope_ring", 0, 0, bytes, nullptr));
  if (!ring)
    return errno_error(fmt::format("cannot create a ring of {} bytes for CPU {}", bytes, cpu), errno,
                       bpf_remedy(errno));
  return ring;
}

}  // namespace

Result<int> BpfRings::begin(std::uint32_t cpus, std::uint32_t bytes) {
  auto first = make_ring(0, bytes);
  if (!first) return first.error();
  LIBBPF_OPTS(bpf_map_create_opts, options, .inner_map_fd = static_cast<__u32>(first->get()));
  map_.reset(bpf_map_create(BPF_MAP_TYPE_ARRAY_OF_MAPS, "rings", sizeof(__u32), sizeof(__u32), cpus, &options));
  if (!map_) return errno_error("cannot create the map of the rings", errno, bpf_remedy(errno));
  rings_.push_back(std::move(*first));
  made_ = std::async(std::launch::async, [this, cpus, bytes] { return make(cpus, bytes); });
  return map_.get();
}

Result<void> BpfRings::make(std::uint32_t cpus, std::uint32_t bytes) {
  for (std::uint32_t cpu = 1; cpu < cpus; cpu++) {
    auto ring = make_ring(cpu, bytes);
    if (!ring) return ring.error();
    rings_.push_back(std::move(*ring));
  }
  return enter_all();
}

// At once, where the kernel can.
Result<void> BpfRings::enter_all() {
  std::vector<__u32> cpus;
  std::vector<int> fds;
  for (const UniqueFd& ring : rings_) {
    cpus.push_back(static_cast<__u32>(cpus.size()));
    fds.push_back(ring.get());
  }
  auto count = static_cast<__u32>(cpus.size());
  LIBBPF_OPTS(bpf_map_batch_opts, options);
  if (bpf_map_update_batch(map_.get(), cpus.data(), fds.data(), &count, &options) == 0 && count == cpus.size())
    return {};
  for (const __u32 cpu : cpus)
    if (bpf_map_update_elem(map_.get(), &cpu, &fds[cpu], BPF_ANY) != 0)
      return errno_error(fmt::format("cannot give the programs the ring of CPU {}", cpu), errno);
  return {};
}

Result<const std::vector<UniqueFd>*> BpfRings::finish() {
  if (made_.valid())
    if (auto made = made_.get(); !made) return made.error();
  return &rings_;
}

Result<void> BpfRings::wait_for_programs() {
  const __u32 cpu = 0;
  const int ring = rings_.front().get();
  if (bpf_map_update_elem(map_.get(), &cpu, &ring, BPF_ANY) != 0)
    return errno_error("cannot wait for the BPF programs that run", errno);
  return {};
}

}  // namespace uscope::tracer
