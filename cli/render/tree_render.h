// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// Renders the processes of a trace, for people and for programs.
#pragma once

#include <cstddef>
#include <string>

#include "analyzer/read/process_tree.h"
#include "cli/terminal/text_width.h"

namespace uscope::cli {

// The programs of a process in order: "bash → make"; consecutive repetitions count once.
[[nodiscard]] std::string programs(const analyzer::ProcessNode& node);
// How it ended: "exit 0", "SIGKILL"; "not known".
[[nodiscard]] std::string ended(const analyzer::ProcessNode& node);
// What is odd about it: "parent unknown".
[[nodiscard]] std::string notes(const analyzer::ProcessNode& node);

[[nodiscard]] std::string tree_text(const analyzer::ProcessTree& tree, bool images, TextWidth width);
// docs/json/tree.schema.json
[[nodiscard]] std::string tree_json(const analyzer::ProcessTree& tree);

}  // namespace uscope::cli
