// How what was recorded just now is loaded.
#pragma once

#include <memory>
#include <vector>

#include "cli/terminal/status_line.h"
#include "store/loader.h"
#include "tracer/files/file_table.h"

namespace uscope::cli {

// The descriptors that the recording held serve the loader: also of files that are gone by now. Both must outlive the
// options.
[[nodiscard]] store::LoadOptions load_options(const std::vector<std::unique_ptr<tracer::File>>& files,
                                              StatusLine& status);

}  // namespace uscope::cli
