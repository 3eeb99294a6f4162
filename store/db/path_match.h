// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// What `--path GLOB` means, of `record` and of the readers.
#pragma once

#include <string>
#include <vector>

namespace uscope::store {

// Whether one of the GLOBs (SQLite's) matches the whole name, or the address in a socket's; one without a slash may
// match the base name instead.
[[nodiscard]] bool path_matches(const std::vector<std::string>& globs, const std::string& name);

}  // namespace uscope::store
