// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// Java's part of a look (include/uscope/records/wait.h).
#pragma once

#include <string>

#include "tracer/java/java_monitors.h"
#include "uscope/record.h"

namespace uscope::tracer {

// The record of a wait, without what is the look's: its number, time and task. `text` lies behind the fixed part.
struct MonitorRecord {
  std::string text;
  usc_monitor fixed{};  // last, because its type has a flexible array at the end
};
[[nodiscard]] MonitorRecord record_of(const MonitorWait& wait);

}  // namespace uscope::tracer
