// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// The target of `uscope record`: a command, or applications by name, process or control group.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "cli/session/record_plan.h"
#include "support/result.h"
#include "tracer/recorder/recorder.h"

namespace uscope::cli {

// Fills launch, target and config.target. Returns an error if no or several kinds of target are given, or if a process
// or control group does not exist.
Result<void> set_target(const RecordVerbOptions& options, tracer::RecordOptions& out);

// For people and the store: "make", "app nginx, php-fpm", "pid 1, 2", "cgroup /system.slice/x".
[[nodiscard]] std::string describe_target(const RecordVerbOptions& options);

// "no process is called redis; did you mean redis-server (pid 12)?", names escaped; "" if nothing is like these names.
[[nodiscard]] std::string near_misses(const std::vector<tracer::MissingName>& missing);

// Which processes the recording waits for, by name and pid, after the command has ended.
[[nodiscard]] std::string left_over_text(const std::vector<std::pair<std::string, std::uint32_t>>& processes);

// What `record` and `top` found running, before they wait: how many threads, or that there are none yet, and which
// names no process has. Every line fits 80 columns.
[[nodiscard]] std::string found_text(const RecordVerbOptions& options, const tracer::FoundRunning& found);
// Prints that.
void print_found(const RecordVerbOptions& options, const tracer::FoundRunning& found);

}  // namespace uscope::cli
