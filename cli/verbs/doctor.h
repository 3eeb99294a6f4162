// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// `uscope doctor`: which backend can run here, and what exactly is missing; how uscope is installed; traces of other
// versions.
#pragma once

#include "cli/options/command_line.h"
#include "cli/terminal/output.h"

namespace uscope::cli {

struct DoctorOptions {
  Format format = Format::kText;
};

void add_doctor(CommandLine& line);
Result<int> run_doctor(const DoctorOptions& options);

}  // namespace uscope::cli
