// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "trace/frame_address.h"

#include <gtest/gtest.h>

#include <vector>

namespace uscope::trace {
namespace {

TEST(ElfAddress, FollowsTheSegments) {
  const std::vector<usc_segment> segments{{0x1000, 0x100, 0x401000}, {0x1100, 0x100, 0x800000}};
  EXPECT_EQ(elf_address(segments, 0x1010, true), 0x401010U);
  EXPECT_EQ(elf_address(segments, 0x1100, true), 0x800000U);
  EXPECT_EQ(elf_address(segments, 0x1100, false), 0x401100U);
  EXPECT_EQ(elf_address(segments, 0x9000, true), 0x9000U);
}

}  // namespace
}  // namespace uscope::trace
