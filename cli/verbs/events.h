// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// `uscope events`: single calls, as strace prints them.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "analyzer/read/event_query.h"
#include "cli/terminal/output.h"
#include "cli/verbs/invocation.h"

namespace uscope::cli {

struct EventsOptions {
  std::filesystem::path file;
  analyzer::EventFilter filter;
  std::string calls;                // -e, as given; empty = all
  std::vector<std::string> errors;  // --errno, names or numbers
  std::string slower;               // durations as given; empty = none
  std::string since;
  std::string until;
  std::vector<std::string> app_modules;  // globs
  bool stack = false;
  Format format = Format::kText;
};

void add_events(CLI::App& app, Invocation& invocation);
[[nodiscard]] Result<int> run_events(const EventsOptions& options);

}  // namespace uscope::cli
