// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "tracer/walk/sample_queue.h"

#include <gtest/gtest.h>

#include <cstring>

#include "tests/support/processor_time.h"

namespace uscope::tracer {
namespace {

using trace::FileId;
using trace::StackId;

usc_sample queued_sample(std::uint32_t stack, std::uint32_t verify = 0) {
  usc_sample sample{};
  sample.head.size = sizeof(sample);
  sample.stack = stack;
  sample.verify = verify;
  return sample;
}

// What is due, in order: stack ids, negative for comparisons.
std::vector<int> take_all(SampleQueue& queue) {
  std::vector<int> stacks;
  while (const auto held = queue.take()) {
    const auto stack = static_cast<int>(held->head().stack);
    stacks.push_back(held->head().verify != 0 ? -stack : stack);
  }
  return stacks;
}

TEST(SampleQueue, ASampleIsDueInTheRoundAfterItsOwn) {
  SampleQueue queue;
  EXPECT_TRUE(queue.empty());
  queue.begin_round();
  queue.add(queued_sample(1), 100);
  EXPECT_FALSE(queue.has_due());
  EXPECT_FALSE(queue.empty());
  queue.begin_round();
  queue.add(queued_sample(2), 200);
  EXPECT_EQ(take_all(queue), std::vector<int>{1});
  queue.begin_round();
  EXPECT_EQ(take_all(queue), std::vector<int>{2});
  EXPECT_TRUE(queue.empty());
}

TEST(SampleQueue, WhatIsNotTakenInOneRoundComesFirstInTheNext) {
  SampleQueue queue;
  for (std::uint32_t stack = 1; stack <= 3; stack++) queue.add(queued_sample(stack), 100);
  queue.begin_round();
  EXPECT_EQ(queue.take()->head().stack, 1U);
  queue.add(queued_sample(4), 200);
  queue.begin_round();
  EXPECT_EQ(take_all(queue), (std::vector<int>{2, 3, 4}));
}

TEST(SampleQueue, WaitsForTheRowsOfItsFileAndKeepsItsOrder) {
  SampleQueue queue;
  queue.add(queued_sample(1), 100);
  queue.add(queued_sample(1, 1), 100);
  queue.begin_round();
  queue.let_wait(*queue.take(), FileId(7));
  EXPECT_EQ(queue.who_waits(StackId(1)), FileId(7));
  queue.let_wait(*queue.take(), *queue.who_waits(StackId(1)));
  EXPECT_EQ(queue.held_since_ns(), 100U);
  queue.add(queued_sample(2), 200);
  queue.begin_round();
  queue.rows_came(FileId(6));
  EXPECT_EQ(queue.who_waits(StackId(1)), FileId(7));
  queue.rows_came(FileId(7));
  EXPECT_EQ(queue.who_waits(StackId(1)), std::nullopt);
  EXPECT_EQ(queue.held_since_ns(), 100U);
  EXPECT_EQ(take_all(queue), (std::vector<int>{1, -1, 2}));
  EXPECT_EQ(queue.held_since_ns(), ~std::uint64_t{0});
  EXPECT_TRUE(queue.empty());
}

// Where one always waits, what is held does not seem older than it is.
TEST(SampleQueue, KnowsTheOldestThatItHolds) {
  SampleQueue queue;
  queue.add(queued_sample(1), 100);
  queue.begin_round();
  queue.let_wait(*queue.take(), FileId(7));
  queue.add(queued_sample(2), 200);
  queue.begin_round();
  auto second = queue.take();
  queue.let_wait(*second, FileId(8));
  queue.rows_came(FileId(7));
  (void)queue.take();
  EXPECT_EQ(queue.held_since_ns(), 200U);
  queue.rows_came(FileId(8));
  queue.put_back(*queue.take());
  EXPECT_EQ(queue.held_since_ns(), 200U);
}

// Many samples are due while many files come: none of them is moved again and again.
TEST(SampleQueue, FilesThatComeOneByOneCostNoMoreThanTheirSamples) {
  constexpr std::uint32_t kMany = 20'000;
  SampleQueue queue;
  for (std::uint32_t i = 1; i <= 2 * kMany; i++) queue.add(queued_sample(i), 100);
  queue.begin_round();
  for (std::uint32_t i = 1; i <= kMany; i++) queue.let_wait(*queue.take(), FileId(i));
  EXPECT_LT(test::processor_seconds_of([&] {
              for (std::uint32_t i = 1; i <= kMany; i++) queue.rows_came(FileId(i));
              EXPECT_EQ(take_all(queue).size(), 2 * kMany);
            }),
            3);
}

TEST(SampleQueue, NoneMayWaitBeyondTheBound) {
  SampleQueue queue(2 * sizeof(Page));
  for (std::uint32_t stack = 1; stack <= 2 * USC_SAMPLE_PAGES + 3; stack++) {
    usc_sample sample = queued_sample(stack);
    sample.pages = 1;
    sample.base = std::uint64_t{stack} * Page::kBytes + 8;  // a cut page: not one of the mirror's
    sample.head.size += Page::kBytes;
    std::vector<char> bytes(sample.head.size);
    std::memcpy(bytes.data(), &sample, sizeof(sample));
    ASSERT_TRUE(queue.add(*reinterpret_cast<const usc_sample*>(bytes.data()), 100));
  }
  queue.begin_round();
  EXPECT_FALSE(queue.may_wait(*queue.take()));
  auto next = queue.take();
  EXPECT_TRUE(queue.may_wait(*next));
  for (unsigned i = 0; i < SampleQueue::kMostWaits; i++) {
    queue.let_wait(std::move(*next), FileId(7));
    queue.rows_came(FileId(7));
    next = queue.take();
  }
  EXPECT_EQ(next->head().stack, 2U);
  EXPECT_FALSE(queue.may_wait(*next));
}

}  // namespace
}  // namespace uscope::tracer
