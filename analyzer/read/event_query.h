// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// Reads single events, filtered, in order of time, one by one: memory does not grow with their number.
#pragma once

#include <cstddef>
#include <functional>
#include <string>

#include "analyzer/read/event_filter.h"
#include "analyzer/read/event_row.h"
#include "analyzer/read/row_ids.h"
#include "store/db/database.h"
#include "store/db/statement.h"
#include "support/result.h"

namespace uscope::analyzer {

struct Catalog;

// Calls `row` for each event that matches the filter, by entry time; stops when it returns false.
[[nodiscard]] Result<void> for_each_event(const store::Database& database, const Catalog& catalog,
                                          const EventFilter& filter, const std::function<bool(const EventRow&)>& row);
[[nodiscard]] Result<void> for_each_event(const store::Database& database, const EventFilter& filter,
                                          const std::function<bool(const EventRow&)>& row);

// The same for one event with `around` events of its thread before it, and as many after it. An error if the store has
// no such event.
[[nodiscard]] Result<void> for_event_and_neighbours(const store::Database& database, const Catalog& catalog,
                                                    EventRowId id, std::size_t around,
                                                    const std::function<bool(const EventRow&)>& row);

// Prepares `head` ("SELECT columns"), FROM event e WHERE the filter's conditions, and `tail` (GROUP BY …). The filter's
// limit is ignored, and the order is any.
[[nodiscard]] Result<store::Statement> select_events(const store::Database& database, const Catalog& catalog,
                                                     const EventFilter& filter, const std::string& head,
                                                     const std::string& tail);

}  // namespace uscope::analyzer
