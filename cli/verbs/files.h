// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// `uscope files`: which files, sockets and other objects an application used.
#pragma once

#include <filesystem>

#include "analyzer/files/files.h"
#include "cli/options/command_line.h"
#include "cli/terminal/output.h"
#include "cli/verbs/event_options.h"

namespace uscope::cli {

struct FilesOptions {
  std::filesystem::path file;
  analyzer::FileQuery query;
  EventOptions part;  // which part of the recording
  bool open = false;  // list what was left open
  bool app_runtime = false;
  Format format = Format::kText;
};

void add_files(CommandLine& line);
[[nodiscard]] Result<int> run_files(const FilesOptions& options);

}  // namespace uscope::cli
