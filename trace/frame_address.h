// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// From the file offset that a frame has to the address that symbols and line tables have.
#pragma once

#include <cstdint>
#include <span>

#include "uscope/record.h"

namespace uscope::trace {

// Returns the ELF address of a file offset, by the segment that holds it; without such a segment, the offset itself.
// `exact`: as uscope/records/frame_word.h has it.
[[nodiscard]] std::uint64_t elf_address(std::span<const usc_segment> segments, std::uint64_t offset, bool exact);

}  // namespace uscope::trace
