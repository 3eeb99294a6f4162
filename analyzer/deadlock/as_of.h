// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// A recording as it stood at a moment.
#pragma once

#include <cstdint>

#include "analyzer/read/catalog.h"
#include "store/db/database.h"
#include "support/result.h"

namespace uscope::analyzer {

// Afterwards the tables have what they would have if tracing had ended at that moment (CLOCK_MONOTONIC, before the end
// of the trace), for every statement of this connection that names them: calls that were under way had not returned,
// threads and processes that ended later lived. What is looked at once, when tracing ends, is not known: memory of
// waiting threads but for what they saw when they began to wait, descriptors, file locks, monitors. Call it once.
// A futex wait that somebody ended later has `asleep` kWokenLater.
constexpr std::int64_t kWokenLater = 2;
[[nodiscard]] Result<void> stand_at(const store::Database& database, const Catalog& catalog, std::int64_t ts_ns);

}  // namespace uscope::analyzer
