// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// Probes in files (usdt, ufunction): where they are attached, and until when. A file is opened once; probes and guard
// are those of what was opened, whatever its path leads to later. If a file is changed in place, its probes are
// removed, and where the file has a lease, before anybody can change it (tracer/probes/file_guard.h).
//
// A probe in a file is hit by every process that maps the file. Those that are not traced pay for it, and are not
// recorded.
#pragma once

#include <cstddef>
#include <cstdint>
#include <list>
#include <string>
#include <vector>

#include "support/regular_file.h"
#include "support/result.h"
#include "support/unique_fd.h"
#include "tracer/backend/backend.h"
#include "tracer/backend/bpf_handles.h"
#include "tracer/backend/uprobe_multi.h"
#include "tracer/probes/file_guard.h"
#include "tracer/probes/probe_plan.h"

namespace uscope::tracer {

[[nodiscard]] inline bool is_in_file(const Probe& probe) {
  return probe.source == USC_SOURCE_UFUNCTION || probe.source == USC_SOURCE_USDT;
}

// How many probes and indirect jumps of functions the kernel side knows. The next ones have these numbers.
struct ProbeNumbers {
  std::uint64_t probes = 0;
  std::uint64_t jumps = 0;
};

class BpfFileProbes {
 public:
  // Where a kernel has no uprobe.multi, each place is attached by itself, and to detach one takes about a tenth of a
  // second.
  static constexpr std::size_t kMostSingly = 200;

  // `program` runs at each place. `has_multi`: it was loaded for uprobe.multi.
  void prepare(bpf_program* program, bool has_multi);
  // Those of the plan that are in files; a probe's place in the plan is its hits' cookie. No file may be open for
  // writing.
  Result<void> attach(const std::vector<Probe>& plan);
  // Probes of a further file, of which `fd` is a descriptor; `first`: how many there are of other files.
  Result<void> attach_file(int fd, const std::string& path, const std::vector<Probe>& probes, ProbeNumbers first);
  // Those that have probes.
  [[nodiscard]] std::vector<ProbedFile> probed() const;
  // Removes the probes of files that are changed, and tells of each.
  void tend(std::uint64_t now_ns, const Backend::SourceLossHandler& tell);
  // Readable when tend() is wanted at once; -1: nothing is attached.
  [[nodiscard]] int fd() const { return guard_.fd(); }
  void detach();

 private:
  struct InFile {
    std::string path;  // for messages
    FileIdentity identity;
    UniqueFd fd;
    UprobePlaces places;
    std::string first;  // the name of one of its probes
    std::vector<LinkHandle> links;
    std::vector<UniqueFd> multi_links;
  };
  Result<void> guard(InFile file);
  Result<void> attach_last();
  void remove(std::size_t number);
  Result<void> attach_places(InFile& file, const UprobePlaces& places) const;
  Result<void> attach_singly(InFile& file) const;

  bpf_program* program_ = nullptr;
  bool has_multi_ = false;
  std::list<InFile> files_;
  std::vector<InFile*> by_number_;  // the guard's; nullptr: removed
  FileGuard guard_;                 // lets go of descriptors before they are closed: destroyed first
};

}  // namespace uscope::tracer
