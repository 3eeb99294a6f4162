// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// Options that several verbs take.
#pragma once

#include <cstdint>
#include <filesystem>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "analyzer/read/app_modules.h"
#include "analyzer/read/catalog.h"
#include "cli/options/command_line.h"
#include "cli/session/record_plan.h"
#include "cli/terminal/output.h"
#include "store/db/database.h"
#include "support/result.h"

namespace uscope::cli {

// Declares `--format text|json`.
Option* add_format(Verb& verb, Format& format);

// Declares `--color auto|always|never`, which paint_for() keeps to.
void add_color(Verb& verb);
// Declares `--no-pager`, which a Pager keeps to.
void add_no_pager(Verb& verb);

// The largest number that an option takes for which there is no other bound.
constexpr std::uint64_t kMostNumber = std::numeric_limits<std::int64_t>::max();

constexpr std::uint64_t kMostPid = std::uint64_t{1} << 22;  // PID_MAX_LIMIT of the kernel

// The option takes whole numbers from `least` to `most` only. Returns the option.
Option* take_number(Option* option, std::uint64_t least, std::uint64_t most);

// How targets of `-t` begin, for completion.
[[nodiscard]] Words target_words();

// Declares -e, --calls: a set of system calls. Several are taken together.
void add_calls(Verb& verb, std::string& calls, const std::string& description);

// Declares an option that may be given more than once, each time with one GLOB. Names are compared with it as they are,
// and as readers print them: a GLOB with a backslash stands in the list in both forms.
void add_globs(Verb& verb, const std::string& name, std::vector<std::string>& globs, const std::string& help);

// Declares `--html FILE`, which `format` excludes, and `--force`, which belongs to it.
void add_html(Verb& verb, Option* format, std::optional<std::filesystem::path>& html, bool& force);

// Declares `--app-module GLOB` and `--app-runtime` of the readers, which choose_app() carries out.
void add_app_choice(Verb& verb, analyzer::AppChoice& choice);
// The second one alone.
void add_app_runtime(Verb& verb, bool& runtime);
// An error if no module of the trace matches.
[[nodiscard]] Result<void> choose_app(const store::Database& database, const analyzer::AppChoice& choice);

// Says on stderr that no process of the trace goes by one of the GLOBs of --process, and which processes there are.
// Returns whether it did.
bool warn_of_unknown_processes(const std::vector<std::string>& globs, const analyzer::Catalog& catalog);

void add_debuginfod(Verb& verb, DebuginfodChoice& choice);

// Adds --app, --pid, --cgroup and --follow: applications that already run.
void add_running_target(Verb& verb, RecordVerbOptions& options);
// Adds the same, and a command after --.
void add_target(Verb& verb, RecordVerbOptions& options);

}  // namespace uscope::cli
