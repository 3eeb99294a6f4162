// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// `uscope list`: what can be traced here beside system calls, with arguments' names and types, and why something
// cannot.
#pragma once

#include <string>

#include "cli/options/command_line.h"
#include "cli/session/record_plan.h"
#include "cli/terminal/output.h"

namespace uscope::cli {

struct ListOptions {
  std::string pattern;          // "" = the classes with the number of targets in each
  RecordVerbOptions processes;  // apps and pids of it: whose programs and libraries are looked at
  bool refused = false;         // shows what cannot be traced, each by name, and nothing else
  Format format = Format::kText;
};

void add_list(CommandLine& line);
[[nodiscard]] Result<int> run_list(const ListOptions& options);

}  // namespace uscope::cli
