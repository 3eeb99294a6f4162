// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// `uscope export`: a trace in the formats of other tools.
#pragma once

#include <filesystem>
#include <optional>

#include "analyzer/read/app_modules.h"
#include "cli/options/command_line.h"
#include "cli/verbs/event_options.h"
#include "exporters/profiles/folded.h"

namespace uscope::cli {

enum class ExportFormat { kFolded, kSpeedscope, kPprof, kPerfetto, kCtf };

struct ExportOptions {
  std::filesystem::path file;
  std::optional<std::filesystem::path> output;  // nullopt: standard output
  bool force = false;                           // also replace an existing file
  ExportFormat format = ExportFormat::kFolded;
  exporters::FoldedWeight weight = exporters::FoldedWeight::kEvents;
  bool weight_given = false;
  exporters::Levels levels;
  bool levels_given = false;
  EventOptions events;
  analyzer::AppChoice app;
};

void add_export(CommandLine& line);
[[nodiscard]] Result<int> run_export(const ExportOptions& options);

}  // namespace uscope::cli
