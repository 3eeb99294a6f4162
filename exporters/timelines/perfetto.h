// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// The trace that ui.perfetto.dev and trace_processor read (protobuf).
#pragma once

#include "analyzer/read/catalog.h"
#include "analyzer/read/event_filter.h"
#include "exporters/bytes.h"
#include "exporters/timelines/event_words.h"
#include "exporters/timelines/timeline.h"
#include "store/db/database.h"
#include "support/result.h"

namespace uscope::exporters {

// Each thread is a track: what lasts is a slice, within the one that was under way; what happened at one moment is an
// instant; samples are samples of a profiler. Each process has a track of the programs that it was. A flow leads from a
// call that made a thread or process to the first event of that. A track of its own has what is missing from the trace.
// The filter chooses events; processes, threads and losses are all there.
[[nodiscard]] Result<TimelineTotals> write_perfetto(const store::Database& database, const analyzer::Catalog& catalog,
                                                    const analyzer::EventFilter& filter, const EventWords& words,
                                                    const Bytes& out);

}  // namespace uscope::exporters
