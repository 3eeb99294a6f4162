// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// `uscope tree`: the processes of a trace.
#pragma once

#include <filesystem>
#include <string>

#include "cli/terminal/output.h"
#include "cli/verbs/invocation.h"

namespace uscope::cli {

struct TreeOptions {
  std::filesystem::path file;
  bool images = false;  // one line for each image of a process
  Format format = Format::kText;
};

void add_tree(CLI::App& app, Invocation& invocation);
[[nodiscard]] Result<int> run_tree(const TreeOptions& options);

}  // namespace uscope::cli
