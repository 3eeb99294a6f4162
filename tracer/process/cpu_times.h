// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// For how long processes have run on CPUs, by the kernel's own account: what samples are held against.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>

namespace uscope::tracer {

struct ProcessCpuTime {
  std::uint64_t ran = 0;        // ticks of sysconf(_SC_CLK_TCK): its threads, those that have ended, too
  std::uint64_t ran_below = 0;  // and children that it has waited for, with theirs
  std::uint64_t started = 0;    // ticks since boot; with the pid it is the process

  bool operator==(const ProcessCpuTime&) const = default;
};

// Of the text of /proc/PID/stat.
[[nodiscard]] std::optional<ProcessCpuTime> parse_cpu_time(const std::string& stat);

// What processes run between two looks: no more than they really did. A process that has come or gone in between is
// left out.
class CpuTimes {
 public:
  void begin(const std::set<std::uint32_t>& pids);
  [[nodiscard]] std::uint64_t ran_ns() const;

  // A process that was made for the trace, with all that it has waited for.
  [[nodiscard]] static std::uint64_t of_command(std::uint32_t pid);

 private:
  std::map<std::uint32_t, ProcessCpuTime> before_;
};

}  // namespace uscope::tracer
