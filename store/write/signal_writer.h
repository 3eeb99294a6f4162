// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// Writes what was recorded of signals: the table `signal`.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "store/db/database.h"
#include "store/db/row_ids.h"
#include "store/write/frame_writer.h"
#include "trace/event_order.h"
#include "trace/raw_record.h"

namespace uscope::store {

class SignalWriter {
 public:
  // Both must outlive this object; `frames` has run.
  SignalWriter(DatabaseWriter& database, const FrameWriter& frames) : database_(database), frames_(frames) {}

  Result<void> prepare();  // to be called first

  // The event of a usc_signal. The rest of the record is kept until write(): no longer than the event waits for its
  // turn.
  trace::OrderedEvent keep(const trace::RawRecord& record);
  // Writes what was kept of this event, whose row is `event_id`.
  Result<void> write(EventRowId event_id, const trace::OrderedEvent& event);

 private:
  DatabaseWriter& database_;
  const FrameWriter& frames_;
  std::unique_ptr<TableRows> rows_;
  std::vector<usc_signal> kept_;     // by number - 1
  std::vector<std::uint32_t> free_;  // numbers that are used again
};

}  // namespace uscope::store
