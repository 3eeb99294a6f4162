// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// libbpf's objects as owning handles.
#pragma once

#include <bpf/bpf.h>
#include <bpf/libbpf.h>

#include <cstdint>
#include <memory>

// The skeleton needs the types of the programs' global variables.
#include "shared.h"
//
#include "uscope.skel.h"

namespace uscope::tracer {

struct BpfDeleter {
  void operator()(uscope_bpf* skeleton) const { uscope_bpf__destroy(skeleton); }
  void operator()(ring_buffer* rings) const { ring_buffer__free(rings); }
  void operator()(bpf_link* link) const { bpf_link__destroy(link); }
};

using SkeletonHandle = std::unique_ptr<uscope_bpf, BpfDeleter>;
using RingBufferHandle = std::unique_ptr<ring_buffer, BpfDeleter>;
using LinkHandle = std::unique_ptr<bpf_link, BpfDeleter>;

// How often the kernel skipped a program since it was running already; 0 where it has not been loaded.
[[nodiscard]] inline std::uint64_t times_skipped(const bpf_program* program) {
  bpf_prog_info info{};
  __u32 bytes = sizeof(info);
  const int fd = bpf_program__fd(program);
  return fd >= 0 && bpf_obj_get_info_by_fd(fd, &info, &bytes) == 0 ? info.recursion_misses : 0;
}

}  // namespace uscope::tracer
