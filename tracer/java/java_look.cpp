// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "tracer/java/java_look.h"

#include <cstddef>

namespace uscope::tracer {

static_assert(static_cast<int>(MonitorWait::What::kEnter) == USC_MONITOR_ENTER &&
              static_cast<int>(MonitorWait::What::kWait) == USC_MONITOR_WAIT &&
              static_cast<int>(MonitorWait::What::kPark) == USC_MONITOR_PARK);

MonitorRecord record_of(const MonitorWait& wait) {
  constexpr std::size_t kMostText = 4096;
  const std::string of_class = wait.class_name.substr(0, kMostText);
  const std::string thread = wait.java_thread.substr(0, kMostText);
  MonitorRecord record;
  record.text = of_class + thread;
  record.fixed.owner_tid = wait.owner == MonitorWait::Owner::kThread ? wait.owner_tid : 0;
  record.fixed.object = wait.object;
  record.fixed.what = static_cast<__u8>(wait.what);
  record.fixed.class_bytes = static_cast<__u16>(of_class.size());
  record.fixed.thread_bytes = static_cast<__u16>(thread.size());
  return record;
}

}  // namespace uscope::tracer
