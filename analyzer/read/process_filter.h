// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// --process: which images go by a name.
#pragma once

#include <string>
#include <vector>

#include "analyzer/read/catalog.h"

namespace uscope::analyzer {

// Whether one of the names that a process with this image goes by matches one of these GLOBs, which are SQLite's. Any
// does if there are none.
[[nodiscard]] bool goes_by(const Image& image, const std::vector<std::string>& globs);

// If no image of the trace goes by one of these GLOBs: the names of all images, sorted, each once. Else none.
[[nodiscard]] std::vector<std::string> names_instead_of(const std::vector<std::string>& globs, const Catalog& catalog);

}  // namespace uscope::analyzer
