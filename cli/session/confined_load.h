// Loading a raw trace, with the privileges given up that tracing needed: symbols are read out of other people's files.
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
  std::vector<int> folders;      // open ones in which files get their names afterwards; the output's above all
  bool network = false;          // debuginfod servers may be asked
};

// For good: this process can do little but write in `folders` from here on. SIGINT, SIGTERM and SIGHUP, unless they
// were ignored, end it with nothing written, after a message, as they would have ended it by themselves.
Result<store::LoadSummary> load_confined(const ConfinedLoad& how, trace::RawReader&& raw, store::OutputFile&& output,
                                         store::LoadOptions&& options, StatusLine& status);

}  // namespace uscope::cli
