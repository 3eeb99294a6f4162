// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// What a report says of all events together, counted while they are loaded, so that no reader has to look at each.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <tuple>
#include <vector>

#include "store/db/row_ids.h"
#include "store/db/table_writer.h"
#include "trace/latency.h"

namespace uscope::store {

// As many of the slowest calls are kept in notable_event; as many of those that wait, and as many of the others.
constexpr std::size_t kSlowestKept = 1000;

class EventTotals {
 public:
  struct Facts {
    EventRowId id;
    KindRowId kind;
    FrameRowId trigger;                     // may be none
    std::optional<std::uint64_t> duration;  // of calls that returned
    std::int64_t error = 0;                 // positive; 0: it did not fail
    bool open = false;                      // never returned
    bool waits = false;                     // a call that waits (syscalls/call_traits.h)
    bool is_call = false;                   // a system call: no other event is notable
  };

  void add(const Facts& event) {
    if (event.duration) add_duration(event);
    if (event.error != 0) add_error(event);
    if (event.open && event.is_call) open_.push_back(event.id);
  }

  // Writes latency, error_cell and notable_event.
  Result<void> write(const TableWriter& tables);

 private:
  struct Slow {
    std::uint64_t duration = 0;
    EventRowId id;
  };
  static bool slower(const Slow& a, const Slow& b) {
    return a.duration != b.duration ? a.duration > b.duration : a.id < b.id;
  }
  struct Errors {
    std::uint64_t events = 0;
    EventRowId first;
  };
  void add_duration(const Facts& event);
  void add_error(const Facts& event) {
    Errors& errors = errors_[{event.kind, event.error, event.trigger}];
    if (errors.events++ == 0) errors.first = event.id;
  }

  std::vector<trace::LatencySketch> latencies_;                               // by kind - 1
  std::map<std::tuple<KindRowId, std::int64_t, FrameRowId>, Errors> errors_;  // by kind, error, trigger
  std::vector<Slow> slowest_;                                                 // a heap, the fastest first
  std::vector<Slow> longest_waits_;                                           // the same
  std::vector<EventRowId> open_;
};

}  // namespace uscope::store
