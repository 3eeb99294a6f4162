// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// What the page of `uscope report --html` has as data. pages/src/report/data.js reads it.
#pragma once

#include <cstddef>
#include <nlohmann/json_fwd.hpp>
#include <string>

#include "analyzer/read/event_filter.h"
#include "store/db/database.h"
#include "support/result.h"

namespace uscope::cli {

// `file` is the trace's name, for commands that the page shows; `part` chooses what the page is about
// (analyzer/read/part.h), `lines` is the length of its lists, 0 = all.
[[nodiscard]] Result<nlohmann::ordered_json> report_page(const store::Database& database, const std::string& file,
                                                         const analyzer::EventFilter& part, std::size_t lines);

}  // namespace uscope::cli
