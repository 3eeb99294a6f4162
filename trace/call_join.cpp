// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "trace/call_join.h"

#include <algorithm>

namespace uscope::trace {

void OpenCall::add(const Event& record) {
  if (record.entry_ns <= done_ns_) return;
  const bool is_known = event_ && event_->entry_ns == record.entry_ns;
  CallJoin join;
  if (is_known) join.add(*event_);
  join.add(record);
  Event latest = !is_known || join.is_event(record) ? record : *event_;
  join.complete(latest);
  event_ = latest;
}

Event OpenCall::end(const Event& record) {
  Event event = record;
  done_ns_ = std::max<std::uint64_t>(done_ns_, record.entry_ns);
  // A call of the same task that was entered later is still open; the end of one that was entered before was lost.
  if (!event_ || event_->entry_ns > record.entry_ns) return event;
  if (event_->entry_ns == record.entry_ns) {
    CallJoin join;
    join.add(*event_);
    join.complete(event);
  }
  event_.reset();
  return event;
}

}  // namespace uscope::trace
