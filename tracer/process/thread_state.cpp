// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "tracer/process/thread_state.h"

#include <fmt/core.h>

#include <csignal>
#include <fstream>
#include <sstream>
#include <string>

namespace uscope::tracer {
namespace {

constexpr std::uint64_t bit_of(int number) {
  return std::uint64_t{1} << (number - 1);
}

bool sleeps_in_futex(std::uint32_t tid) {
  std::ifstream file(fmt::format("/proc/{}/wchan", tid));
  std::string function;
  std::getline(file, function);
  const auto names = [&function](const char* part) { return function.find(part) != std::string::npos; };
  // With priority inheritance the thread waits for a lock in the kernel itself.
  return function.empty() || function == "0" || names("futex") || names("rt_mutex");
}

}  // namespace

bool handles_signals(std::uint32_t tid) {
  constexpr int kFirstOfLibc = 32;
  constexpr std::uint64_t kInner = bit_of(SIGILL) | bit_of(SIGTRAP) | bit_of(SIGABRT) | bit_of(SIGBUS) |
                                   bit_of(SIGFPE) | bit_of(SIGSEGV) | bit_of(SIGSYS) | bit_of(kFirstOfLibc) |
                                   bit_of(kFirstOfLibc + 1);
  std::ifstream file(fmt::format("/proc/{}/status", tid));
  for (std::string line; std::getline(file, line);) {
    if (!line.starts_with("SigCgt:")) continue;
    std::uint64_t caught = 0;
    std::istringstream value(line.substr(line.find(':') + 1));
    if (value >> std::hex >> caught) return (caught & ~kInner) != 0;
  }
  return true;
}

std::optional<ThreadState> thread_state_of(std::uint32_t tid) {
  std::ifstream file(fmt::format("/proc/{}/status", tid));
  ThreadState thread;
  int counters = 0;
  for (std::string line; std::getline(file, line);) {
    const std::size_t colon = line.find(':');
    if (colon == std::string::npos) continue;
    const std::string name = line.substr(0, colon);
    std::istringstream value(line.substr(colon + 1));
    if (name == "State") value >> thread.state;
    if (name != "voluntary_ctxt_switches" && name != "nonvoluntary_ctxt_switches") continue;
    std::uint64_t count = 0;
    value >> count;
    thread.switches += count;
    counters++;
  }
  thread.in_futex = sleeps_in_futex(tid);
  constexpr int kCounters = 2;
  return counters == kCounters ? std::optional(thread) : std::nullopt;
}

}  // namespace uscope::tracer
