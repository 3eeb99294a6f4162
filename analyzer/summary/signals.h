// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// The signals of a trace: how often each was sent and delivered, by whom, and where.
#pragma once

#include <vector>

#include "analyzer/summary/summary.h"
#include "store/db/database.h"
#include "support/result.h"

namespace uscope::analyzer {

// One line for each signal that the trace has, by number.
[[nodiscard]] Result<std::vector<SignalLine>> read_signals(const store::Database& database);

}  // namespace uscope::analyzer
