// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// Sets of signals as in /proc/PID/status: bit 0 is signal 1.
#pragma once

#include <csignal>
#include <cstdint>
#include <initializer_list>

namespace uscope::analyzer {

constexpr std::uint64_t bits_of(std::initializer_list<int> signals) {
  std::uint64_t bits = 0;
  for (const int signal : signals) bits |= std::uint64_t{1} << (signal - 1);
  return bits;
}

// Signals of faults, and glibc's own two: they come from the program itself.
constexpr std::uint64_t kInnerSignals = bits_of({SIGILL, SIGTRAP, SIGBUS, SIGFPE, SIGSEGV, SIGSYS, 32, 33});

}  // namespace uscope::analyzer
