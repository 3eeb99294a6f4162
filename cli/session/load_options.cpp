// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "cli/session/load_options.h"

namespace uscope::cli {

store::LoadOptions load_options(const std::vector<std::unique_ptr<tracer::File>>& files, StatusLine& status) {
  store::LoadOptions options;
  options.progress = [&status](double fraction) {
    status.progress("loading", static_cast<std::uint64_t>(fraction * 1000), 1000);
  };
  options.open_module = [&files](const symbolizer::ModuleRequest& request) {
    symbolizer::HeldModule held;
    const std::size_t at = request.file.value();
    if (at >= files.size() || !files[at]) return held;
    held.copy = files[at]->kept;
    held.place = files[at]->place;
    held.was_read = !files[at]->facts.exec_segments.empty();
    return held;
  };
  return options;
}

}  // namespace uscope::cli
