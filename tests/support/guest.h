// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#pragma once

#include <cstdlib>
#include <string_view>

namespace uscope {

// True: only what depends on the kernel is to be tried, since all runs on a machine that is not emulated, too
// (tests/support/py/backend.py).
inline bool kernel_only() {
  const char* const set = std::getenv("USCOPE_TEST_KERNEL_ONLY");
  return set != nullptr && std::string_view(set) == "1";
}

}  // namespace uscope
