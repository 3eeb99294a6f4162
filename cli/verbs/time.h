// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// `uscope time`: where the time of an application goes, from samples, times off the CPU, and calls.
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

struct TimeOptions {
  std::filesystem::path file;
  EventOptions scope;
  bool by_peer = false;
  std::optional<std::size_t> top;  // lines of each list, 0 = all
  analyzer::AppChoice app;
  Format format = Format::kText;
};

void add_time(CommandLine& line);
[[nodiscard]] Result<int> run_time(const TimeOptions& options);

}  // namespace uscope::cli
