// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// Finds processes outside of a trace that can access its memory: processes with a traced one's address space, and those
// that can open a file that traced ones map. The source is /proc, with pids of uscope's own namespace. Any process may
// block a query about it, so scouts do this. To answer many questions, each process is queried once: there may be
// thousands on both sides.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "tracer/process/shared_mappings.h"

namespace uscope::tracer {

// Processes that are not in `around.known`, grouped by stack start as a clue to their address spaces.
class SpaceSharers {
 public:
  // `around` must outlive this object.
  explicit SpaceSharers(const AskedAround& around) : around_(around) {}

  // Returns how many of them have the address space of this known process (clone with CLONE_VM, vfork). Considers the
  // processes that run at the first call.
  [[nodiscard]] std::uint32_t count(std::uint32_t pid);

 private:
  struct Process {
    std::uint32_t pid = 0;
    std::uint32_t thread = 0;  // a living thread
  };
  void find_processes();

  const AskedAround& around_;
  std::optional<std::map<std::string, std::vector<Process>>> by_stack_;  // by start of the stack
};

// A file that a process maps shared.
struct MappedFile {
  std::uint32_t pid = 0;
  std::string name;  // as in /proc/PID/maps
  std::string link;  // the mapping's entry in /proc/PID/map_files
};

// For each of these files, whether a process that does not map it now can open or attach it (System V): it has a name,
// or a process not in `known` holds it. True if that cannot be determined.
[[nodiscard]] std::vector<bool> are_open_to_others(const std::vector<MappedFile>& files, const AskedAround& around);

// Whether a process has io_uring: by its descriptors, its mappings and the kernel's threads in it.
[[nodiscard]] bool has_io_uring(std::uint32_t pid);

}  // namespace uscope::tracer
