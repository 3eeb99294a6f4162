// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// Clocks that sample what runs: one for each CPU that is online. tend() opens those of CPUs that come online, and those
// that have stopped (clock_watch.h).
#pragma once

#include <bpf/libbpf.h>

#include <cstdint>
#include <optional>
#include <vector>

#include "support/result.h"
#include "support/unique_fd.h"
#include "tracer/backend/backend.h"
#include "tracer/backend/bpf_handles.h"
#include "tracer/backend/clock_watch.h"

namespace uscope::tracer {

class BpfSamples {
 public:
  // Runs `program` `hz` times a second on each CPU.
  Result<void> attach(const bpf_program* program, std::uint32_t hz);
  // `ticked`: when a CPU's clock ticked last.
  Result<void> tend(const ClockWatch::Ticked& ticked, std::uint64_t now_ns, const Backend::SourceLossHandler& tell);
  void detach() {
    watch_.reset();
    links_.clear();
    events_.clear();
  }

 private:
  Result<void> open(std::uint32_t cpu);
  Result<void> open_again(const std::vector<ClockWatch::Gap>& gaps, const char* why,
                          const Backend::SourceLossHandler& tell);
  [[nodiscard]] std::optional<std::uint64_t> enabled_time(std::uint32_t cpu) const;

  const bpf_program* program_ = nullptr;
  std::uint32_t hz_ = 0;
  UniqueFd online_;
  std::vector<LinkHandle> links_;  // by CPU; empty: it has no clock
  std::vector<int> events_;        // of the links
  std::optional<ClockWatch> watch_;
  std::uint64_t looked_ns_ = 0;
  std::uint64_t asked_ns_ = 0;  // whether clocks are lost
};

// 1.4 % more than 1/hz.
[[nodiscard]] std::uint64_t sample_period_ns(std::uint32_t hz);

}  // namespace uscope::tracer
