// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// Probes in files (usdt, ufunction): where they are attached, and until when. A file is opened once; probes are those
// of what was opened, whatever its path leads to later. Another process holds them, and removes them when their file is
// changed in place (tracer/backend/probe_guard.h).
//
// A probe in a file is hit by every process that maps the file. Those that are not traced pay for it, and are not
// recorded.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "support/regular_file.h"
#include "support/result.h"
#include "support/unique_fd.h"
#include "tracer/backend/backend.h"
#include "tracer/backend/bpf_handles.h"
#include "tracer/backend/probe_guard.h"
#include "tracer/probes/probe_plan.h"
#include "tracer/scouts/scouts.h"

namespace uscope::tracer {

[[nodiscard]] inline bool is_in_file(const Probe& probe) {
  return probe.source == USC_SOURCE_UFUNCTION || probe.source == USC_SOURCE_USDT;
}

// How many probes and indirect jumps of functions the kernel side knows. The next ones have these numbers.
struct ProbeNumbers {
  std::uint64_t probes = 0;
  std::uint64_t jumps = 0;
};

// Processes with a debugger that may set breakpoints at any time, and who looks at them.
struct Debugged {
  Scouts* scouts = nullptr;
  std::set<std::uint32_t> pids;
};

class BpfFileProbes {
 public:
  // Where a kernel has no uprobe.multi, each place is attached by itself, and to detach one takes about a tenth of a
  // second.
  static constexpr std::size_t kMostSingly = 200;

  // `program`, which need not be loaded yet, runs at each place. `has_multi`: it will be loaded for uprobe.multi.
  // Forks.
  Result<void> prepare(bpf_program* program, bool has_multi);
  // Those of the plan that are in files; a probe's place in the plan is its hits' cookie. No file may be open for
  // writing, nor may one of these processes have mapped a place that has proof.
  Result<void> attach(const std::vector<Probe>& plan, const Debugged& debugged);
  // Probes of a further file, of which `fd` is a descriptor; `first`: how many there are of other files.
  Result<void> attach_file(int fd, const std::string& path, const std::vector<Probe>& probes, ProbeNumbers first,
                           const Debugged& debugged);
  // Those that have probes.
  [[nodiscard]] std::vector<ProbedFile> probed() const;
  // Returns false if the file has no probes.
  bool remove(const std::string& path);
  // Tells of files whose probes were removed by nobody here.
  void tend(std::uint64_t now_ns, const Backend::SourceLossHandler& tell);
  // Readable when tend() is wanted at once; -1: nothing is attached.
  [[nodiscard]] int fd() const { return guard_ ? guard_->fd() : -1; }
  void detach();

 private:
  struct InFile {
    PlacesInFile what;
    FileIdentity identity;
    UniqueFd fd;
    std::vector<std::uint64_t> unforced;   // places that have proof
    std::shared_ptr<const CodeFile> code;  // at these
    bool is_probed = false;
  };
  static void read_file(InFile& file);
  static Result<void> refuse_debugged(const InFile& file, const Debugged& debugged);
  Result<void> attach(InFile file, const Debugged& debugged);
  void tell_removed(std::size_t number, std::uint64_t time_ns, const std::string& why,
                    const Backend::SourceLossHandler& tell);

  bpf_program* program_ = nullptr;
  bool has_multi_ = false;
  std::vector<InFile> files_;  // by the guard's number
  std::unique_ptr<ProbeGuard> guard_;
};

}  // namespace uscope::tracer
