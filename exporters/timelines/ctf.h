// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// A trace in the Common Trace Format 1.8, which babeltrace2 and Trace Compass read: a folder with two files.
#pragma once

#include "analyzer/read/catalog.h"
#include "analyzer/read/event_filter.h"
#include "exporters/bytes.h"
#include "exporters/timelines/event_words.h"
#include "exporters/timelines/timeline.h"
#include "store/db/database.h"
#include "support/result.h"

namespace uscope::exporters {

struct CtfFiles {
  Bytes metadata;
  Bytes stream;
};

// What happened at one moment is an event; what lasts is two, its beginning and its end. Processes, programs and
// threads are events at the beginning, a stack is one before the first event that has it, and a loss at its time; lost
// events also count as the packets' discarded ones, of which readers warn. The filter chooses events; all else is
// there. Memory grows with the number of distinct stacks, and of calls that are under way at one time.
[[nodiscard]] Result<TimelineTotals> write_ctf(const store::Database& database, const analyzer::Catalog& catalog,
                                               const analyzer::EventFilter& filter, const EventWords& words,
                                               const CtfFiles& files);

}  // namespace uscope::exporters
