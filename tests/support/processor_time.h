// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// What work costs, however busy the machine is.
#pragma once

#include <ctime>

namespace uscope::test {

// Seconds of processor time that this process takes for it, all threads together.
inline double processor_seconds_of(const auto& work) {
  const auto now = [] {
    timespec time{};
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
    return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_nsec) / 1e9;
  };
  const double begin = now();
  work();
  return now() - begin;
}

}  // namespace uscope::test
