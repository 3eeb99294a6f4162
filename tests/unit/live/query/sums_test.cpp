// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "live/query/sums.h"

#include <gtest/gtest.h>

#include <limits>

#include "tests/unit/live/query/programs.h"

namespace uscope::query {
namespace {

usc_event read_of(std::int64_t result, std::uint32_t kind = 0) {
  usc_event event{};
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
  usc_event open = read_of(0);
  open.how = USC_HOW_OPEN;
  EXPECT_EQ(sums.add(open), USC_QUERY_GIVEN);
  ASSERT_EQ(sums.rows().size(), 2U);
  EXPECT_EQ(sums.events(), 5U);
  usc_query_key key{};
  const PartialRow& row = sums.rows().at(key);
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
  const PartialRow& all = sums.rows().begin()->second;
  EXPECT_EQ(all.events, 21U);
  EXPECT_EQ(all.sums[0], (WideSum{3, 4, 20, 34}));
}

TEST(Sums, GoBeyondSixtyFourBits) {
  const usc_query program = results_by_kind();
  Sums sums(program);
  constexpr std::int64_t kMost = std::numeric_limits<std::int64_t>::max();
  (void)sums.add(read_of(kMost));
  (void)sums.add(read_of(kMost));
  EXPECT_TRUE(sums.rows().begin()->second.sums[0].sum == static_cast<__int128>(kMost) * 2);
}

TEST(Sums, TakeNothingOfWhatTheProgramRefuses) {
  usc_query program = results_by_kind();
  program.insn[program.length++] = {USC_QUERY_UNLESS, 0, 3, 0, 0, 0};  // register 3 is 0
  Sums sums(program);
  EXPECT_EQ(sums.add(read_of(1)), USC_QUERY_REFUSED);
  EXPECT_TRUE(sums.rows().empty());
}

}  // namespace
}  // namespace uscope::query
