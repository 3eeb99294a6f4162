// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// `uscope diff`: what abnormal runs do that normal runs do not.
#pragma once

#include <cstddef>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "analyzer/diff/diff.h"
#include "analyzer/read/app_modules.h"
#include "cli/options/command_line.h"
#include "cli/terminal/output.h"

namespace uscope::cli {

struct DiffVerbOptions {
  std::vector<std::string> normal;
  std::vector<std::string> abnormal;
  std::vector<std::string> renamed;  // OLD=NEW
  analyzer::AppChoice app;
  std::string per;                 // a set of calls; empty: rates per second
  std::string by = "function";     // function, depth:N, path
  std::optional<std::size_t> top;  // lines of each list, 0 = all; nullopt: 5 in text, 100 in JSON and on pages
  Format format = Format::kText;
  std::optional<std::filesystem::path> html;  // write a page to this file instead
  bool force = false;                         // also replace a file that exists
};

void add_diff(CommandLine& line);
[[nodiscard]] Result<int> run_diff(const DiffVerbOptions& options);

// Parses the options; returns an error if one cannot be understood.
[[nodiscard]] Result<analyzer::DiffOptions> parse_diff(const DiffVerbOptions& options);

}  // namespace uscope::cli
