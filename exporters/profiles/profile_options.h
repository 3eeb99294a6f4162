// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// What pprof's and speedscope's files have in common: all weights of a stack stand in one file.
#pragma once

#include <cstdint>

#include "analyzer/read/event_filter.h"
#include "exporters/profiles/stack_groups.h"

namespace uscope::exporters {

struct ProfileOptions {
  Levels levels{};
  analyzer::EventFilter filter{};  // without `limit`
};

struct ProfileTotals {
  std::uint64_t events = 0;
  std::uint64_t without_time = 0;  // of these: events that have no duration, and count as events alone
};

// What a profile calls a time.
struct TimeName {
  const char* key;    // as a sample type of pprof
  const char* words;  // for people
};

constexpr TimeName time_name(TimeOf time) {
  switch (time) {
    case TimeOf::kCalls:
      return {"calls", "time in calls"};
    case TimeOf::kFunctions:
      return {"functions", "time in functions, from entry to return"};
    case TimeOf::kRunning:
      return {"cpu", "time on the CPU, by samples"};
    case TimeOf::kOffCpu:
      return {"offcpu", "time off the CPU"};
  }
  return {"", ""};
}

}  // namespace uscope::exporters
