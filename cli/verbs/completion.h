// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// `uscope completion SHELL`: prints a script that makes the shell complete verbs, options and their values.
#pragma once

#include "cli/options/command_line.h"

namespace uscope::cli {

// Call it after all other verbs, with the command line that holds them.
void add_completion(CommandLine& line);

}  // namespace uscope::cli
