// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// What the formats of single events share: how they are given their events, and what they say of them.
#pragma once

#include <cstdint>

#include "analyzer/read/catalog.h"
#include "analyzer/read/event_filter.h"
#include "analyzer/read/event_query.h"
#include "analyzer/read/event_row.h"
#include "store/db/database.h"
#include "support/result.h"

namespace uscope::exporters {

struct TimelineTotals {
  std::uint64_t events = 0;
  std::uint64_t unfinished = 0;  // of these: began, and were not seen to end
};

// Calls begin(), add(event) for each event that the filter chooses, by entry time, up to the first error, and finish();
// returns totals().
template <typename Exporter>
[[nodiscard]] Result<TimelineTotals> write_timeline(const store::Database& database, const analyzer::Catalog& catalog,
                                                    const analyzer::EventFilter& filter, Exporter& exporter) {
  if (auto begun = exporter.begin(); !begun) return begun.error();
  Result<void> added;
  auto done = analyzer::for_each_event(database, catalog, filter, [&](const analyzer::EventRow& event) {
    added = exporter.add(event);
    return static_cast<bool>(added);
  });
  if (!done) return done.error();
  if (!added) return added.error();
  exporter.finish();
  return exporter.totals();
}

}  // namespace uscope::exporters
