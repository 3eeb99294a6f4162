// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// Descriptors that no longer are what a call waits for: another thread of the process has closed the number, or put
// something else there (dup2), since the call began. The call goes on with what it began with.
#pragma once

#include "analyzer/deadlock/last_calls.h"
#include "analyzer/deadlock/look.h"
#include "store/db/database.h"
#include "support/result.h"

namespace uscope::analyzer {

// Fills Look::renumbered for waits that began in the trace.
[[nodiscard]] Result<void> find_changed_numbers(const store::Database& database, const LastCalls& calls, Look& look);

}  // namespace uscope::analyzer
