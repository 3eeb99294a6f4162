// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "live/query/sums.h"

#include <gtest/gtest.h>

#include <cstring>
#include <limits>
#include <vector>

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

// Rows are found again by their keys however many there are, NULLs are no zeroes, and what bytes() gave is the same
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
  EXPECT_EQ(rows.bytes().size(), kRows * sizeof(std::uint64_t) * (2 + 3 + 5));
  std::vector<std::uint64_t> words(rows.bytes().size() / sizeof(std::uint64_t) + 1);  // a word too many
  std::memcpy(words.data(), rows.bytes().data(), rows.bytes().size());
  const PartialRows again(program.keys, program.measures, words);
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

}  // namespace
}  // namespace uscope::query
