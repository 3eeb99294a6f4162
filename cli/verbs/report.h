// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// `uscope report`: a trace at a glance.
#pragma once

#include <cstddef>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "analyzer/read/app_modules.h"
#include "cli/options/command_line.h"
#include "cli/terminal/output.h"
#include "cli/verbs/event_options.h"

namespace uscope::cli {

struct ReportOptions {
  std::filesystem::path file;
  std::optional<std::size_t> top;  // lines of each list, 0 = all; nullopt: 8 in text, all in JSON
  EventOptions part;               // which part of the recording
  analyzer::AppChoice app;
  Format format = Format::kText;
  std::optional<std::filesystem::path> html;  // write a page to this file instead
  bool force = false;                         // also replace a file that exists
};

void add_report(CommandLine& line);
[[nodiscard]] Result<int> run_report(const ReportOptions& options);

}  // namespace uscope::cli
