// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// Probes at tracepoints, in files (usdt, ufunction) and at functions of the kernel: the programs for them, what these
// know of each probe, and where they are attached. Programs for which a plan has no probe are not loaded.
//
// A probe in a file is hit by every process that maps the file. Those that are not traced pay for it, and are not
// recorded.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "support/result.h"
#include "support/unique_fd.h"
#include "tracer/backend/backend.h"
#include "tracer/backend/bpf_handles.h"
#include "tracer/backend/bpf_kernel_functions.h"
#include "tracer/backend/bpf_map_memory.h"
#include "tracer/backend/bpf_tracepoints.h"
#include "tracer/backend/uprobe_multi.h"
#include "tracer/probes/counted_probes.h"
#include "tracer/probes/probe_plan.h"
#include "uscope/probes.h"

namespace uscope::tracer {

class BpfProbes {
 public:
  // Where a kernel has no uprobe.multi, each place is attached by itself, and to detach one takes about a tenth of a
  // second.
  static constexpr std::size_t kMostSingly = 200;

  // Before the programs are loaded, with what they count of hits if there is a question.
  Result<void> prepare(uscope_bpf& skeleton, const ProbePlan& plan, const usc_query& query, std::uint32_t cpus);
  // After that; `skeleton` must live until detach().
  Result<void> attach();
  // The rows of what was only counted in one turn, which no program counts in any more; it is empty then.
  void take_counts(std::uint32_t turn, const Backend::SumHandler& handle);
  void detach();
  // Whether any probe lasts to a function's return.
  [[nodiscard]] bool has_returns() const { return has_returns_; }
  // Hits for which the kernel did not run the program, whoever they were of.
  [[nodiscard]] std::uint64_t missed() const;
  // The programs whose misses these are.
  [[nodiscard]] static std::array<const bpf_program*, 5> programs(const uscope_bpf& skeleton);

 private:
  void prepare_counts(const usc_query& query, std::uint32_t cpus);
  Result<void> open_counts();
  Result<void> attach_in_files();
  Result<void> attach_places(const std::string& path, const UprobePlaces& places);
  Result<void> attach_singly(const std::string& path, const UprobePlaces& places);
  [[nodiscard]] Error not_attached(int number, const std::string& path, const UprobePlaces& places) const;

  uscope_bpf* skeleton_ = nullptr;
  bool has_multi_ = false;
  bool has_returns_ = false;
  bpf_program* in_files_ = nullptr;  // what runs at probes in files
  std::vector<Probe> plan_;
  std::vector<usc_probe> probes_;      // in the same order; a place in it is a cookie
  std::vector<usc_jump> jumps_;        // numbers in the plan's order, too
  std::vector<CountedProbe> counted_;  // likewise; empty: hits are not only counted
  std::uint32_t cpus_ = 0;
  MapMemory counts_;
  BpfTracepoints tracepoints_;
  std::vector<LinkHandle> links_;
  std::vector<UniqueFd> multi_links_;
  BpfKernelFunctions kernel_functions_;
};

// Whether a Linux of this release (uname -r) is at least a version.
[[nodiscard]] bool is_at_least(const std::string& release, int major, int minor);

}  // namespace uscope::tracer
