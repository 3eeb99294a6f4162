// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// Tracepoints of a plan: a BPF program that perf runs at each.
//
// When the last event of a tracepoint is closed, the kernel waits until no CPU can be at it any more (30 ms and more),
// and lets no other event be closed meanwhile: a thousand would take half a minute. So a process that nobody waits for
// closes them (support/process/close_elsewhere.h). The program is gone before: what is left for a while is an event
// that is off.
#pragma once

#include <cstdint>
#include <vector>

#include "support/result.h"
#include "tracer/backend/bpf_handles.h"
#include "tracer/probes/probe_plan.h"

namespace uscope::tracer {

class BpfTracepoints {
 public:
  BpfTracepoints() = default;
  BpfTracepoints(const BpfTracepoints&) = delete;
  BpfTracepoints& operator=(const BpfTracepoints&) = delete;
  ~BpfTracepoints() { detach(); }

  // `cookie` comes with each hit.
  Result<void> attach(const bpf_program* program, const Probe& probe, std::uint64_t cookie);
  // The program is run at none of them any more.
  void detach();

 private:
  std::vector<LinkHandle> links_;
  std::vector<int> events_;  // the links'
};

}  // namespace uscope::tracer
