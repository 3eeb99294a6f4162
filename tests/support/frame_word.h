// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// Words of frames as tests write them.
#pragma once

#include <cstdint>

#include "uscope/records/frame_word.h"

namespace uscope::test {

// `place`: an offset in the file, or, with file 0, an address of memory.
[[nodiscard]] inline std::uint64_t frame_word(std::uint32_t file, std::uint64_t place, bool exact) {
  return file == 0 ? usc_frame_in_memory(place, exact) : usc_frame_in_file(file, place, 0, exact);
}

}  // namespace uscope::test
