// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// The totals that the loader counted over all events (cell, latency, thread_total, object_total, notable_event, gap,
// gap_total), so that a summary need not read each event.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "analyzer/read/catalog.h"
#include "analyzer/read/part.h"

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
  std::uint64_t bytes = 0;         // that calls transferred through descriptors
  std::vector<LatencyStep> steps;  // by duration

  // The value of the smallest step that at least `percent` of the durations do not exceed; 0 if there are none.
  [[nodiscard]] std::uint64_t percentile(double percent) const;
};

struct ProcessTotals {
  std::uint64_t events = 0;
  std::uint64_t errors = 0;
};

struct ThreadTotals {
  std::uint64_t events = 0;
  std::uint64_t errors = 0;
  std::uint64_t total_ns = 0;
  std::uint64_t wait_ns = 0;  // in calls that wait
  std::uint64_t gap_ns = 0;   // outside of calls
};

// What a thread did in one program: several where it executed another one.
struct ProgramTotals {
  ThreadRowId thread;
  ImageRowId image;  // may be none
  std::uint64_t events = 0;
  std::uint64_t errors = 0;
  std::uint64_t total_ns = 0;
  std::uint64_t wait_ns = 0;
};

// What a gap begins or ends with: a call's return or entry, the beginning or end of tracing, or the thread's own.
enum class GapEdge { kCall, kTracing, kLeft, kThread };

// From the columns `since` and `until` of gap and gap_total.
[[nodiscard]] GapEdge gap_edge(std::string_view name);

struct SingleGap {
  ThreadRowId thread;
  std::int64_t ts_ns = 0;  // CLOCK_MONOTONIC
  std::int64_t ns = 0;
  GapEdge since = GapEdge::kCall;
  GapEdge until = GapEdge::kCall;
  EventRowId before;      // none where it does not begin with a call
  EventRowId after;       // none where it does not end with one
  bool doubtful = false;  // calls of the thread may have been lost there
};

// All gaps between the same two calls with the same stacks.
struct GapTotal {
  std::uint64_t gaps = 0;
  std::int64_t total_ns = 0;
  SingleGap longest;  // `doubtful` is not known
};

struct SingleCall {
  EventRowId event_id;
  std::int64_t ns = 0;
};

struct EventTotals {
  std::uint64_t events = 0;
  std::uint64_t errors = 0;
  std::uint64_t open = 0;  // of system calls, so the next
  std::uint64_t timed = 0;
  std::vector<KindTotals> kinds;          // like Catalog::kinds
  std::vector<ProcessTotals> processes;   // like Catalog::processes
  std::vector<ThreadTotals> threads;      // like Catalog::threads
  std::vector<ProgramTotals> programs;    // by thread
  std::uint64_t gaps = 0;                 // times that a thread spent outside of calls
  std::uint64_t gap_pairs = 0;            // distinct pairs of calls around them
  std::vector<SingleCall> slowest;        // by duration, of calls that do not wait
  std::vector<SingleCall> longest_waits;  // by duration, of those that do
  std::vector<SingleGap> longest_gaps;    // at most as many as the loader stored (1000)
  std::vector<GapTotal> gap_totals;       // by their sum, at most kGapPairsRead
  std::vector<SingleCall> waiting;        // open calls, by time waited until the trace's end
};

// How many pairs of calls are read, whatever is shown of them: a reader may sum them further.
constexpr std::size_t kGapPairsRead = 1000;

// Keeps `keep` single calls in each list. If that is more than the loader stored (1000), the slowest, and the longest
// waits, are searched in all events of the part, for which the totals are: of a recording or, after count_part(), of
// less.
[[nodiscard]] Result<EventTotals> read_totals(const store::Database& database, const Catalog& catalog, const Part& part,
                                              std::size_t keep);

}  // namespace uscope::analyzer
