// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// Threads under the names and users that they had, as tasks of an interval's trace (live/window/guises.h).
#pragma once

#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "live/window/kept_definitions.h"
#include "live/window/window_trace.h"
#include "support/result.h"
#include "trace/ids.h"
#include "uscope/record.h"

namespace uscope::query {

// Tasks in a trace that stand for tasks under the name and user that they had once: one for each task and guise among
// its events.
class StandIns {
 public:
  // `definitions` must outlive this object.
  explicit StandIns(const live::KeptDefinitions& definitions) : definitions_(definitions) {}

  // Gives the event its image, and a task that has the name and user which its own had.
  void give(usc_event& event);
  // Defines the tasks that events were given.
  Result<void> write(live::WindowTrace& to) const;

 private:
  const live::KeptDefinitions& definitions_;
  std::map<std::pair<trace::TaskId, trace::ImageId>, std::uint32_t> serials_;
  std::vector<usc_task> tasks_;
};

}  // namespace uscope::query
