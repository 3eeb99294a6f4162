// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// `uscope tree`: the processes of a trace.
#pragma once

#include <filesystem>
#include <string>

#include "cli/options/command_line.h"
#include "cli/terminal/output.h"

namespace uscope::cli {

struct TreeOptions {
  std::filesystem::path file;
  bool images = false;  // one line for each image of a process
  Format format = Format::kText;
};

void add_tree(CommandLine& line);
[[nodiscard]] Result<int> run_tree(const TreeOptions& options);

}  // namespace uscope::cli
