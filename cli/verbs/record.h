// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// `uscope record`: traces a command, or applications that run already, into a database.
#pragma once

#include "cli/verbs/invocation.h"

namespace CLI {
class App;
}

namespace uscope::cli {

void add_record(CLI::App& app, Invocation& invocation);

}  // namespace uscope::cli
