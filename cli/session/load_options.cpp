// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "cli/session/load_options.h"

#include <unistd.h>

#include "support/unique_fd.h"

namespace uscope::cli {

store::LoadOptions load_options(const std::vector<std::unique_ptr<tracer::File>>& files, StatusLine& status) {
  store::LoadOptions options;
  options.progress = [&status](double fraction) {
    status.progress("loading", static_cast<std::uint64_t>(fraction * 1000), 1000);
  };
  options.open_module = [&files](const symbolizer::ModuleRequest& request) {
    symbolizer::HeldModule held;
    if (request.file < files.size() && files[request.file] && files[request.file]->fd) {
      held.fd.reset(dup(files[request.file]->fd.get()));
      held.copied = files[request.file]->copied;
    }
    return held;
  };
  return options;
}

}  // namespace uscope::cli
