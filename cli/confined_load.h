// Loading a raw trace, with the privileges given up that tracing needed: symbols are read out of other people's files.
#pragma once

#include <filesystem>

#include "cli/status_line.h"
#include "store/loader.h"
#include "support/result.h"

namespace uscope::cli {

struct ConfinedLoad {
  std::filesystem::path raw;
  std::filesystem::path output;
  std::filesystem::path keep_raw;  // where the raw trace will be moved; may be empty
  bool network = false;            // debuginfod servers may be asked
};

// For good: this process can do little but write beside `output` and `keep_raw` from here on. SIGINT, SIGTERM and
// SIGHUP, unless they were ignored, end it with nothing written, after a message, as they would have ended it by
// themselves.
Result<store::LoadSummary> load_confined(const ConfinedLoad& paths, store::LoadOptions&& options, StatusLine& status);

}  // namespace uscope::cli
