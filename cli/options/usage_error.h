// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// What is wrong with a command line, and what to write instead.
#pragma once

#include <string>

#include "cli/options/command_line.h"
#include "support/result.h"

namespace uscope::cli {

struct Refusal {
  std::string problem;  // as the parser says it
  const Verb* verb;     // nullptr if the line names none
  Words left_over;      // what nothing takes
};

[[nodiscard]] Error usage_error(const CommandLine& line, const Refusal& refusal);

}  // namespace uscope::cli
