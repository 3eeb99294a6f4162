// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// The command as a whole: its name, what it is for, and its verbs. For the command itself, and for what writes its
// manual.
#pragma once

#include "cli/options/command_line.h"

namespace uscope::cli {

inline constexpr const char* kProgram = "uscope";
inline constexpr const char* kPurpose =
    "uscope traces a whole application: every process, every system call, and the code that made it.";

// In the order in which the help lists them.
void add_verbs(CommandLine& line);

}  // namespace uscope::cli
