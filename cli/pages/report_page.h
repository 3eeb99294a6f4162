// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// What the page of `uscope report --html` has as data (pages/src/report reads it).
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

#include "analyzer/summary/summary.h"

namespace uscope::cli {

// `file` is the trace's name, for commands that the page shows.
[[nodiscard]] nlohmann::ordered_json report_page(const analyzer::Summary& summary, const std::string& file);

}  // namespace uscope::cli
