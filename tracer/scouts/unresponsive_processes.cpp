// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "tracer/scouts/unresponsive_processes.h"

#include <algorithm>
#include <cstddef>

#include "support/clock.h"

namespace uscope::tracer {
namespace {

// Tracing stands still no longer than this lately: for one process, and for all of them together.
constexpr double kMostOfOneMs = 600;
constexpr double kMostOfAllMs = 1000;
// How long a process that did not answer is left alone.
constexpr std::uint64_t kRestTimes = 20;  // as a multiple of the time waited
constexpr std::uint64_t kLeastRestNs = 5 * kSecondNs;
constexpr std::uint64_t kLongestRestNs = 600 * kSecondNs;
constexpr std::size_t kMostSilent = 4096;

}  // namespace

bool UnresponsiveProcesses::has_waited_long() const {
  return debt_.left_ms() > kMostOfAllMs;
}

bool UnresponsiveProcesses::owes_too_much(std::uint32_t pid) const {
  if (debt_.left_ms() > kMostOfAllMs + kScoutPatienceMs) return true;
  const auto found = debts_.find(pid);
  return found != debts_.end() && found->second.left_ms() > kMostOfOneMs;
}

void UnresponsiveProcesses::owe(std::uint32_t pid, std::uint64_t waited_ns) {
  debt_.add(waited_ns);
  if (pid == 0) return;
  if (debts_.size() >= kMostSilent) debts_.clear();
  debts_[pid].add(waited_ns);
}

void UnresponsiveProcesses::add(std::uint32_t pid, std::uint64_t waited_ns) {
  note(pid);
  if (pid == 0) return;
  if (silent_.size() >= kMostSilent) silent_.clear();
  Silence& silence = silent_[pid];
  silence.rest_ns = std::clamp(std::max(silence.rest_ns * 2, waited_ns * kRestTimes), kLeastRestNs, kLongestRestNs);
  silence.until_ns = monotonic_ns() + silence.rest_ns;
}

bool UnresponsiveProcesses::is_let_be(std::uint32_t pid) const {
  const auto found = silent_.find(pid);
  return found != silent_.end() && monotonic_ns() < found->second.until_ns;
}

}  // namespace uscope::tracer
