// Who outside of a trace can come by its memory: processes that have a traced one's address space, and those that can
// open a file that traced ones map. /proc tells it, by numbers of our own pid namespace. Any process may hold back who
// asks: it is done by scouts. Who is asked about much asks each process once: there may be thousands on both sides.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "tracer/process/shared_mappings.h"

namespace uscope::tracer {

// Processes that are not in `around.known`, by what their stacks tell of their address spaces.
class SpaceSharers {
 public:
  // `around` must outlive this object.
  explicit SpaceSharers(const AskedAround& around) : around_(around) {}

  // How many of them have the address space of this one, which is known (clone with CLONE_VM, vfork). Those that run
  // when it is first asked.
  [[nodiscard]] std::uint32_t count(std::uint32_t pid);

 private:
  struct Process {
    std::uint32_t pid = 0;
    std::uint32_t thread = 0;  // one that lives
  };
  void find_processes();

  const AskedAround& around_;
  std::optional<std::map<std::string, std::vector<Process>>> by_stack_;  // by where it begins
};

// A file that a process maps shared.
struct MappedFile {
  std::uint32_t pid = 0;
  std::string name;  // as /proc/PID/maps has it
  std::string link;  // the mapping's entry of /proc/PID/map_files
};

// Whether each of these files can be opened, or attached (System V), by who does not map it now: it has a name, or a
// process that is not in `known` holds it. True where it cannot be told.
[[nodiscard]] std::vector<bool> are_open_to_others(const std::vector<MappedFile>& files, const AskedAround& around);

// Whether a process has io_uring, by what it holds and maps and by the kernel's threads in it.
[[nodiscard]] bool has_io_uring(std::uint32_t pid);

}  // namespace uscope::tracer
