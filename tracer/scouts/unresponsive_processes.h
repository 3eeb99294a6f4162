// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// The processes that did not answer a scout, and the time that was spent waiting for each of them and for all.
#pragma once

#include <cstdint>
#include <unordered_map>
#include <utility>
#include <vector>

#include "tracer/scouts/waiting_debt.h"

namespace uscope::tracer {

// If nothing came from a scout for this long, and it does not run, it hangs.
inline constexpr int kScoutPatienceMs = 250;

class UnresponsiveProcesses {
 public:
  // Records that a process did not answer after `waited_ns`: it is left alone for a multiple of that, longer each time.
  void add(std::uint32_t pid, std::uint64_t waited_ns);
  [[nodiscard]] bool is_let_be(std::uint32_t pid) const;
  // Records a process that did not answer but will be queried again.
  void note(std::uint32_t pid) { unreported_.push_back(pid); }
  // One entry for each time that a process did not answer, since the last call.
  std::vector<std::uint32_t> take() { return std::exchange(unreported_, {}); }

  // Records time in which tracing stood still for a process (0: for none in particular).
  void owe(std::uint32_t pid, std::uint64_t waited_ns);
  // Whether tracing has lately stood still for long.
  [[nodiscard]] bool has_waited_long() const;
  // Whether tracing may not wait for this process now.
  [[nodiscard]] bool owes_too_much(std::uint32_t pid) const;

 private:
  struct Silence {
    std::uint64_t until_ns = 0;
    std::uint64_t rest_ns = 0;
  };

  std::unordered_map<std::uint32_t, Silence> silent_;
  WaitingDebt debt_;  // for all processes
  std::unordered_map<std::uint32_t, WaitingDebt> debts_;
  std::vector<std::uint32_t> unreported_;
};

}  // namespace uscope::tracer
