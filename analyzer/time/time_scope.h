// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// The threads and the span of time that a question about time is limited to.
#pragma once

#include <cstdint>

#include "analyzer/read/catalog.h"
#include "analyzer/read/event_filter.h"

namespace uscope::analyzer {

class TimeScope {
 public:
  // Both must outlive this object. Of the filter only those members count that choose tasks and times. `processes`:
  // GLOBs on any name that the process ever went by; `threads`: on any name of the thread.
  TimeScope(const Catalog& catalog, const EventFilter& filter);

  [[nodiscard]] bool has(const Thread& thread) const;
  [[nodiscard]] bool has(std::int64_t ts_ns) const { return ts_ns >= since_ns_ && ts_ns < until_ns_; }
  // Whether nothing limits it.
  [[nodiscard]] bool is_all() const;

  // CLOCK_MONOTONIC; without a limit the least and the greatest number.
  [[nodiscard]] std::int64_t since_ns() const { return since_ns_; }
  [[nodiscard]] std::int64_t until_ns() const { return until_ns_; }

 private:
  [[nodiscard]] bool has(const Process& process) const;

  const Catalog& catalog_;
  const EventFilter& filter_;
  std::int64_t since_ns_;
  std::int64_t until_ns_;
};

}  // namespace uscope::analyzer
