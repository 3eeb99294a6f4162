// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// `uscope events`: single calls, as strace prints them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>

#include "analyzer/read/app_modules.h"
#include "cli/options/command_line.h"
#include "cli/render/events_render.h"
#include "cli/terminal/output.h"
#include "cli/verbs/event_options.h"

namespace uscope::cli {

struct EventsOptions {
  std::filesystem::path file;
  EventOptions events;
  analyzer::AppChoice app;
  std::optional<std::uint64_t> limit;
  std::optional<std::int64_t> id;  // only this event, with others of its thread
  std::size_t around = 5;          // as many before it and after it
  Times times = Times::kRelative;
  bool stack = false;
  Format format = Format::kText;
};

void add_events(CommandLine& line);
[[nodiscard]] Result<int> run_events(const EventsOptions& options);

}  // namespace uscope::cli
