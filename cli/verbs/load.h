// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// `uscope load`: symbolises a raw trace and loads it into a database; also on another machine than the recording's.
#pragma once

#include <filesystem>

#include "cli/options/command_line.h"
#include "cli/session/debuginfod_choice.h"
#include "cli/terminal/output.h"

namespace uscope::cli {

struct LoadVerbOptions {
  std::filesystem::path raw;
  std::filesystem::path output;
  bool force = false;  // also replace a file that is not a database of uscope
  Format format = Format::kText;
  DebuginfodChoice debuginfod;
};

void add_load(CommandLine& line);
[[nodiscard]] Result<int> run_load(const LoadVerbOptions& options);

}  // namespace uscope::cli
