// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// The unwind step of include/uscope/ over UnwindTables and a memory that a test supplies.
#pragma once

#include <fcntl.h>

#include <functional>
#include <string>

#include "support/unique_fd.h"
#include "symbolizer/rows/table_access.h"
#include "uscope/unwind.h"

namespace uscope::symbolizer {

using TestMemory = std::function<bool(std::uint64_t address, std::uint64_t* word)>;

inline UniqueFd open_to_read(const std::string& path) {
  return UniqueFd(open(path.c_str(), O_RDONLY | O_CLOEXEC));
}

}  // namespace uscope::symbolizer

static inline int usc_read_u64(void* memory, __u64 address, __u64* value) {
  std::uint64_t word = 0;
  if (!(*static_cast<uscope::symbolizer::TestMemory*>(memory))(address, &word)) return -1;
  *value = word;
  return 0;
}
