// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// The user's options for a recording, and their translation for the tracer.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "cli/session/debuginfod_choice.h"
#include "support/result.h"
#include "uscope/record.h"

namespace uscope::tracer {
struct RecordOptions;
}

namespace uscope::cli {

struct RecordVerbOptions {
  std::string output = "uscope.db";
  std::optional<std::string> keep_raw;  // nullopt: the raw trace is removed once it is loaded
  bool force = false;                   // outputs may replace files that are not traces
  bool all_matches = false;             // of `targets`, however many probes these are
  bool keep_environment = false;
  bool force_probe = false;  // of `targets`: also what is refused, if a target names it
  int mode = 4;
  unsigned budget = 64;
  std::string calls = "all";
  std::vector<std::string> paths;    // GLOBs: only calls on objects of such names are kept
  std::vector<std::string> targets;  // events beside system calls (tracer/targets/target.h)
  std::string backend = "auto";
  std::string user;
  std::vector<std::string> app_modules;
  std::vector<std::string> excluded_modules;
  bool no_strings = false;
  std::vector<std::string> environment;  // GLOBs: variables whose values are kept
  std::vector<std::string> redact;
  unsigned string_bytes = USC_STRING_DEFAULT;
  unsigned argument_bytes = USC_ARGV_DEFAULT;
  unsigned data_bytes = 0;  // 0: no contents
  bool signals = false;
  bool print = false;
  bool quiet = false;  // neither status nor summary
  std::string duration;
  std::string max_size;
  std::string until_stall;  // "" = option not given
  unsigned verify_every = 0;
  std::string stap;  // a SystemTap script, or its compiled module; "" = none
  DebuginfodChoice debuginfod;
  bool takes_command = true;         // false: a verb that only looks at what runs
  bool all = false;                  // every process of the machine
  std::vector<std::string> command;  // either this, `all`, or one of the next three
  std::vector<std::string> apps;
  std::vector<std::uint32_t> pids;
  std::vector<std::string> cgroups;
  std::string follow = "tree";
};

// Translates the options for the tracer; the caller sets where the raw trace goes.
Result<tracer::RecordOptions> recorder_options(const RecordVerbOptions& options);

}  // namespace uscope::cli
