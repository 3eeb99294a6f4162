// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// What all verbs have in common on the command line: help within 80 columns, values that cannot be meant, and errors
// that say what was probably meant.
#pragma once

#include "support/result.h"

namespace CLI {
class App;
class ParseError;
}  // namespace CLI

namespace uscope::cli {

// Help of `app` and of the verbs that are added later fits 80 columns. Call it before they are added.
void set_help_format(CLI::App& app);

// Every option of every verb that takes a value refuses an empty one, `--`, and the name of another of the verb's
// options: the value was forgotten. Call it when all verbs have been added.
void refuse_forgotten_values(CLI::App& app);

// What is wrong with a command line that `app` could not parse, and what to write instead.
[[nodiscard]] Error usage_error(const CLI::App& app, const CLI::ParseError& problem);

}  // namespace uscope::cli
