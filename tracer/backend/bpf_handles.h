// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// libbpf's objects as owning handles.
#pragma once

#include <bpf/libbpf.h>

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

}  // namespace uscope::tracer
