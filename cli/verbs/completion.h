// `uscope completion bash`: a script that makes the shell complete verbs, options and their values. It is made from the
// declarations that the command line itself is parsed with, so it cannot lag behind them.
#pragma once

#include <string>

#include "cli/verbs/invocation.h"

namespace uscope::cli {

// To be called after all other verbs, with the app that holds them.
void add_completion(CLI::App& app, Invocation& invocation);

[[nodiscard]] std::string bash_completion(const CLI::App& app);

}  // namespace uscope::cli
