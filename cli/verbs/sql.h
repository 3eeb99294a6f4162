// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// `uscope sql`: the user's own queries on a trace, in SQL, read-only.
#pragma once

#include <filesystem>
#include <string>

#include "analyzer/read/app_modules.h"
#include "cli/options/command_line.h"
#include "cli/terminal/output.h"

namespace uscope::cli {

struct SqlOptions {
  std::filesystem::path file;
  std::string sql;  // one SELECT, or several separated by `;`
  analyzer::AppChoice app;
  Format format = Format::kText;
};

void add_sql(CommandLine& line);
[[nodiscard]] Result<int> run_sql(const SqlOptions& options);

}  // namespace uscope::cli
