// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// The rings by which records come from the BPF programs: one for each CPU, in a map of maps. To make them takes as long
// as to load the programs: each has memory to be cleared, and before Linux 6.8 the kernel waits, for each that enters
// the map, until no program runs any more that began before. So a thread makes them while the programs are loaded.
#pragma once

#include <cstdint>
#include <future>
#include <vector>

#include "support/result.h"
#include "support/unique_fd.h"

namespace uscope::tracer {

class BpfRings {
 public:
  // The map, without rings still: the programs are loaded with it. It is closed with this object.
  Result<int> begin(std::uint32_t cpus, std::uint32_t bytes);
  // Waits until all rings are there. Their descriptors, by CPU, stay this object's.
  Result<const std::vector<UniqueFd>*> finish();
  // Returns when no program runs any more that ran when this was called: only then does the kernel let an update of a
  // map of maps return.
  Result<void> wait_for_programs();

 private:
  Result<void> make(std::uint32_t cpus, std::uint32_t bytes);
  Result<void> enter_all();

  UniqueFd map_;
  std::vector<UniqueFd> rings_;
  std::future<Result<void>> made_;  // last: its end waits for the thread, which uses the others
};

}  // namespace uscope::tracer
