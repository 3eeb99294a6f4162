// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// Probes at tracepoints, in files (usdt, ufunction) and at functions of the kernel: the programs for them, what these
// know of each probe, and where they are attached. Programs for which a plan has no probe are not loaded.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "support/result.h"
#include "tracer/backend/backend.h"
#include "tracer/backend/bpf_file_probes.h"
#include "tracer/backend/bpf_handles.h"
#include "tracer/backend/bpf_kernel_functions.h"
#include "tracer/backend/bpf_map_memory.h"
#include "tracer/backend/bpf_tracepoints.h"
#include "tracer/probes/counted_probes.h"
#include "tracer/probes/probe_plan.h"
#include "uscope/probes.h"

namespace uscope::tracer {

class BpfProbes {
 public:
  // Before the programs are loaded, with what they count of hits if there is a question.
  Result<void> prepare(uscope_bpf& skeleton, const ProbePlan& plan, const usc_query& query, std::uint32_t cpus);
  // After that; `skeleton` must live until detach().
  Result<void> attach(const Debugged& debugged);
  // The rows of what was only counted in one turn, which no program counts in any more; it is empty then.
  void take_counts(std::uint32_t turn, const Backend::SumHandler& handle);
  [[nodiscard]] const BpfFileProbes& files() const { return files_; }
  // As Backend::attach_file.
  Result<void> attach_file(int fd, const std::string& path, const std::vector<Probe>& probes, const Debugged& debugged);
  bool remove_file(const std::string& path) { return files_.remove(path); }
  // Looks after what is attached, as Backend::tend_sources does.
  void tend(std::uint64_t now_ns, const Backend::SourceLossHandler& tell) { files_.tend(now_ns, tell); }
  [[nodiscard]] int fd() const { return files_.fd(); }
  void detach();
  // Whether any probe lasts to a function's return.
  [[nodiscard]] bool has_returns() const { return has_returns_; }
  // Hits for which the kernel did not run the program, whoever they were of.
  [[nodiscard]] std::uint64_t missed() const;
  // The programs whose misses these are.
  [[nodiscard]] static std::array<const bpf_program*, 5> programs(const uscope_bpf& skeleton);

 private:
  // Writes probes and indirect jumps, from these on, where the BPF programs find them.
  Result<void> tell_kernel(std::size_t first, std::size_t first_jump);
  void prepare_counts(const usc_query& query, std::uint32_t cpus);
  Result<void> open_counts();

  uscope_bpf* skeleton_ = nullptr;
  bool has_returns_ = false;
  bpf_program* in_files_ = nullptr;  // what runs at probes in files
  std::size_t room_ = 0;             // for probes, on the kernel side
  std::size_t jump_room_ = 0;        // for indirect jumps
  std::vector<Probe> plan_;
  std::vector<usc_probe> probes_;      // in the same order; a place in it is a cookie
  std::vector<usc_jump> jumps_;        // numbers in the plan's order, too
  std::vector<CountedProbe> counted_;  // likewise; empty: hits are not only counted
  std::uint32_t cpus_ = 0;
  MapMemory counts_;
  BpfTracepoints tracepoints_;
  BpfFileProbes files_;
  BpfKernelFunctions kernel_functions_;
};

// Whether a Linux of this release (uname -r) is at least a version.
[[nodiscard]] bool is_at_least(const std::string& release, int major, int minor);

}  // namespace uscope::tracer
