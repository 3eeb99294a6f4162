// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// Clocks that sample what runs: one for each CPU that is online when they are attached.
#pragma once

#include <bpf/libbpf.h>

#include <cstdint>
#include <vector>

#include "support/result.h"
#include "tracer/backend/bpf_handles.h"

namespace uscope::tracer {

class BpfSamples {
 public:
  // Runs `program` `hz` times a second on each CPU.
  Result<void> attach(const bpf_program* program, std::uint32_t hz);
  void detach() { links_.clear(); }

 private:
  std::vector<LinkHandle> links_;
};

// 1.4 % more than 1/hz.
[[nodiscard]] std::uint64_t sample_period_ns(std::uint32_t hz);

}  // namespace uscope::tracer
