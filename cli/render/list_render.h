// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// What can be traced, as text and JSON (`uscope list`).
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "cli/terminal/text_width.h"
#include "tracer/targets/target.h"
#include "tracer/targets/target_search.h"

namespace uscope::cli {

struct ClassLine {
  tracer::TargetClass what = tracer::TargetClass::kSample;
  std::optional<std::size_t> targets;  // nullopt: not known, see note
  std::string note;
  std::string why_not;  // why nothing of the class can be traced
};

[[nodiscard]] std::string classes_text(const std::vector<ClassLine>& lines, TextWidth width);
[[nodiscard]] std::string classes_json(const std::vector<ClassLine>& lines);

// A line for each target that can be traced, with its arguments as C declares them, and below how many others cannot
// be, by reason. `refused`: a line for each of those instead; so it is if all are such. Notes are numbered, and stand
// below.
[[nodiscard]] std::string targets_text(const std::vector<tracer::TargetMatch>& matches, bool refused);
[[nodiscard]] std::string targets_json(const std::vector<tracer::TargetMatch>& matches, bool refused);

}  // namespace uscope::cli
