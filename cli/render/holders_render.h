// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// Who had what open, as text for people and as JSON for programs (docs/json/files.schema.json, `held`).
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

#include "analyzer/files/holders.h"
#include "cli/render/text_table.h"

namespace uscope::cli {

// What `uscope files --open` prints: each group with the stack that opened it.
[[nodiscard]] std::string left_open_text(const analyzer::HolderList& list, TextWidth width);

// What stands below the files: a line for each object, or with `each` for each descriptor. Empty if there are none.
[[nodiscard]] std::string held_by_text(const analyzer::HolderList& list, bool each, TextWidth width);

[[nodiscard]] nlohmann::ordered_json held_json(const analyzer::HolderList& list);

}  // namespace uscope::cli
