// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// What the page of `uscope diff --html` has as data (pages/src/diff reads it).
#pragma once

#include <nlohmann/json_fwd.hpp>

#include "analyzer/diff/diff.h"

namespace uscope::cli {

// `diff` has a picture (DiffOptions::picture).
[[nodiscard]] nlohmann::ordered_json diff_page(const analyzer::Diff& diff);

}  // namespace uscope::cli
