// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// The size of this machine's pages. That of recorded ones is USC_PAGE_BYTES (uscope/arch/arch.h).
#pragma once

#include <unistd.h>

#include <cstddef>

namespace uscope {

[[nodiscard]] inline std::size_t page_bytes() {
  static const auto bytes = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
  return bytes;
}

}  // namespace uscope
