// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// Raw traces, loaded, of threads of which it is known what they did at each moment.
#include "analyzer/time/time.h"

#include <algorithm>

#include "tests/support/frame_word.h"
#include "tests/unit/store/load_support.h"

namespace uscope::analyzer {
namespace {

constexpr std::uint64_t kMs = 1'000'000;
constexpr std::uint32_t kReadStack = 7;
constexpr std::uint32_t kHotStack = 8;
constexpr std::uint32_t kColdStack = 9;

class TimeTest : public store::LoaderTest {
 protected:
  // A second of two threads of one process.
  void begin_two() {
    usual();
    trace_->task({.task = 2, .parent_task = 1, .tid = 101, .flags = 0, .image = 1, .name = "other"});
    trace_->stack(kReadStack, {test::frame_word(3, 0x1010, true), test::frame_word(2, 0x1020, false)});
    trace_->stack(kHotStack, {test::frame_word(3, 0x1030, true), test::frame_word(2, 0x1020, false)});
    trace_->stack(kColdStack, {test::frame_word(2, 0x1040, true)});
    trace_->place(1, "vmlinux+0x123 vfs_read+0x23");
    trace_->place(2, "vmlinux+0x200 schedule+0x10");
    trace_->meta("start_ns", std::to_string(kStart));
    trace_->meta("duration_ns", std::to_string(1000 * kMs));
  }

  void sample(std::uint32_t task, std::uint64_t at_ms, std::uint32_t stack, std::uint32_t kind = USC_SAMPLE_USER,
              std::uint64_t stands_for = kMs) {
    usc_hit hit{};
    hit.entry_ns = kStart + at_ms * kMs - kMs / 2;
    hit.args[1] = stands_for;
    hit.stack = stack;
    hit.image = 1;
    hit.kind = kind;
    hit.how = USC_HOW_HIT;
    hit.source = USC_SOURCE_SAMPLE;
    hit.flags = USC_EVENT_NO_RESULT;
    trace_->hit(task, hit.entry_ns, hit,
                kind == USC_SAMPLE_KERNEL ? std::vector<std::uint32_t>{1} : std::vector<std::uint32_t>{});
  }

  // One sample for each millisecond.
  void samples(std::uint32_t task, std::uint64_t from_ms, std::uint64_t until_ms, std::uint32_t stack,
               std::uint32_t kind = USC_SAMPLE_USER) {
    for (std::uint64_t at = from_ms + 1; at <= until_ms; at++) sample(task, at, stack, kind);
  }

  void off(std::uint32_t task, std::uint64_t from_ms, std::uint64_t until_ms, std::uint32_t stack,
           std::uint32_t kind = USC_OFFCPU_SLEEPING, std::uint64_t then_ms = 0, std::uint64_t waker = 0,
           std::uint64_t waker_pid = 100, std::uint8_t how = USC_HOW_RETURNED) {
    usc_hit hit{};
    hit.entry_ns = kStart + from_ms * kMs;
    hit.args[0] = waker;
    hit.args[1] = waker == 0 ? 0 : waker_pid;
    hit.args[2] = then_ms * kMs;
    hit.stack = stack;
    hit.image = 1;
    hit.kind = kind;
    hit.how = how;
    hit.source = USC_SOURCE_OFFCPU;
    hit.flags = USC_EVENT_NO_RESULT;
    trace_->hit(task, kStart + until_ms * kMs, hit, {2});
  }

  void call(std::uint32_t task, std::uint64_t from_ms, std::uint64_t until_ms, std::uint32_t nr = 0,
            std::uint8_t how = USC_HOW_RETURNED) {
    trace_->event({.task = task,
                   .entry = kStart + from_ms * kMs,
                   .end = kStart + until_ms * kMs,
                   .nr = nr,
                   .stack = kReadStack,
                   .how = how});
  }

  // A second of two threads that run, wait in all ways and are in a call. The first one's sleep ends with a wait for a
  // CPU.
  void do_everything(std::uint64_t for_cpu_ms) {
    begin_two();
    samples(1, 0, 600, kHotStack);
    call(1, 600, 1000);
    samples(1, 600, 610, kReadStack, USC_SAMPLE_KERNEL);
    off(1, 610, 990, kReadStack, USC_OFFCPU_SLEEPING, for_cpu_ms, 101);
    samples(1, 990, 1000, kReadStack, USC_SAMPLE_KERNEL);
    samples(2, 0, 200, kColdStack);
    off(2, 200, 300, kColdStack, USC_OFFCPU_PREEMPTED);
    samples(2, 300, 500, kColdStack);
    off(2, 500, 900, kColdStack, USC_OFFCPU_BLOCKED);
    off(2, 900, 1000, kColdStack, USC_OFFCPU_STOPPED, 0, 0, 0, USC_HOW_OPEN);
  }

  TimeShares shares(const TimeQuery& query = {}) {
    load();
    auto catalog = read_catalog(*database_);
    if (!catalog) ADD_FAILURE() << catalog.error().what;
    if (!catalog) return {};
    auto read = read_time(*database_, *catalog, query);
    if (!read) ADD_FAILURE() << read.error().what;
    return read ? std::move(*read) : TimeShares();
  }

  // Of the store that shares() has loaded.
  TimeShares again(const EventFilter& scope) {
    auto catalog = read_catalog(*database_);
    if (!catalog) ADD_FAILURE() << catalog.error().what;
    auto read = catalog ? read_time(*database_, *catalog, {.scope = scope}) : catalog.error();
    if (!read) ADD_FAILURE() << read.error().what;
    return read ? std::move(*read) : TimeShares();
  }

  static const ThreadTime& thread(const TimeShares& found, std::int64_t tid) {
    const auto& lines = found.threads.lines;
    const auto at = std::find_if(lines.begin(), lines.end(), [&](const ThreadTime& line) { return line.tid == tid; });
    EXPECT_NE(at, lines.end()) << tid;
    static const ThreadTime kNone;
    return at == lines.end() ? kNone : *at;
  }
};

// Whatever a border cuts (a call, a sleep, the wait for a CPU behind it), the two sides add up to the whole.
TEST_F(TimeTest, BothSidesOfABorderAddUpToTheWhole) {
  do_everything(40);
  const TimeShare whole = shares().all;
  for (const std::int64_t border_ms : {1, 150, 250, 400, 603, 700, 955, 985, 992, 999}) {
    SCOPED_TRACE(border_ms);
    const auto border = static_cast<std::int64_t>(border_ms * static_cast<std::int64_t>(kMs));
    EventFilter before;
    before.until_ns = border;
    EventFilter after;
    after.since_ns = border;
    const TimeShare first = again(before).all;
    const TimeShare second = again(after).all;
    EXPECT_EQ(first.total_ns + second.total_ns, whole.total_ns);
    EXPECT_EQ(first.samples + second.samples, whole.samples);
    EXPECT_EQ(first.user_ns + second.user_ns, whole.user_ns);
    EXPECT_EQ(first.kernel_ns + second.kernel_ns, whole.kernel_ns);
    EXPECT_EQ(first.sleeping_ns + second.sleeping_ns, whole.sleeping_ns);
    EXPECT_EQ(first.blocked_ns + second.blocked_ns, whole.blocked_ns);
    EXPECT_EQ(first.stopped_ns + second.stopped_ns, whole.stopped_ns);
    EXPECT_EQ(first.for_cpu_ns + second.for_cpu_ns, whole.for_cpu_ns);
    EXPECT_EQ(first.call_ns + second.call_ns, whole.call_ns);
    EXPECT_EQ(first.call_off_ns + second.call_off_ns, whole.call_off_ns);
  }
  EventFilter none;
  none.since_ns = 5000 * static_cast<std::int64_t>(kMs);
  EXPECT_EQ(again(none).all.total_ns, 0U);
  EventFilter all;
  all.since_ns = 0;
  all.until_ns = 1000 * static_cast<std::int64_t>(kMs) + 1;
  EXPECT_EQ(again(all).all.total_ns, whole.total_ns);
  EXPECT_EQ(again(all).all.running_ns, whole.running_ns);
}

TEST_F(TimeTest, ThreadsAreChosenByNumberAndName) {
  begin_two();
  samples(1, 0, 600, kHotStack);
  samples(2, 0, 200, kColdStack);
  const TimeShares whole = shares();
  EXPECT_EQ(whole.threads.total, 2U);
  EventFilter by_tid;
  by_tid.tids = {101};
  EXPECT_EQ(again(by_tid).all.user_ns, 200 * kMs);
  EventFilter by_name;
  by_name.threads = {"oth*"};
  EXPECT_EQ(again(by_name).threads.lines.at(0).tid, 101);
  EXPECT_EQ(again(by_name).threads.total, 1U);
  by_name.pids = {100};
  EXPECT_EQ(again(by_name).threads.total, 1U);
  by_name.pids = {99};
  EXPECT_EQ(again(by_name).threads.total, 0U);
  EventFilter by_process;
  by_process.processes = {"nothing-*"};
  EXPECT_EQ(again(by_process).threads.total, 0U);
}

TEST_F(TimeTest, PartsAddUpToTheTimeThatThreadsLived) {
  do_everything(10);
  const TimeShares found = shares();
  EXPECT_TRUE(found.recorded.samples && found.recorded.off_cpu && found.recorded.calls && found.recorded.all_calls);

  const ThreadTime& first = thread(found, 100);
  EXPECT_EQ(first.total_ns, 1000 * kMs);
  EXPECT_EQ(first.running_ns, 620 * kMs);
  EXPECT_EQ(first.user_ns, 600 * kMs);
  EXPECT_EQ(first.kernel_ns, 20 * kMs);
  EXPECT_EQ(first.sleeping_ns, 370 * kMs);
  EXPECT_EQ(first.for_cpu_ns, 10 * kMs);
  EXPECT_EQ(first.not_running_ns, 380 * kMs);
  EXPECT_EQ(first.difference_ns(), 0);
  EXPECT_EQ(first.thread, "app");
  ASSERT_EQ(first.inside.size(), 1U);
  EXPECT_EQ(first.inside[0].call, "read");
  EXPECT_EQ(first.inside[0].total_ns, 400 * kMs);
  EXPECT_EQ(first.inside[0].running_ns, 20 * kMs);
  EXPECT_EQ(first.inside[0].not_running_ns, 380 * kMs);
  EXPECT_EQ(first.inside[0].call_sampled_ns, 20 * kMs);
  // 620 of 1000 ticks: twice the square root of 620 x 0.38 of them.
  EXPECT_NEAR(static_cast<double>(first.error_ns), 2 * 15.35e6, 1e5);

  const ThreadTime& second = thread(found, 101);
  EXPECT_EQ(second.running_ns, 400 * kMs);
  EXPECT_EQ(second.for_cpu_ns, 100 * kMs);
  EXPECT_EQ(second.blocked_ns, 400 * kMs);
  EXPECT_EQ(second.stopped_ns, 100 * kMs);
  EXPECT_EQ(second.difference_ns(), 0);
  EXPECT_TRUE(second.inside.empty());

  EXPECT_EQ(found.all.total_ns, 2000 * kMs);
  EXPECT_EQ(found.all.running_ns, 1020 * kMs);
  EXPECT_EQ(found.all.not_running_ns, 980 * kMs);
  EXPECT_EQ(found.all.difference_ns(), 0);
  ASSERT_EQ(found.calls.lines.size(), 1U);
  EXPECT_EQ(found.calls.lines[0].sleeping_ns, 370 * kMs);
  EXPECT_EQ(found.calls.lines[0].error_ns, 0U);
}

TEST_F(TimeTest, WhatDoesNotAddUpIsSaid) {
  begin_two();
  samples(1, 0, 300, kHotStack);
  off(1, 400, 1000, kColdStack);
  EXPECT_EQ(thread(shares(), 100).difference_ns(), -100 * static_cast<std::int64_t>(kMs));
}

// With samples of 600 ms, what is unsampled of what the kernel counted: ms of both.
using Account = std::pair<std::uint64_t, std::uint64_t>;
class KernelsAccount : public TimeTest, public ::testing::WithParamInterface<Account> {};

TEST_P(KernelsAccount, WhatSamplesDoNotShowOfItIsSaid) {
  const auto& [ran_ms, unsampled_ms] = GetParam();
  begin_two();
  trace_->meta("targets", R"(["sample:1000"])");
  trace_->meta("ran_ns", std::to_string(ran_ms * kMs));
  samples(1, 0, 600, kHotStack);
  const TimeShares found = shares();
  EXPECT_EQ(found.kernel_ran_ns, ran_ms * kMs);
  EXPECT_EQ(found.unsampled_ns, unsampled_ms * kMs);
}

INSTANTIATE_TEST_SUITE_P(Accounts, KernelsAccount,
                         ::testing::Values(Account(600, 0), Account(640, 0), Account(900, 300)));

// The same of one sample of a millisecond, by samples a second, where the kernel counted 500 ms.
using Rate = std::pair<std::string, std::uint64_t>;
class RareSamples : public TimeTest, public ::testing::WithParamInterface<Rate> {};

TEST_P(RareSamples, AreRightOnlyIfTheyWereAskedFor) {
  const auto& [hz, unsampled_ms] = GetParam();
  begin_two();
  trace_->meta("targets", R"(["sample:)" + hz + "\"]");
  trace_->meta("ran_ns", std::to_string(500 * kMs));
  sample(2, 900, kHotStack);
  EXPECT_EQ(shares().unsampled_ns, unsampled_ms * kMs);
}

INSTANTIATE_TEST_SUITE_P(Rates, RareSamples, ::testing::Values(Rate("1000", 499), Rate("1", 0)));

TEST_F(TimeTest, OfSomeProcessesTheKernelsAccountIsNotKnown) {
  begin_two();
  trace_->meta("targets", R"(["sample:1000"])");
  trace_->meta("ran_ns", std::to_string(900 * kMs));
  samples(1, 0, 100, kHotStack);
  EXPECT_FALSE(shares({.scope = {.processes = {"*"}}}).kernel_ran_ns);
}

TEST_F(TimeTest, WithoutSamplesAThreadRanWhenItWasNotOff) {
  begin_two();
  call(1, 500, 1000);
  off(1, 600, 1000, kReadStack);
  const TimeShares found = shares();
  EXPECT_FALSE(found.recorded.samples);
  const ThreadTime& first = thread(found, 100);
  EXPECT_EQ(first.running_ns, 600 * kMs);
  EXPECT_EQ(first.not_running_ns, 400 * kMs);
  EXPECT_EQ(first.error_ns, 0U);
  EXPECT_EQ(found.calls.lines.at(0).running_ns, 100 * kMs);
  // Of functions, what is measured: in calls.
  EXPECT_EQ(found.functions.lines.at(0).running_ns, 100 * kMs);
  EXPECT_EQ(found.functions.lines.at(0).total_ns, 500 * kMs);
  EXPECT_TRUE(found.running.lines.empty());
}

TEST_F(TimeTest, WithoutTimesOffTheCpuWhatDidNotRunRemains) {
  begin_two();
  samples(1, 0, 500, kHotStack);
  call(1, 500, 900);
  samples(1, 500, 600, kReadStack, USC_SAMPLE_KERNEL);
  const TimeShares found = shares();
  EXPECT_FALSE(found.recorded.off_cpu);
  const ThreadTime& first = thread(found, 100);
  EXPECT_EQ(first.running_ns, 600 * kMs);
  EXPECT_EQ(first.not_running_ns, 400 * kMs);
  const CallTime& read = found.calls.lines.at(0);
  EXPECT_EQ(read.running_ns, 100 * kMs);
  EXPECT_EQ(read.not_running_ns, 300 * kMs);
  EXPECT_GT(read.error_ns, 0U);
  EXPECT_EQ(found.functions.lines.at(0).total_ns, 900 * kMs);
  EXPECT_TRUE(found.waiting.lines.empty());
}

TEST_F(TimeTest, StacksOfACallAndOfWhatItDidAreOneWhateverTheKernelsFrames) {
  begin_two();
  call(1, 100, 900);
  samples(1, 100, 150, kReadStack, USC_SAMPLE_KERNEL);
  off(1, 150, 900, kReadStack, USC_OFFCPU_SLEEPING, 0, 101);
  samples(1, 900, 1000, kHotStack);
  const TimeShares found = shares();
  ASSERT_EQ(found.stacks.total, 2U);
  const StackTime& read = found.stacks.lines[0];
  EXPECT_EQ(read.folded, "f401020;f401010!");
  EXPECT_EQ(read.call, "read");
  EXPECT_EQ(read.total_ns, 800 * kMs);
  EXPECT_EQ(read.running_ns, 50 * kMs);
  EXPECT_EQ(read.call_ns, 800 * kMs);
  EXPECT_EQ(read.trigger.function, "f401020");
  ASSERT_EQ(read.wakers.size(), 1U);
  EXPECT_EQ(read.wakers[0].thread, "other");
  EXPECT_EQ(found.stacks.lines[1].folded, "f401020;f401030!");

  ASSERT_EQ(found.running.total, 2U);
  EXPECT_EQ(found.running.lines[0].at.function, "f401030!");
  EXPECT_EQ(found.running.lines[0].running_ns, 100 * kMs);
  EXPECT_EQ(found.running.lines[1].at.function, "f401010!");  // the function that called the kernel
  EXPECT_EQ(found.running.lines[1].kernel_ns, 50 * kMs);
  EXPECT_EQ(found.running.lines[0].trigger.function, "f401020");
  ASSERT_EQ(found.functions.total, 1U);
  EXPECT_EQ(found.functions.lines[0].total_ns, 900 * kMs);
}

TEST_F(TimeTest, ThreadHasAllTheNamesOfItsProgram) {
  begin_two();
  off(1, 10, 110, kReadStack);
  off(2, 10, 110, kReadStack);
  trace_->name(2, "worker", kStart + 100 * kMs);
  for (std::uint64_t i = 0; i < 20; i++) trace_->name(1, "name" + std::to_string(i), kStart + (100 + i) * kMs);
  trace_->name(1, "app", kStart + 200 * kMs);
  trace_->name(1, "last", kStart + 201 * kMs);
  const TimeShares found = shares();
  EXPECT_EQ(thread(found, 101).thread, "worker");
  EXPECT_EQ(thread(found, 101).names, (std::vector<std::string>{"other", "worker"}));
  const std::vector<std::string>& names = thread(found, 100).names;
  ASSERT_EQ(names.size(), 16U);
  EXPECT_EQ(names.front(), "app");
  EXPECT_EQ(names.back(), "last");
}

TEST_F(TimeTest, WaitsSayWhoEndedThem) {
  begin_two();
  call(1, 0, 700);
  off(1, 10, 110, kReadStack, USC_OFFCPU_SLEEPING, 5, 101);
  off(1, 120, 420, kReadStack, USC_OFFCPU_SLEEPING, 0, 4711, 4710);
  off(1, 430, 680, kReadStack, USC_OFFCPU_SLEEPING, 0, 0);
  off(1, 800, 1000, kColdStack, USC_OFFCPU_BLOCKED, 0, 0, 0, USC_HOW_OPEN);
  const TimeShares found = shares();
  ASSERT_EQ(found.waiting.total, 2U);
  const WaitingTime& in_read = found.waiting.lines[0];
  EXPECT_EQ(in_read.call, "read");
  EXPECT_EQ(in_read.state, TimeUse::kSleeping);
  EXPECT_EQ(in_read.trigger.function, "f401020");
  EXPECT_EQ(in_read.times, 3U);
  EXPECT_EQ(in_read.waited_ns, 645 * kMs);
  EXPECT_EQ(in_read.longest_ns, 300 * kMs);
  EXPECT_EQ(in_read.for_cpu_ns, 5 * kMs);
  ASSERT_EQ(in_read.wakers.size(), 3U);
  EXPECT_EQ(in_read.wakers[0].who, Waker::Who::kThread);
  EXPECT_EQ(in_read.wakers[0].tid, 4711);
  EXPECT_EQ(in_read.wakers[0].pid, 4710);
  EXPECT_EQ(in_read.wakers[0].thread, "");
  EXPECT_EQ(in_read.wakers[1].who, Waker::Who::kInterrupt);
  EXPECT_EQ(in_read.wakers[2].thread, "other");
  EXPECT_EQ(in_read.wakers[2].waited_ns, 95 * kMs);
  const WaitingTime& outside = found.waiting.lines[1];
  EXPECT_EQ(outside.call, "");
  EXPECT_EQ(outside.state, TimeUse::kBlocked);
  EXPECT_EQ(outside.wakers.at(0).who, Waker::Who::kNobody);
}

TEST_F(TimeTest, CallsThatNeverReturnedLastUntilTheEnd) {
  begin_two();
  call(1, 400, 400, 0, USC_HOW_OPEN);
  off(1, 500, 1000, kReadStack, USC_OFFCPU_SLEEPING, 0, 0, 0, USC_HOW_OPEN);
  call(2, 100, 100, 60, USC_HOW_NORETURN);
  trace_->exit(2, 1, 0, kStart + 150 * kMs);
  const TimeShares found = shares();
  EXPECT_EQ(found.calls.lines.at(0).call, "read");
  EXPECT_EQ(found.calls.lines.at(0).total_ns, 600 * kMs);
  EXPECT_EQ(found.calls.lines.at(0).not_running_ns, 500 * kMs);
  EXPECT_EQ(found.calls.lines.at(1).call, "exit");
  EXPECT_EQ(found.calls.lines.at(1).total_ns, 50 * kMs);
  EXPECT_EQ(thread(found, 101).total_ns, 150 * kMs);
}

TEST_F(TimeTest, ListsAndProcessesCanBeChosen) {
  begin_two();
  samples(1, 0, 500, kHotStack);
  samples(2, 0, 400, kColdStack);
  trace_->task({.task = 3, .process = 2, .pid = 200, .tid = 200, .name = "third"});
  trace_->file(5, "/opt/bin/second", "IDS");
  trace_->exec(3, 2, 2, 5, "/opt/bin/second", std::string("second\0", 7));
  samples(3, 0, 300, kColdStack);
  const TimeShares first = shares({.scope = {.processes = {"app"}}, .lines = 1});
  EXPECT_EQ(first.threads.total, 2U);
  ASSERT_EQ(first.threads.lines.size(), 1U);
  EXPECT_EQ(first.all.running_ns, 900 * kMs);
  EXPECT_EQ(first.running.total, 2U);
  EXPECT_EQ(first.running.lines.size(), 1U);
  auto catalog = read_catalog(*database_);
  ASSERT_TRUE(catalog);
  auto second = read_time(*database_, *catalog, {.scope = {.processes = {"sec*"}}, .lines = 0});
  ASSERT_TRUE(second);
  EXPECT_EQ(second->threads.total, 1U);
  EXPECT_EQ(second->all.running_ns, 300 * kMs);
}

TEST_F(TimeTest, OfATraceOfCallsAloneNothingIsSaid) {
  begin_two();
  call(1, 0, 700);
  const TimeShares found = shares();
  EXPECT_FALSE(found.recorded.any());
  EXPECT_TRUE(found.threads.lines.empty());
}

}  // namespace
}  // namespace uscope::analyzer
