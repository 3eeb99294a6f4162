// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// `uscope completion bash`: prints a script that makes the shell complete verbs, options and their values. It is
// generated from the declarations that also parse the command line, so both always agree.
#pragma once

#include <string>

#include "cli/verbs/invocation.h"

namespace uscope::cli {

// Call it after all other verbs, with the app that holds them.
void add_completion(CLI::App& app, Invocation& invocation);

[[nodiscard]] std::string bash_completion(const CLI::App& app);

}  // namespace uscope::cli
