// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "store/model/looks.h"

#include <utility>

namespace uscope::store {

void Looks::mark(const usc_look& look) {
  if (look.end == USC_LOOK_BEGIN) {
    next_ = LookFacts();
    next_.number = look.look;
    open_ = true;
    return;
  }
  if (!std::exchange(open_, false) || look.look != next_.number || look.records != next_.records) return;
  last_ = std::exchange(next_, LookFacts());
  if (!std::exchange(has_first_, true)) first_ = last_;
}

bool Looks::takes(std::uint32_t look) {
  if (!open_ || look != next_.number) return false;
  if (++next_.records > kMostRecords) open_ = false;
  return open_;
}

void Looks::add(const trace::RawRecord& record) {
  switch (record.head.type) {
    case USC_RECORD_LOOK:
      mark(record.as<usc_look>());
      break;
    case USC_RECORD_THREAD_LOOK: {
      const auto thread = record.as<usc_thread_look>();
      if (takes(thread.look)) next_.threads.push_back(thread);
      break;
    }
    case USC_RECORD_WAITED: {
      const auto waited = record.as<usc_waited>();
      if (takes(waited.look)) next_.waits.push_back(waited);
      break;
    }
    case USC_RECORD_RESOURCE: {
      const auto resource = record.as<usc_resource>();
      if (takes(resource.look))
        next_.resources.push_back({std::string(record.data<usc_resource>(0, resource.name_bytes)), resource});
      break;
    }
    case USC_RECORD_HELD_LOCK: {
      const auto lock = record.as<usc_held_lock>();
      if (takes(lock.look)) next_.locks.push_back(lock);
      break;
    }
    case USC_RECORD_MONITOR: {
      const auto monitor = record.as<usc_monitor>();
      const std::size_t bytes = std::size_t{monitor.class_bytes} + monitor.thread_bytes;
      if (takes(monitor.look)) next_.monitors.push_back({std::string(record.data<usc_monitor>(0, bytes)), monitor});
      break;
    }
    case USC_RECORD_LOOK_TROUBLE: {
      const auto trouble = record.as<usc_look_trouble>();
      if (takes(trouble.look))
        next_.troubles.push_back({std::string(record.data<usc_look_trouble>(0, trouble.text_bytes)), trouble});
      break;
    }
    default:
      break;
  }
}

}  // namespace uscope::store
