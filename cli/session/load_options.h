// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// Load options for a trace that was just recorded.
#pragma once

#include <memory>
#include <vector>

#include "cli/terminal/status_line.h"
#include "store/loader.h"
#include "tracer/files/file.h"

namespace uscope::cli {

// The loader uses the copies that the recording kept of files that may have been deleted since. Both arguments must
// outlive the options.
[[nodiscard]] store::LoadOptions load_options(const std::vector<std::unique_ptr<tracer::File>>& files,
                                              StatusLine& status);

}  // namespace uscope::cli
