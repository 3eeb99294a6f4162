// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// Writes what futex calls waited for or woke: the tables `futex_wait` and `futex_wake`.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>

#include "store/db/database.h"
#include "store/db/row_ids.h"
#include "trace/event_order.h"

namespace uscope::store {

class FutexWriter {
 public:
  // `utc_offset_ns`: CLOCK_REALTIME minus CLOCK_MONOTONIC. The database must outlive this object.
  FutexWriter(DatabaseWriter& database, std::int64_t utc_offset_ns)
      : database_(database), utc_offset_ns_(utc_offset_ns) {}

  Result<void> prepare();  // to be called first

  // Writes all futex records of one call, whose row is `event_id`; they may be in any order. A look at a wait that has
  // ended by now says nothing of its end and is left out.
  Result<void> write(EventRowId event_id, const usc_event& event, std::span<const trace::OrderedFutex> futexes);

 private:
  Result<void> write_wait(EventRowId event_id, std::uint64_t entry_ns, const trace::OrderedFutex* entered,
                          const trace::OrderedFutex* seen);
  Result<void> write_wake(EventRowId event_id, const trace::OrderedFutex& wake);
  std::optional<std::int64_t> time_left(const trace::OrderedFutex& wait, std::uint64_t entry_ns) const;

  DatabaseWriter& database_;
  std::int64_t utc_offset_ns_;
  std::unique_ptr<TableRows> wait_rows_;
  std::unique_ptr<TableRows> wake_rows_;
};

// "mm:3:0x7f0000001000", "file:1:2049:0x40"; nothing where it is not known.
[[nodiscard]] std::optional<std::string> futex_key_text(const trace::OrderedFutex& futex);

}  // namespace uscope::store
