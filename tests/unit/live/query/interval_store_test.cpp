// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "tests/unit/live/query/interval_store_fixture.h"

namespace uscope::query {
namespace {

constexpr const char* kCounts = "SELECT count(*), min(how), min(process) FROM v_event";

TEST_F(IntervalStoreTest, AnEventBelongsToTheIntervalInWhichItEnded) {
  begin(kSecond);
  put(call(kBegin + 1, kBegin + 2));
  put(call(kBegin + 10, kBegin + kSecond + 5));  // the next interval's
  put(call(kBegin + kSecond + 7, kBegin + 3 * kSecond + 9));
  rounds(kBegin + kSecond - 1);
  EXPECT_TRUE(closed_.empty()) << "it is not over";
  rounds(kBegin + kSecond);
  ASSERT_EQ(closed_.size(), 1U);
  EXPECT_EQ(closed_[0].facts.from_ns, kBegin);
  EXPECT_EQ(closed_[0].facts.until_ns, kBegin + kSecond);
  EXPECT_EQ(closed_[0].facts.events, 1U);
  EXPECT_EQ(ask(closed_[0], kCounts), "1|returned|app\n");
  rounds(kBegin + 2 * kSecond);
  rounds(kBegin + 3 * kSecond);
  ASSERT_EQ(closed_.size(), 3U);
  EXPECT_EQ(ask(closed_[1], kCounts), "1|returned|app\n");
  EXPECT_EQ(closed_[2].facts.events, 0U);
  EXPECT_EQ(ask(closed_[2], kCounts), "0||\n");
  ASSERT_TRUE(store_->finish());
  ASSERT_EQ(closed_.size(), 4U);
  EXPECT_TRUE(closed_[3].facts.last);
  EXPECT_EQ(ask(closed_[3], kCounts), "1|returned|app\n");
}

TEST_F(IntervalStoreTest, TheLastIntervalLastsUntilTheTracerHasEnded) {
  begin(kSecond, false, 2 * kSecond);
  for (const std::uint64_t after : {kSecond / 2, 3 * kSecond / 2, 2 * kSecond + 5})
    put(call(kBegin + after - 1, kBegin + after));
  rounds(kBegin + 3 * kSecond);
  ASSERT_EQ(closed_.size(), 1U);
  ASSERT_TRUE(store_->finish());
  ASSERT_EQ(closed_.size(), 2U);
  EXPECT_EQ(closed_[1].facts.events, 2U);
  EXPECT_EQ(closed_[1].facts.until_ns, kBegin + 2 * kSecond + 5);
}

TEST_F(IntervalStoreTest, AnOpenCallCountsOnceAndNotBeforeTheEnd) {
  begin(kSecond);
  put(call(kBegin + 1, kBegin + 500, USC_HOW_OPEN));
  put(call(kBegin + 2, kBegin + 600, USC_HOW_ATTACHED, 0, 2));
  put(call(kBegin + 2, kBegin + 700, USC_HOW_RETURNED, 0, 2));
  rounds(kBegin + kSecond);
  ASSERT_EQ(closed_.size(), 1U);
  EXPECT_EQ(ask(closed_[0], "SELECT how FROM v_event"), "attached\n") << "it returned, and was under way before";
  put(call(kBegin + 1, kBegin + 1500, USC_HOW_OPEN));
  ASSERT_TRUE(store_->finish());
  ASSERT_EQ(closed_.size(), 2U);
  EXPECT_EQ(ask(closed_[1], "SELECT how FROM v_event"), "open\n");
}

TEST_F(IntervalStoreTest, ACallThatReturnsIsNotOpenAnyMore) {
  begin(0);
  put(call(kBegin + 1, kBegin + 500, USC_HOW_OPEN));
  put(call(kBegin + 1, kBegin + 1500));
  put(call(kBegin + 1, kBegin + 1200, USC_HOW_OPEN));  // seen before, told behind
  ASSERT_TRUE(store_->finish());
  ASSERT_EQ(closed_.size(), 1U);
  EXPECT_EQ(closed_[0].facts.events, 1U);
  EXPECT_EQ(ask(closed_[0], "SELECT how FROM v_event"), "returned\n");
}

// The rows of a store: names of kinds and arguments, kernel frames above the user stack.
TEST_F(IntervalStoreTest, HitsAreEventsOfEachInterval) {
  begin(kSecond);
  put(kind(USC_SOURCE_SAMPLE, std::string_view("user\0cpu:int\0period_ns:u64\0", 27), 2));
  put(place("vmlinux+0x10 vfs_read+0x1"));
  put(stack(7));
  put(hit(USC_SOURCE_SAMPLE, kBegin + 5, kBegin + 5, USC_HOW_HIT, 7));
  rounds(kBegin + kSecond);
  put(hit(USC_SOURCE_SAMPLE, kBegin + kSecond + 5, kBegin + kSecond + 5, USC_HOW_HIT, 7));
  rounds(kBegin + 2 * kSecond);
  ASSERT_EQ(closed_.size(), 2U);
  for (ClosedInterval& closed : closed_) {
    EXPECT_EQ(closed.facts.events, 1U);
    EXPECT_EQ(closed.facts.without_stack, 0U);
    EXPECT_EQ(
        ask(closed,
            "SELECT class, v_event.kind, how, v_argument.name, value, depth, substr(folded, -12) FROM v_event JOIN "
            "v_argument ON event_id = v_event.id WHERE arg = 1"),
        "sample|user|hit|period_ns|77|1|vfs_read_[k]\n");
  }
}

TEST_F(IntervalStoreTest, AHitThatLastsBelongsToTheIntervalInWhichItEnds) {
  begin(kSecond, false);
  put(hit(USC_SOURCE_OFFCPU, kBegin + 5, kBegin + kSecond + 5, USC_HOW_RETURNED));
  put(hit(USC_SOURCE_OFFCPU, kBegin + 6, kBegin + 50, USC_HOW_OPEN));
  put(hit(USC_SOURCE_OFFCPU, kBegin + 7, kBegin + 50, USC_HOW_OPEN));
  rounds(kBegin + kSecond);
  ASSERT_EQ(closed_.size(), 1U);
  EXPECT_EQ(closed_[0].facts.events, 0U);
  put(hit(USC_SOURCE_OFFCPU, kBegin + 6, kBegin + kSecond + 9, USC_HOW_RETURNED));
  ASSERT_TRUE(store_->finish());
  ASSERT_EQ(closed_.size(), 2U);
  EXPECT_EQ(ask(closed_[1], "SELECT kind, how, dur_ns FROM v_event ORDER BY ts_ns"),
            "offcpu_1|returned|1000000000\noffcpu_1|returned|1000000003\noffcpu_1|open|\n");
}

// Sums are not made of hits where they are asked for; where others bring them, they count as what they are.
TEST_F(IntervalStoreTest, HitsAmongSumsKeepTheirClass) {
  plan_ = *plan("SELECT class, kind, how, errno, count(*) FROM v_event GROUP BY 1, 2, 3, 4 ORDER BY 1");
  ASSERT_EQ(plan_.way, Way::kSums);
  begin(kSecond, false);
  put(hit(USC_SOURCE_SAMPLE, kBegin + 5, kBegin + 5));
  put(call(kBegin + 6, kBegin + 7));
  usc_hit function = hit(USC_SOURCE_UFUNCTION, kBegin + 8, kBegin + 9, USC_HOW_RETURNED).record();
  function.frames = 0;
  function.flags = 0;
  function.result = -2;  // no error's number
  put(trace::RecordBuilder<usc_hit>(function));
  rounds(kBegin + kSecond);
  ASSERT_EQ(closed_.size(), 1U);
  EXPECT_EQ(ask(closed_[0], plan_.outer),
            "sample|sample_1|hit||1\nsyscall|read|returned||1\nufunction|ufunction_1|returned||1\n");
}

TEST_F(IntervalStoreTest, AnIntervalWaitsForItsStacksAndNotForEver) {
  begin(kSecond);
  put(call(kBegin + 1, kBegin + 2, USC_HOW_RETURNED, 7));
  rounds(kBegin + kSecond);
  EXPECT_TRUE(closed_.empty());
  put(stack(7));
  rounds(kBegin + kSecond + 1);
  ASSERT_EQ(closed_.size(), 1U);
  EXPECT_EQ(closed_[0].facts.without_stack, 0U);
  EXPECT_EQ(ask(closed_[0], "SELECT depth FROM v_event"), "1\n");
  put(call(kBegin + kSecond + 1, kBegin + kSecond + 2, USC_HOW_RETURNED, 7));  // known from before
  put(call(kBegin + kSecond + 3, kBegin + kSecond + 4, USC_HOW_RETURNED, 8));
  rounds(kBegin + 2 * kSecond + IntervalStore::kStackPatienceNs);
  ASSERT_EQ(closed_.size(), 2U);
  EXPECT_EQ(closed_[1].facts.without_stack, 1U);
  EXPECT_EQ(ask(closed_[1], "SELECT depth FROM v_event"), "1\n\n");
}

TEST_F(IntervalStoreTest, NobodyWaitsForStacksThatAreNotAskedFor) {
  begin(kSecond, false);
  put(call(kBegin + 1, kBegin + 2, USC_HOW_RETURNED, 7));
  rounds(kBegin + kSecond);
  ASSERT_EQ(closed_.size(), 1U);
  EXPECT_EQ(closed_[0].facts.without_stack, 0U);
}

TEST_F(IntervalStoreTest, WhatTheKernelSumsBehindTheTurnIsOfTheNextInterval) {
  plan_.way = Way::kSums;
  plan_.program = test::question_of(0, 0, {test::number(0, 0)});
  begin(kSecond, false);
  const auto row = [](std::uint64_t events) {
    usc_query_row sums{};
    sums.events = events;
    return sums;
  };
  store_->add(row(1));
  store_->on_round(kBegin + kSecond);
  EXPECT_TRUE(closed_.empty()) << "sums are asked for first";
  EXPECT_TRUE(store_->wants_sums());
  EXPECT_TRUE(store_->wants_losses());
  store_->add(row(2));
  store_->on_round(kBegin + kSecond + 1);
  EXPECT_TRUE(closed_.empty()) << "sums are under way";
  EXPECT_TRUE(store_->wants_sums());
  store_->on_sums_sent();
  EXPECT_FALSE(store_->wants_sums());
  store_->add(row(4));
  store_->on_round(kBegin + kSecond + 1);
  EXPECT_TRUE(closed_.empty()) << "losses are not recorded yet";
  EXPECT_TRUE(store_->wants_losses());
  store_->on_losses_recorded();
  EXPECT_FALSE(store_->wants_losses());
  store_->on_round(kBegin + kSecond + 1);
  ASSERT_EQ(closed_.size(), 1U);
  EXPECT_EQ(closed_[0].facts.events, 3U);
  store_->add(row(8));
  ASSERT_TRUE(store_->finish());
  ASSERT_EQ(closed_.size(), 2U);
  EXPECT_EQ(closed_[1].facts.events, 12U);
}

TEST_F(IntervalStoreTest, LossesStandWithTheIntervalThatIsClosedThen) {
  begin(kSecond);
  store_->on_round(kBegin + kSecond);
  EXPECT_TRUE(closed_.empty()) << "losses are asked for first";
  EXPECT_TRUE(store_->wants_losses());
  usc_loss loss{};
  loss.head.time = kBegin + kSecond + 100;
  loss.count = 12;
  loss.cause = USC_LOSS_RING_FULL_EVENT;
  put(trace::RecordBuilder<usc_loss>(loss));
  store_->on_losses_recorded();
  EXPECT_FALSE(store_->wants_losses());
  store_->on_round(kBegin + kSecond + 1);
  ASSERT_EQ(closed_.size(), 1U);
  EXPECT_EQ(closed_[0].facts.lost, 12U);
  rounds(kBegin + 2 * kSecond);
  EXPECT_EQ(closed_[1].facts.lost, 0U);
}

TEST_F(IntervalStoreTest, TasksAreForgottenWhenTheyHaveEndedAndNotBefore) {
  begin(kSecond);
  put(task(2, 2));
  put(exec(2));
  put(exit(2, kBegin + 10));
  rounds(kBegin + kSecond);
  EXPECT_EQ(ask(closed_[0], "SELECT count(*) FROM process"), "2\n");
  rounds(kBegin + 2 * kSecond);  // a late event of its last call would be in this one
  EXPECT_EQ(ask(closed_[1], "SELECT count(*) FROM process"), "2\n");
  rounds(kBegin + 3 * kSecond);
  EXPECT_EQ(ask(closed_[2], "SELECT (SELECT count(*) FROM process), (SELECT group_concat(name) FROM image)"),
            "1|app\n");
}

TEST_F(IntervalStoreTest, AnEventBeyondSixtyFourBitsIsARowByItself) {
  plan_.way = Way::kSums;
  plan_.program = results_by_kind();
  usc_query& program = plan_.program;  // the measure is result + result
  program.insn[program.length - 1] = {USC_QUERY_ADD, 2, 2, 2, 0, 0};
  program.insn[program.length++] = {USC_QUERY_MEASURE, 0, 2, 0, 0, 0};
  plan_.keys = {{Key::kSource, ""}, {Key::kKind, ""}, {Key::kAbi, ""}};
  plan_.measures = {"result + result"};
  plan_.whole =
      "SELECT 1 AS n, (result + result) IS NOT NULL AS c0, result + result AS s0, result + result AS mn0, "
      "result + result AS mx0, kind, class FROM v_event";
  begin(kSecond, false);
  put(call(kBegin + 1, kBegin + 2));
  auto large = call(kBegin + 3, kBegin + 4);
  reinterpret_cast<usc_event&>(large.head()).result = std::numeric_limits<std::int64_t>::max();
  put(std::move(large));
  rounds(kBegin + kSecond);
  EXPECT_EQ(ask(closed_[0], "SELECT kind, sum(n), typeof(sum(s0)), min(mn0) FROM partial GROUP BY kind"),
            "read|2|real|16\n");
}

// A question that names no time has none read: then events have small numbers for times, as those of rows.
TEST_F(IntervalStoreTest, WholeEventsWithoutTimesComeBehindThoseOfRows) {
  plan_.way = Way::kSums;
  plan_.program = results_by_kind();
  usc_query& program = plan_.program;  // the measure is result + result
  program.insn[program.length - 1] = {USC_QUERY_ADD, 2, 2, 2, 0, 0};
  program.insn[program.length++] = {USC_QUERY_MEASURE, 0, 2, 0, 0, 0};
  program.reads = usc_query_reads(&program);
  plan_.keys = {{Key::kSource, ""}, {Key::kKind, ""}, {Key::kAbi, ""}};
  plan_.measures = {"result + result"};
  plan_.whole =
      "SELECT 1 AS n, (result + result) IS NOT NULL AS c0, result + result AS s0, result + result AS mn0, "
      "result + result AS mx0, kind, class FROM v_event";
  begin(kSecond, false);
  std::uint64_t number = 0;
  for (const std::uint32_t kind : {0, 1, 2, 3})
    for (const std::int64_t result : {std::int64_t{8}, std::numeric_limits<std::int64_t>::max()}) {
      number++;
      auto some = call(number, number);
      reinterpret_cast<usc_event&>(some.head()).kind = kind;
      reinterpret_cast<usc_event&>(some.head()).result = result;
      put(std::move(some));
    }
  rounds(kBegin + kSecond);
  EXPECT_EQ(ask(closed_[0], "SELECT kind, sum(n), sum(typeof(s0) = 'real'), min(mn0) FROM partial GROUP BY kind"),
            "close|2|1|16\nopen|2|1|16\nread|2|1|16\nwrite|2|1|16\n");
}

// But not those of calls that are under way, nor those that the kernel side told of since it was asked.
TEST_F(IntervalStoreTest, StacksThatNoEventCanNameAreForgotten) {
  begin(kSecond, true, 0, 2);
  put(stack(1));
  put(stack(2));
  EXPECT_FALSE(store_->wants_stacks());
  put(stack(3));
  put(task(2));
  put(call(kBegin + 1, kBegin + 1, USC_HOW_OPEN, 2));
  rounds(kBegin + 10);
  EXPECT_TRUE(store_->wants_stacks());
  EXPECT_TRUE(store_->wants_stacks()) << "until it is known from which number on";
  store_->on_stacks_resent(trace::StackId(10));
  EXPECT_FALSE(store_->wants_stacks()) << "it has been asked";
  const auto unknown_in_second = [&](std::uint64_t second, std::uint32_t stack) {
    put(call(kBegin + second * kSecond + 1, kBegin + second * kSecond + 2, USC_HOW_RETURNED, stack, 2));
    rounds(kBegin + second * kSecond + kSecond + IntervalStore::kStackPatienceNs);
    return closed_.back().facts.without_stack;
  };
  EXPECT_EQ(unknown_in_second(0, 1), 0U) << "a call that was under way when the kernel side was asked";
  put(stack(10));
  EXPECT_EQ(unknown_in_second(1, 3), 0U);
  for (std::uint64_t second = 2; second < 7; second++) EXPECT_EQ(unknown_in_second(second, 10), 0U);
  EXPECT_EQ(unknown_in_second(7, 3), 1U);
  EXPECT_EQ(unknown_in_second(8, 10), 0U);
  put(call(kBegin + 1, kBegin + 9 * kSecond + 1, USC_HOW_RETURNED, 2));
  EXPECT_EQ(unknown_in_second(9, 10), 0U);
  put(stack(11));
  EXPECT_FALSE(store_->wants_stacks()) << "2, 10 and 11 are kept: fewer than twice as many as were in use";
  put(stack(12));
  put(stack(13));
  EXPECT_TRUE(store_->wants_stacks());
}

// Only what names stand for needs an event: 1000 rows of two tasks are of two.
TEST_F(IntervalStoreTest, RowsThatDifferInNumbersShareAnEvent) {
  plan_.way = Way::kSums;
  plan_.program = test::question_of(2, 0,
                                    {test::field(0, USC_QUERY_RESULT), test::give(USC_QUERY_KEY, 0, 0),
                                     test::field(1, USC_QUERY_TASK), test::give(USC_QUERY_KEY, 1, 1)});
  plan_.keys = {{Key::kExpression, "k0"}, {Key::kTask, ""}};
  begin(kSecond, false);
  put(task(2));
  for (std::uint64_t i = 0; i < 1000; i++) {
    auto some = call(kBegin + i, kBegin + i + 1, USC_HOW_RETURNED, 0, i % 2 == 0 ? 1 : 2);
    reinterpret_cast<usc_event&>(some.head()).result = static_cast<std::int64_t>(i);
    put(std::move(some));
  }
  rounds(kBegin + kSecond);
  EXPECT_EQ(closed_[0].rows.size(), 1000U);
  EXPECT_LT(closed_[0].bytes, 1000 * sizeof(usc_event));
  EXPECT_EQ(ask(closed_[0],
                "SELECT (SELECT count(*) FROM main.event), tid, count(*), sum(n), sum(k0) FROM partial GROUP BY tid"),
            "2|100|500|500|249500\n2|101|500|500|250000\n");
}

TEST_F(IntervalStoreTest, TheEventsOfRowsSayWhatTheKeySays) {
  usc_query_key key{};
  const std::vector<KeyWord> keys{{Key::kHow, ""}, {Key::kError, ""}, {Key::kTask, ""}, {Key::kStack, ""}};
  key.word[0] = USC_HOW_ATTACHED;
  key.word[1] = 2;
  key.word[2] = 9;
  key.word[3] = 5;
  const usc_event event = event_of(key, keys, 3);
  EXPECT_EQ(event.entry_ns, 4U);
  EXPECT_EQ(event.result, -2);
  EXPECT_EQ(event.how, USC_HOW_RETURNED);
  EXPECT_EQ(event.flags, USC_EVENT_ATTACHED);
  EXPECT_EQ(event.head.task, 9U);
  EXPECT_EQ(event.stack, 5U);
  EXPECT_EQ(stack_of(key, keys), 5U);
  key.word[1] = 0;
  EXPECT_EQ(event_of(key, keys, 0).flags, USC_EVENT_ATTACHED | USC_EVENT_NO_RESULT);
}

}  // namespace
}  // namespace uscope::query
