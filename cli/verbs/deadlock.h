// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// `uscope deadlock`: which threads wait for each other, or for a wake that cannot come.
#pragma once

#include <cstddef>
#include <filesystem>
#include <string>

#include "analyzer/deadlock/deadlock.h"
#include "cli/options/command_line.h"
#include "cli/session/record_plan.h"
#include "cli/terminal/output.h"

namespace uscope::cli {

constexpr int kDeadlockError = 2;  // exit status

struct DeadlockOptions {
  std::filesystem::path file;  // either this or `running`
  RecordVerbOptions running;
  Format format = Format::kText;
};

void add_deadlock(CommandLine& line);
// Returns 0 if nothing was found, 1 for a deadlock or a stall.
[[nodiscard]] Result<int> run_deadlock(const DeadlockOptions& options);

// Prints a diagnosis and returns the verb's exit status.
[[nodiscard]] Result<int> show_diagnosis(const analyzer::Diagnosis& diagnosis, Format format);

}  // namespace uscope::cli
