// `--debuginfod`, of the verbs that give names: the only way by which uscope asks a server for anything.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>

#include "support/result.h"
#include "symbolizer/debug_files/debuginfod.h"

namespace uscope::cli {

struct DebuginfodChoice {
  std::string servers;  // empty: not asked for; "true": those of DEBUGINFOD_URLS; else URLs
  std::string timeout = "10s";
};

// Nothing where it was not asked for. Errors: see Debuginfod::create.
Result<std::optional<symbolizer::Debuginfod>> open_debuginfod(const DebuginfodChoice& choice);

// "debuginfod: 3 of 5 debug files found, 1 not known to the servers, 1 without an answer in time"; not escaped.
std::string debuginfod_text(const symbolizer::DebuginfodFigures& figures);
nlohmann::ordered_json debuginfod_json(const symbolizer::DebuginfodFigures& figures);

}  // namespace uscope::cli
