// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// A program whose calls begin and end in all the ways there are.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <map>
#include <vector>

namespace uscope::test {

// Does the process wait for something?
bool sleeps(pid_t process);

// Calls that end alike.
struct CallEnds {
  long number;
  std::int64_t how;    // enum usc_how
  std::int64_t error;  // 0: none
  long calls;
};

// Of the calls that the program makes always as often.
std::vector<CallEnds> ends_in_all_ways();
// The same by number alone.
std::map<long, long> calls_in_all_ways();

// How long the program's one nanosleep takes at least: it has then been written as a call under way.
constexpr std::int64_t kLongSleepNs = 3'800'000'000;

// Makes them; returns 0. `again`: as the program that it executes.
int call_in_all_ways(bool again);

}  // namespace uscope::test
