// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// `uscope top`: what running applications call, and from where, refreshed until the user quits.
#pragma once

#include <string>

#include "cli/options/command_line.h"
#include "cli/render/top_render.h"
#include "cli/session/record_plan.h"
#include "cli/terminal/output.h"

namespace uscope::cli {

struct TopVerbOptions {
  RecordVerbOptions record;  // only target, calls, backend, modules, duration
  std::string interval = "1s";
  bool once = false;
  TopChoice choice;  // what is shown at first
  bool app_runtime = false;
  unsigned lines = 0;  // 0: as many as fit on the terminal, or 20
  Format format = Format::kText;
};

void add_top(CommandLine& line);
Result<int> run_top(const TopVerbOptions& options);

}  // namespace uscope::cli
