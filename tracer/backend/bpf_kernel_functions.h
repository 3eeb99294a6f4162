// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// Probes at functions of the kernel: one link for all functions of a plan whose events are moments, and one for those
// whose events last to the return.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "support/result.h"
#include "support/unique_fd.h"
#include "tracer/backend/bpf_handles.h"
#include "tracer/host/kprobe_multi.h"
#include "tracer/probes/probe_plan.h"

namespace uscope::tracer {

class BpfKernelFunctions {
 public:
  // Before the programs are loaded. A place in `probes` is the cookie of its hits.
  Result<void> prepare(uscope_bpf& skeleton, const std::vector<Probe>& probes);
  // After that; the skeleton must live until detach().
  Result<void> attach();
  void detach();
  // Hits for which the kernel did not run the programs, whoever they were of. Holds after detach(), too.
  [[nodiscard]] std::uint64_t missed() const;

 private:
  static Result<void> prepare(bpf_program* program, int attach_type, const KprobePlaces& places);
  void prepare_numbers();
  Result<void> tell_numbers();
  Result<void> attach_places(const bpf_program* program, int attach_type, const KprobePlaces& places);
  [[nodiscard]] Error not_attached(int number, const KprobePlaces& places) const;

  uscope_bpf* skeleton_ = nullptr;
  KprobePlaces moments_;
  KprobePlaces lasting_;            // to the return
  std::vector<std::string> names_;  // by cookie
  std::vector<__u32>
      numbers_;  // of moments_, for each cell of the kernel's code from begin_ on (bpf/kernel_functions.bpf.h)
  std::uint64_t begin_ = 0;
  std::vector<UniqueFd> links_;
  std::uint64_t missed_ = 0;  // at links that are gone
};

}  // namespace uscope::tracer
