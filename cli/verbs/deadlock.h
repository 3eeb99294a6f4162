// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// `uscope deadlock`: which threads wait for each other, or for a wake that cannot come.
#pragma once

#include <cstddef>
#include <filesystem>
#include <optional>
#include <string>

#include "analyzer/deadlock/deadlock.h"
#include "cli/options/command_line.h"
#include "cli/session/record_plan.h"
#include "cli/terminal/output.h"
#include "cli/verbs/event_options.h"

namespace uscope::cli {

constexpr int kDeadlockError = 2;  // exit status

constexpr int kUndecided = 3;  // exit status

enum class DeadlockFormat { kText, kJson, kDot };

struct DeadlockOptions {
  std::filesystem::path file;  // either this or `running`
  RecordVerbOptions running;
  EventOptions part;  // which waits are shown, and as of when; of `file`, the pids of `running` belong to it
  DeadlockFormat format = DeadlockFormat::kText;
  bool stacks = false;                        // of all threads that wait, in text
  std::optional<std::filesystem::path> html;  // write a page to this file instead
  bool force = false;                         // also replace a file that exists
};

void add_deadlock(CommandLine& line);
// Returns 0 if nothing was found, 1 for a deadlock or a stall, 3 if waits cannot be followed.
[[nodiscard]] Result<int> run_deadlock(const DeadlockOptions& options);

// Prints a diagnosis and returns the verb's exit status.
[[nodiscard]] Result<int> show_diagnosis(const analyzer::Diagnosis& diagnosis, const DeadlockOptions& options);

}  // namespace uscope::cli
