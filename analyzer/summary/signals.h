// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// The signals of a trace: how often each was sent and delivered, by whom, and where.
#pragma once

#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "analyzer/summary/summary.h"
#include "store/db/database.h"
#include "support/result.h"

namespace uscope::analyzer {

// One line for each signal that the trace has, by number.
[[nodiscard]] Result<std::vector<SignalLine>> read_signals(const store::Database& database);

using SignalTo = std::pair<std::int64_t, std::int64_t>;  // a receiver's pid, a signal's number

// Who sent each signal to each process last, those left out that the receiver ignored.
[[nodiscard]] Result<std::map<SignalTo, SignalParty>> last_senders(const store::Database& database);

}  // namespace uscope::analyzer
