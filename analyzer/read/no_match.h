// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// Why a filter matches no event: what the trace has in place of the calls, paths and processes that were named.
#pragma once

#include <string>
#include <vector>

#include "analyzer/read/catalog.h"
#include "analyzer/read/event_filter.h"
#include "store/db/database.h"
#include "support/result.h"

namespace uscope::analyzer {

// Sentences without a full stop; none if all that the filter names occurs in the trace.
[[nodiscard]] Result<std::vector<std::string>> why_none_match(const store::Database& database, const Catalog& catalog,
                                                              const EventFilter& filter);

}  // namespace uscope::analyzer
