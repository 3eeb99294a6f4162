// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// The lists of processes and threads of a summary. What a process did before it executed its last program is a line of
// its own.
#pragma once

#include "analyzer/read/catalog.h"
#include "analyzer/read/event_totals.h"
#include "analyzer/read/part.h"
#include "analyzer/summary/summary.h"
#include "store/db/database.h"
#include "support/result.h"

namespace uscope::analyzer {

// Fills `processes`, `threads` and `io_uring`.
[[nodiscard]] Result<void> add_processes_and_threads(const store::Database& database, const Catalog& catalog,
                                                     const Part& part, const EventTotals& totals,
                                                     const SummaryLimits& limits, Summary& summary);

}  // namespace uscope::analyzer
