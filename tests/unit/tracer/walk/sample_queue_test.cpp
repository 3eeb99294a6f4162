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
  constexpr std::uint32_t kSamples = 2000;  // 8 MiB, of which the mirror may have some
  SampleQueue queue(4 << 20);
  for (std::uint32_t stack = 1; stack <= kSamples; stack++) {
    usc_sample sample = queued_sample(stack);
    sample.pages = 1;
    sample.base = std::uint64_t{stack} * Page::kBytes + 8;
    sample.head.size += Page::kBytes;
    std::vector<char> bytes(sample.head.size, static_cast<char>(stack));  // unlike the others
    std::memcpy(bytes.data(), &sample, sizeof(sample));
    ASSERT_TRUE(queue.add(*reinterpret_cast<const usc_sample*>(bytes.data()), 100));
  }
  queue.begin_round();
  auto next = queue.take();
  EXPECT_FALSE(queue.may_wait(*next));
  while (!queue.may_wait(*next) && queue.has_due()) next = queue.take();
  EXPECT_GT(next->head().stack, kSamples / 8);
  EXPECT_LT(next->head().stack, kSamples * 5 / 8);
  const std::uint32_t first = next->head().stack;
  for (unsigned i = 0; i < SampleQueue::kMostWaits; i++) {
    queue.let_wait(std::move(*next), FileId(7));
    queue.rows_came(FileId(7));
    next = queue.take();
  }
  EXPECT_EQ(next->head().stack, first);
  EXPECT_FALSE(queue.may_wait(*next));
}

// Small ones count as well.
TEST(SampleQueue, SamplesThatDifferLittleAreBoundedToo) {
  SampleQueue queue(1 << 20);
  std::uint32_t held = 0;
  for (bool may_wait = true; may_wait && held < 100'000; held++) {
    usc_sample sample = queued_sample(held + 1);
    sample.pages = 1;
    sample.base = Page::kBytes + 8;
    sample.head.size += Page::kBytes;
    std::vector<char> bytes(sample.head.size);
    std::memcpy(bytes.data(), &sample, sizeof(sample));
    bytes[sizeof(sample) + 100] = static_cast<char>(held);
    ASSERT_TRUE(queue.add(*reinterpret_cast<const usc_sample*>(bytes.data()), 100));
    queue.begin_round();
    auto next = queue.take();
    may_wait = queue.may_wait(*next);
    if (may_wait) queue.let_wait(std::move(*next), FileId(7));
  }
  EXPECT_GT(held, 2000U);  // of 4 KiB each, 256 would have filled it, and the mirror's share another 384
  EXPECT_LT(held, 10'000U);
}

}  // namespace
}  // namespace uscope::tracer
