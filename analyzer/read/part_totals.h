// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// The loader's totals, counted anew for a part of the recording.
#pragma once

#include "analyzer/read/catalog.h"
#include "analyzer/read/part.h"
#include "store/db/database.h"
#include "support/result.h"

namespace uscope::analyzer {

// Afterwards the tables cell, cell_latency, latency, error_cell, thread_total, program_total, object_total, gap,
// gap_total, stack_end, guessed_stack, notable_event and signal have what belongs to the part, for every statement of
// this connection that names them. The file stays as it is. A call counts where it was entered, with all its time, and
// a gap where it began. Reads the events of the part's threads once. Call it once, after count_as_app() and before
// writing is forbidden. An error if the store is one of an older version, which does not tell what calls are about.
[[nodiscard]] Result<void> count_part(const store::Database& database, const Catalog& catalog, const Part& part);

}  // namespace uscope::analyzer
