// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "tracer/walk/sample_walks.h"

#include <gtest/gtest.h>

#include "tests/unit/trace/memory_sink.h"
#include "tests/unit/tracer/walk/own_walks.h"

namespace uscope::tracer {
namespace {

class SampleWalksTest : public testing::Test {
 protected:
  void make(bool verifies = false) {
    walks_.emplace(
        own_.backend, sink_, own_.inputs, [this](const usc_stack& stack) { seen_.push_back(stack.stack); }, verifies,
        nullptr);
  }
  void round() {
    walks_->begin_round();
    ASSERT_TRUE(walks_->work());
  }

  OwnWalks own_;
  MemorySink sink_;
  std::vector<std::uint32_t> seen_;
  std::optional<SampleWalks> walks_;
};

TEST_F(SampleWalksTest, AFinishedWalkTakesTheSamplesPlace) {
  make();
  own_.map_all();
  OwnSample sample = OwnWalks::sample(3);
  ASSERT_TRUE(walks_->add(sample.record(), 0));
  EXPECT_FALSE(walks_->empty());
  ASSERT_TRUE(walks_->work());  // not in the round in which it came
  EXPECT_TRUE(sink_.types().empty());
  round();
  EXPECT_TRUE(walks_->empty());
  const auto stacks = sink_.all<usc_stack>();
  ASSERT_EQ(stacks.size(), 1U);
  EXPECT_EQ(stacks[0].stack, 3U);
  EXPECT_EQ(stacks[0].ended, USC_ENDED_ROOT);
  EXPECT_EQ(stacks[0].deferred, 1);
  EXPECT_EQ(stacks[0].head.cpu, 1);
  EXPECT_EQ(stacks[0].head.seq, 43U);
  EXPECT_EQ(seen_, std::vector<std::uint32_t>{3});
  EXPECT_EQ(walks_->figures().finished, 1U);
  EXPECT_TRUE(walks_->take_given_up().empty());
}

TEST_F(SampleWalksTest, AWalkThatNothingCanFinishIsCountedOnce) {
  make();
  walks_->close();
  OwnSample sample = OwnWalks::sample(3);
  ASSERT_TRUE(walks_->add(sample.record(), 0));
  for (int i = 0; i < 3; i++) round();
  EXPECT_TRUE(walks_->empty());
  EXPECT_EQ(sink_.all<usc_stack>().size(), 1U);
  EXPECT_EQ(walks_->take_given_up(),
            (std::unordered_map<trace::ProcessId, std::uint64_t>{{trace::ProcessId(OwnWalks::kOfProcess), 1}}));
  EXPECT_TRUE(walks_->take_given_up().empty());
}

// deferred_given_up is not numbered: the record keeps the sample's number. verify_skipped is: the loss explains a
// number that no record has.
TEST_F(SampleWalksTest, ADamagedSampleIsALossThatExplainsItsNumber) {
  make();
  OwnSample sample = OwnWalks::sample(3);
  sample.record().pages = ~std::uint64_t{0};
  sample.record().end_pages = ~std::uint64_t{0};  // more than the record holds
  ASSERT_TRUE(walks_->add(sample.record(), 0));
  sample.record().verify = 1;
  ASSERT_TRUE(walks_->add(sample.record(), 0));
  EXPECT_TRUE(walks_->empty());
  const auto losses = sink_.all<usc_loss>();
  ASSERT_EQ(losses.size(), 2U);
  EXPECT_EQ(losses[0].cause, static_cast<__u32>(USC_LOSS_DEFERRED_GIVEN_UP));
  EXPECT_EQ(losses[0].process, OwnWalks::kOfProcess);
  EXPECT_EQ(losses[0].count, 1U);
  EXPECT_EQ(losses[0].head.cpu, 1);
  EXPECT_EQ(losses[0].head.seq, 43U);
  EXPECT_EQ(losses[1].cause, static_cast<__u32>(USC_LOSS_VERIFY_SKIPPED));
  EXPECT_EQ(losses[1].head.cpu, USC_CPU_USER);
}

TEST_F(SampleWalksTest, ASampleOfVerifyIsComparedWithTheStackThatWasSeen) {
  make(true);
  own_.map_all();
  OwnSample walked = OwnWalks::sample(3);
  OwnSample compared = walked;
  compared.record().verify = 1;
  ASSERT_TRUE(walks_->add(walked.record(), 0));
  round();
  usc_stack frames_of_another{};
  frames_of_another.head.size = sizeof(usc_stack);
  frames_of_another.stack = 4;
  walks_->observe(frames_of_another);
  ASSERT_TRUE(walks_->add(compared.record(), 0));
  compared.record().stack = 4;
  ASSERT_TRUE(walks_->add(compared.record(), 0));
  round();
  // The finished stack has not been passed on to observe(), which the collector does.
  EXPECT_EQ(sink_.all<usc_loss>().size(), 1U);
  const auto outcomes = sink_.all<usc_verify>();
  ASSERT_EQ(outcomes.size(), 1U);
  EXPECT_EQ(outcomes[0].stack, 4U);
  EXPECT_EQ(outcomes[0].first_difference, 0);
  EXPECT_EQ(walks_->figures().verified, 1U);
  EXPECT_EQ(walks_->figures().differing, 1U);
}

TEST_F(SampleWalksTest, AFailureToWriteComesBack) {
  make();
  own_.map_all();
  OwnSample sample = OwnWalks::sample(3);
  ASSERT_TRUE(walks_->add(sample.record(), 0));
  sink_.fails = true;
  walks_->begin_round();
  EXPECT_FALSE(walks_->work());
}

}  // namespace
}  // namespace uscope::tracer
