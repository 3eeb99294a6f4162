// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// `uscope doctor`: which backend can run here, and what exactly is missing.
#pragma once

#include "cli/terminal/output.h"
#include "cli/verbs/invocation.h"

namespace CLI {
class App;
}

namespace uscope::cli {

struct DoctorOptions {
  Format format = Format::kText;
};

void add_doctor(CLI::App& app, Invocation& invocation);
Result<int> run_doctor(const DoctorOptions& options);

}  // namespace uscope::cli
