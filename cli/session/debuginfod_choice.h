// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// `--debuginfod`, for the verbs that find names: the only option with which uscope contacts a server.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>

#include "support/result.h"
#include "symbolizer/debug_files/debuginfod.h"

namespace uscope::cli {

struct DebuginfodChoice {
  std::string servers;  // empty: option not given; "true": the servers of DEBUGINFOD_URLS; else URLs
  std::string timeout = "10s";
};

// Returns nullopt if the option was not given. Errors: see Debuginfod::create.
Result<std::optional<symbolizer::Debuginfod>> open_debuginfod(const DebuginfodChoice& choice);

// "debuginfod: 3 of 5 debug files found, 1 not known to the servers, 1 without an answer in time"; not escaped.
std::string debuginfod_text(const symbolizer::DebuginfodFigures& figures);
nlohmann::ordered_json debuginfod_json(const symbolizer::DebuginfodFigures& figures);

}  // namespace uscope::cli
