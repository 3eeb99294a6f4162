// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// `uscope query`: a question in SQL, asked of a stored trace or of what runs.
#pragma once

#include <string>

#include "cli/options/command_line.h"
#include "cli/render/query_render.h"
#include "cli/session/record_plan.h"

namespace uscope::cli {

struct QueryOptions {
  std::string first;         // the question, or the file before it
  Words rest;                // what follows
  RecordVerbOptions record;  // only target, calls, events beside them, backend, modules, duration
  std::string every = "1s";
  bool once = false;
  std::string output;  // "": none
  bool force = false;
  AnswerFormat format = AnswerFormat::kTable;
  bool app_runtime = false;
  bool list = false;
  bool explain = false;
};

void add_query(CommandLine& line);
[[nodiscard]] Result<int> run_query(const QueryOptions& options);

}  // namespace uscope::cli
