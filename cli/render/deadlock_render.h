// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// Renders a diagnosis for people and for programs.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

#include "analyzer/deadlock/deadlock.h"
#include "cli/terminal/text_width.h"

namespace uscope::cli {

// `stacks`: also of the threads that no finding names.
[[nodiscard]] std::string deadlock_text(const analyzer::Diagnosis& diagnosis, TextWidth width, bool stacks = false);
// docs/json/deadlock.schema.json
[[nodiscard]] nlohmann::ordered_json deadlock_value(const analyzer::Diagnosis& diagnosis);
[[nodiscard]] std::string deadlock_json(const analyzer::Diagnosis& diagnosis);

// The wait-for graph in the language of graphviz: threads in the boxes of their processes, those of findings in red.
[[nodiscard]] std::string deadlock_dot(const analyzer::Diagnosis& diagnosis);

}  // namespace uscope::cli
