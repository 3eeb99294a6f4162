// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// How many numbers lie in which steps of bucket(x).
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

namespace uscope::query {

// One value of SQLite's has many: a BLOB of them, one behind the other.
struct StepCount {
  std::int64_t end;
  std::uint64_t events;
  bool operator==(const StepCount&) const = default;
};

// Each step once, in the order of their ends.
using StepCounts = std::vector<StepCount>;

// Steps most often come in their order.
inline void add_step(StepCounts& into, const StepCount& more) {
  if (into.empty() || into.back().end < more.end) return into.push_back(more);
  const auto place = std::lower_bound(into.begin(), into.end(), more.end,
                                      [](const StepCount& step, std::int64_t end) { return step.end < end; });
  if (place->end == more.end)
    place->events += more.events;
  else
    into.insert(place, more);
}

}  // namespace uscope::query
