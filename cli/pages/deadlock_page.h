// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// What the page of `uscope deadlock --html` has as data (pages/src/deadlock reads it).
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

#include "analyzer/deadlock/deadlock.h"

namespace uscope::cli {

// `target`: the trace, or what was looked at, as the page names it.
[[nodiscard]] nlohmann::ordered_json deadlock_page(const analyzer::Diagnosis& diagnosis, const std::string& target);

}  // namespace uscope::cli
