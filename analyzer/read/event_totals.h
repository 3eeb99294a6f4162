// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// The totals that the loader counted over all events (cell, latency, thread_total, notable_event), so that a summary
// need not read each event.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "analyzer/read/catalog.h"

namespace uscope::analyzer {

struct LatencyStep {
  std::uint64_t up_to_ns = 0;
  std::uint64_t events = 0;
};

struct KindTotals {
  std::uint64_t events = 0;
  std::uint64_t errors = 0;
  std::uint64_t open = 0;
  std::uint64_t total_ns = 0;
  std::uint64_t timed = 0;         // events with a duration
  std::vector<LatencyStep> steps;  // by duration

  // The value of the smallest step that at least `percent` of the durations do not exceed; 0 if there are none.
  [[nodiscard]] std::uint64_t percentile(double percent) const;
};

struct ProcessTotals {
  std::uint64_t events = 0;
  std::uint64_t errors = 0;
};

struct SingleCall {
  EventRowId event_id;
  std::int64_t ns = 0;
};

struct EventTotals {
  std::uint64_t events = 0;
  std::uint64_t errors = 0;
  std::uint64_t open = 0;
  std::uint64_t timed = 0;
  std::vector<KindTotals> kinds;         // like Catalog::kinds
  std::vector<ProcessTotals> processes;  // like Catalog::processes
  std::vector<SingleCall> slowest;       // by duration
  std::vector<SingleCall> waiting;       // open calls, by time waited until the trace's end
};

// Keeps `keep` single calls in each list. If that is more than the loader stored (1000), the slowest are searched in
// all events.
[[nodiscard]] Result<EventTotals> read_totals(const store::Database& database, const Catalog& catalog,
                                              std::size_t keep);

}  // namespace uscope::analyzer
