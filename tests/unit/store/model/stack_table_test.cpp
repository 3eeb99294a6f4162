// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "store/model/stack_table.h"
#include "tests/support/frame_word.h"

#include <gtest/gtest.h>

#include <vector>

namespace uscope::store {
namespace {

using Frames = std::vector<std::uint64_t>;

Frames frames_of(const StackTable& table, StackNumber number) {
  Frames frames;
  for (const FrameNumber frame : table.frames(number)) frames.push_back(table.frame(frame));
  return frames;
}

// Of all depths, so that stacks end everywhere in the blocks that hold their frames, and there are many blocks.
Frames frames_for(std::uint32_t number) {
  Frames frames;
  for (std::uint32_t i = 0; i < number % 200; i++)
    frames.push_back(test::frame_word(2 + i % 3, number / 7 * 16 + i, i == 0));
  return frames;
}

TEST(StackTableTest, FramesOfManyStacksComeBack) {
  constexpr std::uint32_t kStacks = 20'000;
  StackTable table;
  for (std::uint32_t i = 1; i <= kStacks; i++) {
    table.define(trace::StackId(i), USC_ENDED_ROOT, {}, frames_for(i));
    table.define(trace::StackId(kStacks + i), USC_ENDED_ROOT, {}, frames_for(i));  // of another processor
  }
  for (std::uint32_t i = 1; i <= kStacks; i++) {
    const StackNumber number = table.find(trace::StackId(i));
    ASSERT_TRUE(number);
    ASSERT_EQ(table.find(trace::StackId(kStacks + i)), number);
    ASSERT_EQ(frames_of(table, number), frames_for(i));
  }
  EXPECT_EQ(table.size(), kStacks - kStacks / 200 + 1) << "all that are empty are one";
}

TEST(StackTableTest, AFrameIsStoredOnce) {
  StackTable table;
  for (std::uint32_t i = 1; i <= 1000; i++)
    table.define(trace::StackId(i), USC_ENDED_ROOT, {},
                 Frames{test::frame_word(2, i % 10, true), test::frame_word(2, i / 10, false)});
  EXPECT_EQ(table.size(), 1000U);
  EXPECT_EQ(table.distinct_frames(), 10U + 101U);
}

TEST(StackTableTest, WithoutFramesStacksKeepTheirNumbersAndEnds) {
  StackTable table;
  table.define(trace::StackId(5U), USC_ENDED_BUDGET, {}, Frames{test::frame_word(2, 1, true)});
  table.define(trace::StackId(7U), USC_ENDED_ROOT, trace::MmId(3U),
               Frames{test::frame_word(0, 1, true), test::frame_word(0, 2, false)});
  table.forget_frames();
  EXPECT_EQ(table.find(trace::StackId(7U)).value(), 2U);
  EXPECT_EQ(table.stack(StackNumber(1U)).ended, USC_ENDED_BUDGET);
  EXPECT_EQ(table.stack(StackNumber(2U)).depth, 2U);
  EXPECT_TRUE(table.stack(StackNumber(2U)).guessed);
  EXPECT_EQ(table.size(), 2U);
}

}  // namespace
}  // namespace uscope::store
