// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "tracer/walk/attached_walks.h"

#include <gtest/gtest.h>

#include "tests/unit/tracer/walk/own_walks.h"

namespace uscope::tracer {
namespace {

class AttachedWalksTest : public testing::Test {
 protected:
  static AttachedCall call(std::uint8_t abi = USC_ABI_X86_64) {
    AttachedCall made;
    made.event.head.task = OwnWalks::kTask;
    made.event.abi = abi;
    made.sample = OwnWalks::sample(0).bytes;
    return made;
  }

  OwnWalks own_;
  int waits_ = 0;
  AttachedWalks walks_{own_.backend, own_.inputs, [this] { return ++waits_ < 3; }, UINT64_MAX};
};

TEST_F(AttachedWalksTest, TheStackHasANumberThatTheKernelSideDoesNotUse) {
  own_.map_all();
  own_.backend.next_stack = 5000;
  for (const std::uint32_t number : {5000U, 5001U}) {
    auto walked = walks_.finish(call());
    ASSERT_TRUE(walked) << walked.error().what;
    const usc_stack& stack = walked->stack.record();
    EXPECT_EQ(stack.stack, number);
    EXPECT_EQ(stack.head.task, OwnWalks::kTask);
    EXPECT_EQ(stack.ended, USC_ENDED_ROOT);
    EXPECT_GT(stack.depth, 5);
    EXPECT_FALSE(walked->given_up);
  }
  EXPECT_EQ(waits_, 0);
}

TEST_F(AttachedWalksTest, A32BitCallHasAStackWithoutFrames) {
  own_.map_all();
  auto walked = walks_.finish(call(USC_ABI_I386));
  ASSERT_TRUE(walked);
  EXPECT_EQ(walked->stack.record().depth, 0);
  EXPECT_EQ(walked->stack.record().ended, USC_ENDED_BROKEN + int{USC_BROKEN_COMPAT});
}

// Rows that a thread makes, and whose maker is never asked for them: they stay away.
TEST_F(AttachedWalksTest, AWalkWhoseRowsDoNotComeIsGivenUp) {
  RowBuildQueue maker(own_.cache, 1);
  FileTable files(own_.backend, maker, {});
  WalkTables rows(files, maker);
  for (const usc_map& map : own_.process.maps()) own_.mappings.add(map);
  for (const auto& [serial, mapping] : own_.process.files()) ASSERT_TRUE(announce(files, serial, mapping));
  AttachedWalks walks(
      own_.backend, {own_.mappings, files, rows, own_.tasks, own_.inputs.scope}, [this] { return ++waits_ < 3; },
      UINT64_MAX);
  auto walked = walks.finish(call());
  ASSERT_TRUE(walked);
  EXPECT_TRUE(walked->given_up);
  EXPECT_EQ(waits_, 3);
}

}  // namespace
}  // namespace uscope::tracer
