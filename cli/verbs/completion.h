// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// `uscope completion bash`: prints a script that makes the shell complete verbs, options and their values. It is
// generated from the declarations that also parse the command line, so both always agree.
#pragma once

#include <string>

#include "cli/options/command_line.h"

namespace uscope::cli {

// Call it after all other verbs, with the command line that holds them.
void add_completion(CommandLine& line);

[[nodiscard]] std::string bash_completion(const CommandLine& line);

}  // namespace uscope::cli
