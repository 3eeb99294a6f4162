// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "trace/frame_address.h"

namespace uscope::trace {

std::uint64_t elf_address(std::span<const usc_segment> segments, std::uint64_t offset, bool exact) {
  // A return address may be one behind the segment's last byte: the call is before it.
  const std::uint64_t inside = exact || offset == 0 ? offset : offset - 1;
  for (const usc_segment& segment : segments)
    if (inside >= segment.offset && inside - segment.offset < segment.size)
      return segment.address + (offset - segment.offset);
  return offset;
}

}  // namespace uscope::trace
