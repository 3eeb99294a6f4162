// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// `uscope record`: traces a command, or applications that run already, into a database.
#pragma once

#include "cli/options/command_line.h"

namespace uscope::cli {

void add_record(CommandLine& line);

}  // namespace uscope::cli
