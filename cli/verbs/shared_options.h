// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// Options that several verbs take.
#pragma once

#include <string>
#include <vector>

#include "cli/session/record_plan.h"
#include "cli/terminal/output.h"
#include "store/db/database.h"
#include "support/result.h"

namespace CLI {
class App;
}

namespace uscope::cli {

// Declares `--format text|json`.
void add_format(CLI::App& verb, Format& format);

// Declares `--app-module GLOB` of the readers, which count_app_modules() carries out.
void add_app_module(CLI::App& verb, std::vector<std::string>& globs);
// An error if no module of the trace matches.
[[nodiscard]] Result<void> count_app_modules(const store::Database& database, const std::vector<std::string>& globs);

void add_debuginfod(CLI::App& verb, DebuginfodChoice& choice);

// Adds --app, --pid, --cgroup and --follow: applications that already run.
void add_running_target(CLI::App& verb, RecordVerbOptions& options);
// Adds the same, and a command after --.
void add_target(CLI::App& verb, RecordVerbOptions& options);

}  // namespace uscope::cli
