// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// Counts the events of a cell one by one, as the loader does: for cells that the store does not hold.
#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>
#include <string_view>

#include "analyzer/read/row_ids.h"
#include "store/write/cell_latency.h"
#include "syscalls/errno_names.h"

namespace uscope::analyzer {

// Of a row of the table event, what add() takes for its result: what a function returns is no error.
constexpr const char* kResultOfCall = "iif(kind_id IN (SELECT id FROM kind WHERE class = 'syscall'), result, NULL)";

struct ErrorCount {
  std::uint64_t events = 0;
  EventRowId first_event_id;
};

struct CellCounts {
  std::uint64_t events = 0;
  std::uint64_t errors = 0;
  std::uint64_t open = 0;   // never returned
  std::uint64_t timed = 0;  // events with a duration
  std::uint64_t total_ns = 0;
  EventRowId first_event_id;
  std::map<std::int64_t, ErrorCount> errnos;  // by number, positive
  store::CellLatency latency;

  // Events must come by id. `how` as in the table event.
  void add(EventRowId id, std::optional<std::int64_t> dur_ns, std::optional<std::int64_t> result,
           std::string_view how) {
    if (events++ == 0) first_event_id = id;
    if (dur_ns) {
      const auto duration = static_cast<std::uint64_t>(std::max<std::int64_t>(0, *dur_ns));
      timed++;
      total_ns += duration;
      latency.add(duration);
    } else if (how == "open" || how == "attached") {
      open++;
    }
    if (!result || !syscalls::is_error(*result)) return;
    errors++;
    ErrorCount& count = errnos[-*result];
    if (count.events++ == 0) count.first_event_id = id;
  }
};

}  // namespace uscope::analyzer
