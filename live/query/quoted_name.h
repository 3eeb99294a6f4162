// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#pragma once

#include <string>

namespace uscope::query {

// A name of a column as SQL takes it, whatever is in it.
[[nodiscard]] inline std::string quoted_name(const std::string& name) {
  std::string quoted = "\"";
  for (const char c : name) quoted += c == '"' ? "\"\"" : std::string(1, c);
  return quoted + "\"";
}

}  // namespace uscope::query
