// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// Joins the records of one call to its event. A call that is listed while it is open, or that is attached to, has
// several records; they have the same task and entry.
//
// The rule: a record that ended the call is its event; if there is none, the latest of the others is. The event was
// attached to if any record says so. An event without a stack has that of the latest record of the open call: a call
// that was killed after the attachment has a stack from there only.
//
// CallJoin applies the rule to all records of a call, as the loader has them. OpenCall applies it to records as they
// come, of one task.
#pragma once

#include <cstdint>
#include <optional>

#include "trace/hit.h"
#include "trace/how.h"

namespace uscope::trace {

class CallJoin {
 public:
  // `record` must stay where it is.
  void add(const usc_event& record) {
    is_attached_ = is_attached_ || (record.flags & USC_EVENT_ATTACHED) != 0;
    if (!is_unfinished(record.how)) {
      is_finished_ = true;
      return;
    }
    is_attached_ = is_attached_ || record.how == USC_HOW_ATTACHED;
    if (latest_ == nullptr || record.head.time >= latest_->head.time) latest_ = &record;
  }

  // Whether this record, one of those that were added, is the call's event. Several may be, in a damaged trace.
  [[nodiscard]] bool is_event(const usc_event& record) const {
    return !is_unfinished(record.how) || (!is_finished_ && &record == latest_);
  }
  // Whether complete() changes this event.
  [[nodiscard]] bool has_more_than(const usc_event& event) const {
    return (is_attached_ && (event.flags & USC_EVENT_ATTACHED) == 0) || (event.stack == 0 && latest_ != nullptr);
  }
  // Adds to the event what the other records say.
  void complete(usc_event& event) const {
    if (is_attached_) event.flags |= USC_EVENT_ATTACHED;
    if (event.stack == 0 && latest_ != nullptr) event.stack = latest_->stack;
  }

 private:
  bool is_attached_ = false;
  bool is_finished_ = false;
  const usc_event* latest_ = nullptr;  // of the unfinished ones
};

// The call that a task is in, by its records in the order in which they come. Records of several CPUs' rings may come
// out of order: the return of a call before the record that lists it as open.
class OpenCall {
 public:
  // A record of a call that has not ended. One of a call that is over changes nothing.
  void add(const Event& record);
  // A record that ended a call: the call's event.
  [[nodiscard]] Event end(const Event& record);

  // The event of the call that the task is in, as far as its records have come; nullopt: it is in none.
  [[nodiscard]] const std::optional<Event>& event() const { return event_; }
  // The entry of the last call that is over. A call that was entered later is not over.
  [[nodiscard]] std::uint64_t done_ns() const { return done_ns_; }

 private:
  std::optional<Event> event_;
  std::uint64_t done_ns_ = 0;
};

}  // namespace uscope::trace
