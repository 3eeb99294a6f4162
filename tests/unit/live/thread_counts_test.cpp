// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "live/thread_counts.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>

#include "syscalls/syscall_table.h"

namespace uscope::live {
namespace {

usc_event call_of(std::uint32_t task, std::uint32_t nr) {
  usc_event event{};
  event.head.task = task;
  event.kind = nr;
  return event;
}

tracer::TaskInfo task_of(std::uint32_t pid, std::uint32_t tid, const std::string& name) {
  tracer::TaskInfo made;
  made.pid = pid;
  made.tid = tid;
  made.name = name;
  return made;
}

std::vector<ThreadLine> by_tid(const ThreadCounts& counts) {
  std::vector<ThreadLine> lines = counts.lines();
  std::sort(lines.begin(), lines.end(), [](const ThreadLine& a, const ThreadLine& b) { return a.tid < b.tid; });
  return lines;
}

TEST(ThreadCounts, CountsCallsErrorsAndTimeOfEachThread) {
  ThreadCounts counts;
  for (int i = 0; i < 3; i++) {
    counts.add(call_of(1, 0), task_of(10, 10, "main"), false, 100);
    counts.add(call_of(2, 1), task_of(10, 11, "worker"), i == 0, 5);
  }
  counts.add(call_of(1, 1), task_of(10, 10, "main"), true, 50);
  const std::vector<ThreadLine> lines = by_tid(counts);
  ASSERT_EQ(lines.size(), 2U);
  EXPECT_EQ(lines[0].pid, 10U);
  EXPECT_EQ(lines[0].name, "main");
  EXPECT_EQ(lines[0].calls, 4U);
  EXPECT_EQ(lines[0].errors, 1U);
  EXPECT_EQ(lines[0].time_ns, 350U);
  EXPECT_EQ(lines[0].call, "read");
  EXPECT_EQ(lines[0].abi, "x86_64");
  EXPECT_EQ(lines[1].tid, 11U);
  EXPECT_EQ(lines[1].calls, 3U);
  EXPECT_EQ(lines[1].call, "write");
  counts.take();
  EXPECT_TRUE(counts.lines().empty());
}

TEST(ThreadCounts, AThreadHasALineForEachNameThatItHad) {
  ThreadCounts counts;
  counts.add(call_of(1, 0), task_of(0, 0, ""), false, 0);  // its start comes later
  counts.add(call_of(1, 0), task_of(10, 10, "sh"), false, 0);
  counts.add(call_of(1, 0), task_of(10, 10, "make"), false, 0);
  counts.add(call_of(1, 0), task_of(10, 10, "sh"), false, 0);
  const std::vector<ThreadLine> lines = counts.lines();
  ASSERT_EQ(lines.size(), 2U);
  EXPECT_EQ(lines[0].pid, 10U);
  EXPECT_EQ(lines[0].name, "sh");
  EXPECT_EQ(lines[0].calls, 3U);
  EXPECT_EQ(lines[1].name, "make");
  EXPECT_EQ(lines[1].calls, 1U);
}

TEST(ThreadCounts, NamesBeyondTheRoomAreTheLastLine) {
  ThreadCounts counts;
  for (int i = 0; i < 100; i++) counts.add(call_of(1, 0), task_of(1, 1, "job-" + std::to_string(i)), false, 0);
  const std::vector<ThreadLine> lines = counts.lines();
  ASSERT_EQ(lines.size(), ThreadCounts::kMostNames);
  EXPECT_EQ(lines.back().name, "job-99");
  EXPECT_EQ(lines.back().calls, 100 - (ThreadCounts::kMostNames - 1));
}

// A thread may have lived and ended before the other processor's records are read.
TEST(ThreadCounts, AStartThatComesLaterNamesTheThread) {
  ThreadCounts counts;
  counts.add(call_of(1, 0), task_of(0, 0, ""), false, 0);
  counts.add(call_of(2, 0), task_of(0, 0, "renamed"), false, 0);
  for (const std::uint32_t serial : {1U, 2U, 3U}) {
    usc_task start{};
    start.head.task = serial;
    start.pid = 10;
    start.tid = 10 + serial;
    std::memcpy(start.name, "a-name-of-15-by", 16);
    counts.start(start);
  }
  const std::vector<ThreadLine> lines = by_tid(counts);
  ASSERT_EQ(lines.size(), 2U);  // the third made no call
  EXPECT_EQ(lines[0].pid, 10U);
  EXPECT_EQ(lines[0].tid, 11U);
  EXPECT_EQ(lines[0].name, "a-name-of-15-by");
  EXPECT_EQ(lines[1].tid, 12U);
  EXPECT_EQ(lines[1].name, "renamed");
}

TEST(ThreadCounts, TheMostFrequentCallIsFoundAmongAnyNumberOfOthers) {
  ThreadCounts counts;
  constexpr std::uint32_t kWrite = 1;
  for (std::uint32_t i = 0; i < 10000; i++) {
    counts.add(call_of(1, 1000 + i), task_of(1, 1, "x"), false, 0);  // numbers of no call
    if (i > 5000 && i % 4 == 0) counts.add(call_of(1, kWrite), task_of(1, 1, "x"), false, 0);
  }
  EXPECT_EQ(counts.lines().front().call, "write");
}

TEST(ThreadCounts, ThreadsBeyondTheRoomAreOneLine) {
  ThreadCounts counts;
  constexpr std::uint32_t kAll = 100000;
  for (std::uint32_t i = 1; i <= kAll; i++) counts.add(call_of(i, 0), task_of(1, i, "x"), i == kAll, 1);
  counts.add(call_of(1, 0), task_of(1, 1, "x"), false, 1);
  const std::vector<ThreadLine> lines = by_tid(counts);
  ASSERT_EQ(lines.size(), ThreadCounts::kMostThreads + 1);
  EXPECT_TRUE(lines[0].others);
  EXPECT_EQ(lines[0].calls, kAll - ThreadCounts::kMostThreads);
  EXPECT_EQ(lines[0].errors, 1U);
  EXPECT_EQ(lines[1].tid, 1U);
  EXPECT_EQ(lines[1].calls, 2U);
  EXPECT_FALSE(lines[1].others);
}

}  // namespace
}  // namespace uscope::live
