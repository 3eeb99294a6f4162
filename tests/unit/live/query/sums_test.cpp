// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "live/query/sums.h"

#include <gtest/gtest.h>

#include <limits>
#include <span>
#include <vector>

#include "tests/support/question_maker.h"
#include "tests/unit/live/query/programs.h"

namespace uscope::query {
namespace {

trace::Event read_of(std::int64_t result, std::uint32_t kind = 0) {
  trace::Event event;
  event.kind = kind;
  event.result = result;
  event.how = USC_HOW_RETURNED;
  return event;
}

TEST(Sums, AddsEventsByTheirKey) {
  const usc_query program = results_by_kind();
  Sums sums(program);
  for (const std::int64_t result : {3, -1, 5}) EXPECT_EQ(sums.add(read_of(result)), USC_QUERY_GIVEN);
  EXPECT_EQ(sums.add(read_of(7, 1)), USC_QUERY_GIVEN);
  trace::Event open = read_of(0);
  open.how = USC_HOW_OPEN;
  EXPECT_EQ(sums.add(open), USC_QUERY_GIVEN);
  ASSERT_EQ(sums.rows().size(), 2U);
  EXPECT_EQ(sums.events(), 5U);
  const PartialRow row = sums.rows()[0];
  EXPECT_TRUE(sums.rows().has_key(0, usc_query_key{}));
  EXPECT_EQ(row.events, 4U);
  EXPECT_EQ(row.sums[0], (WideSum{3, -1, 5, 7})) << "an open call has no result";
}

TEST(Sums, RowsOfTheKernelSideAreAddedToThem) {
  const usc_query program = results_by_kind();
  Sums sums(program);
  (void)sums.add(read_of(4));
  usc_query_row row{};
  row.events = 10;
  row.sum[0] = {2, 30, 10, 20};
  sums.add(row);
  usc_query_row without = row;  // in none of its events the measure is known
  without.sum[0] = {};
  sums.add(without);
  sums.add(usc_query_row{});
  ASSERT_EQ(sums.rows().size(), 1U);
  const PartialRow all = sums.rows()[0];
  EXPECT_EQ(all.events, 21U);
  EXPECT_EQ(all.sums[0], (WideSum{3, 4, 20, 34}));
}

TEST(Sums, GoBeyondSixtyFourBits) {
  const usc_query program = results_by_kind();
  Sums sums(program);
  constexpr std::int64_t kMost = std::numeric_limits<std::int64_t>::max();
  (void)sums.add(read_of(kMost));
  (void)sums.add(read_of(kMost));
  EXPECT_TRUE(sums.rows()[0].sums[0].sum == static_cast<__int128>(kMost) * 2);
}

TEST(Sums, TakeNothingOfWhatTheProgramRefuses) {
  usc_query program = results_by_kind();
  program.insn[program.length++] = {USC_QUERY_UNLESS, 0, 3, 0, 0, 0};  // register 3 is 0
  Sums sums(program);
  EXPECT_EQ(sums.add(read_of(1)), USC_QUERY_REFUSED);
  EXPECT_TRUE(sums.rows().empty());
}

// Rows are found again by their keys however many there are, NULLs are no zeroes, and what packed() gave is the same
// rows.
TEST(Sums, KeepManyRowsInFewWords) {
  usc_query program = results_by_kind();
  Sums sums(program);
  constexpr std::int64_t kRows = 5000;
  for (int round = 0; round < 2; round++)
    for (std::int64_t i = 0; i < kRows; i++) {
      usc_query_row row{};
      row.events = 1;
      row.key.word[0] = i / 2;
      row.key.nulls = i % 2 == 0 ? 0 : 4;
      row.sum[0] = {1, -i, -i, -i};
      sums.add(row);
    }
  EXPECT_EQ(sums.events(), 2U * kRows);
  const PartialRows rows = sums.take_rows();
  ASSERT_EQ(rows.size(), static_cast<std::size_t>(kRows));
  std::vector<std::uint64_t> words = rows.packed();
  EXPECT_EQ(words.size(), 1 + kRows * (2 + 3 + 5));
  words.push_back(7);  // a word too many
  const PartialRows again(program, words);
  ASSERT_EQ(again.size(), rows.size());
  for (std::size_t number = 0; number < again.size(); number++) {
    const auto i = static_cast<std::int64_t>(number);
    const PartialRow row = again[number];
    EXPECT_EQ(row.key.word[0], i / 2);
    EXPECT_EQ(row.key.nulls, i % 2 == 0 ? 0U : 4U);
    EXPECT_EQ(row.events, 2U);
    EXPECT_EQ(row.sums[0], (WideSum{2, -i, -i, -2 * i}));
  }
}

// Keys: the kind, and the steps of the result and of the first argument, of which the kernel side has groups of the
// latter; measure: the result.
usc_query steps_by_kind() {
  return test::question_of(
      3, 1,
      {test::field(0, USC_QUERY_KIND), test::give(USC_QUERY_KEY, 0, 0), test::field(1, USC_QUERY_RESULT),
       test::give(USC_QUERY_KEY_STEP, 1, 1), test::field(2, USC_QUERY_ARG0), test::give(USC_QUERY_KEY_STEP, 2, 2),
       test::give(USC_QUERY_MEASURE, 1, 0)});
}

// A row as the kernel side keeps it: of the key (7, 500, group of the steps).
struct Kept {
  usc_query_row row{};
  usc_query_steps steps{};

  void add(std::int64_t end, std::uint32_t events) {
    __u32 step = 0;
    row.key.word[0] = 7;
    row.key.word[1] = 503;
    row.key.word[2] = usc_query_group(end, &step);
    row.events += events;
    steps.events[step] += events;
  }
};

TEST(Sums, StepsOfAGroupAreTheRows) {
  const usc_query program = steps_by_kind();
  Sums sums(program);
  Kept large;
  large.add(1007, 3);
  large.add(1023, 4'000'000'000);
  large.row.sum[0] = {5, -10, -7, 2};
  Kept negative;
  negative.add(-1007, 1);
  negative.add(-1023, 2);
  Kept again;  // of another processor
  again.add(1015, 1);
  again.add(1023, 4'000'000'000);
  again.row.sum[0] = {1, 4, 4, 4};
  for (const Kept* kept : {&large, &negative, &again}) sums.add(kept->row, &kept->steps);
  EXPECT_EQ(sums.events(), 8'000'000'007U);
  ASSERT_EQ(sums.rows().size(), 1U);
  const PartialRow row = sums.rows()[0];
  EXPECT_EQ(row.key.word[0], 7);
  EXPECT_EQ(row.key.word[2], 0);
  EXPECT_EQ(row.events, 8'000'000'007U);
  EXPECT_EQ(row.sums[0], (WideSum{6, -7, 4, -6}));
  EXPECT_EQ(sums.rows().steps(0, 2), (StepCounts{{-1023, 2}, {-1007, 1}, {1007, 3}, {1015, 1}, {1023, 8'000'000'000}}));
  EXPECT_EQ(sums.rows().steps(0, 1), (StepCounts{{503, 8'000'000'007}})) << "of a word that has steps, not groups";
}

// Rows of single steps, as the module has them and as they come through the ring, and events.
TEST(Sums, StepsComeOneByOneToo) {
  const usc_query program = steps_by_kind();
  Sums sums(program);
  for (const std::int64_t end : {std::int64_t{1023}, std::int64_t{7}, std::int64_t{1023}}) {
    usc_query_row row{};
    row.events = 2;
    row.key.word[2] = end;
    row.key.nulls = 2;
    sums.add(row);
  }
  trace::Event event = read_of(1000);
  event.args[0] = 1020;
  EXPECT_EQ(sums.add(event), USC_QUERY_GIVEN);
  ASSERT_EQ(sums.rows().size(), 1U);
  EXPECT_EQ(sums.rows().steps(0, 2), (StepCounts{{7, 2}, {1023, 5}}));
  EXPECT_EQ(sums.rows().steps(0, 1), (StepCounts{{1007, 1}})) << "NULL has no step";
  EXPECT_EQ(sums.rows()[0].key.nulls, 0U);
}

// NULL is a group of its own: its events are counted, and lie in no step.
TEST(Sums, AGroupOfNullHasNoSteps) {
  const usc_query program = steps_by_kind();
  Sums sums(program);
  Kept null;
  null.add(0, 2);
  null.row.key.nulls = 4;
  Kept zero;
  zero.add(0, 1);
  for (const Kept* kept : {&null, &zero}) sums.add(kept->row, &kept->steps);
  ASSERT_EQ(sums.rows().size(), 1U);
  EXPECT_EQ(sums.rows()[0].events, 3U);
  EXPECT_EQ(sums.rows().steps(0, 2), (StepCounts{{0, 1}}));
}

TEST(Sums, StepsArePackedWithTheirRows) {
  const usc_query program = steps_by_kind();
  Sums sums(program);
  for (const std::int64_t kind : {1, 2, 3}) {
    usc_query_row row{};
    row.events = 1;
    row.key.word[0] = kind;
    for (std::int64_t i = 0; i < kind; i++) {
      row.key.word[2] = 100 - i;
      sums.add(row);
    }
  }
  const PartialRows rows = sums.take_rows();
  const std::vector<std::uint64_t> packed = rows.packed();
  const PartialRows again(program, packed);
  ASSERT_EQ(again.size(), 3U);
  EXPECT_EQ(again.packed(), packed);
  EXPECT_EQ(again.steps(2, 2), (StepCounts{{98, 1}, {99, 1}, {100, 1}}));
  EXPECT_EQ(again.steps(0, 1), (StepCounts{{0, 1}}));
  // Nothing is read behind an end, wherever that is.
  for (std::size_t words = 0; words < packed.size(); words++)
    EXPECT_LE(PartialRows(program, std::span(packed).first(words)).size(), 3U);
}

}  // namespace
}  // namespace uscope::query
