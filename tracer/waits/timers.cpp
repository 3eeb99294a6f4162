// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "tracer/waits/timers.h"

#include <csignal>
#include <fstream>
#include <string>

namespace uscope::tracer {
namespace {

constexpr std::uint64_t bit_of(int signal) {
  return std::uint64_t{1} << (signal - 1);
}

}  // namespace

// "notify: signal/pid.4711", "notify: thread/tid.4712" (a thread of the program's choice), "notify: none/pid.4711".
bool has_signal_timer(std::istream& timers) {
  for (std::string line; std::getline(timers, line);)
    if (line.starts_with("notify:") && line.find("none/") == std::string::npos) return true;
  return false;
}

// A kernel without names of its functions, or a container that hides the list, tells nothing: a process that sleeps, or
// the tick of a CPU, stands in every list.
RealTimers real_timers_in(std::istream& list) {
  constexpr std::size_t kMost = std::size_t{1} << 20;
  std::size_t bytes = 0;
  bool has_names = false;
  for (std::string line; std::getline(list, line);) {
    bytes += line.size();
    if (bytes > kMost) return RealTimers::kUnknown;
    if (line.find("it_real_fn") != std::string::npos) return RealTimers::kSome;
    if (line.find("hrtimer_wakeup") != std::string::npos || line.find(", tick_") != std::string::npos) has_names = true;
  }
  return has_names ? RealTimers::kNone : RealTimers::kUnknown;
}

std::uint64_t signals_of_timers(RealTimers real, bool one_thread) {
  return (real == RealTimers::kNone ? 0 : bit_of(SIGALRM)) | (one_thread ? 0 : bit_of(SIGVTALRM) | bit_of(SIGPROF));
}

RealTimers real_timers() {
  for (int time = 0; time < 2; time++) {
    std::ifstream file("/proc/timer_list");
    if (const RealTimers found = real_timers_in(file); found != RealTimers::kNone) return found;
  }
  return RealTimers::kNone;
}

}  // namespace uscope::tracer
