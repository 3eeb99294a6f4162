// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// How tables show a trigger: the application's function that asked for a call.
#pragma once

#include <string>

#include "trace/trigger.h"

namespace uscope::cli {

// The star is explained below the tables, by kFallbackLegend. `Line` has `function` and `fallback`.
template <typename Line>
[[nodiscard]] std::string trigger_cell(const Line& line) {
  if (line.function.empty()) return "(no application frame)";
  return line.function + (line.fallback && line.function != trace::kCutName ? " *" : "");
}

constexpr const char* kFallbackLegend = "\n* no function of the application in the stack: the innermost other one\n";

constexpr const char* kCutLegend =
    "\n(cut): the budget of frames (-S) ended the stack before the application's functions\n";

}  // namespace uscope::cli
