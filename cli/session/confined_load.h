// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// Loads a raw trace after giving up the privileges of tracing: loading reads symbols from files of other users.
#pragma once

#include <filesystem>
#include <vector>

#include "cli/terminal/status_line.h"
#include "store/loader.h"
#include "support/result.h"

namespace uscope::cli {

struct ConfinedLoad {
  std::filesystem::path raw;     // for messages
  std::filesystem::path output;  // for messages
  std::vector<int> folders;      // open folders in which files get their names afterwards; above all the output's
  bool network = false;          // debuginfod servers may be queried
};

// Confines this process for good: from here on it can do little but write in `folders`. SIGINT, SIGTERM and SIGHUP,
// unless they were ignored, end it after a message and without output, as they would by default.
Result<store::LoadSummary> load_confined(const ConfinedLoad& how, trace::RawReader&& raw, store::OutputFile&& output,
                                         store::LoadOptions&& options, StatusLine& status);

}  // namespace uscope::cli
