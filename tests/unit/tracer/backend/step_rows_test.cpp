// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "tracer/backend/step_rows.h"

#include <gtest/gtest.h>

#include <map>
#include <vector>

namespace uscope::tracer {
namespace {

// A row as the kernel side keeps it: of the key (7, group of `end`), with these events in steps.
struct Kept {
  usc_query_row row{};
  usc_query_steps steps{};

  void add(std::int64_t end, std::uint32_t events) {
    __u32 step = 0;
    row.key.word[0] = 7;
    row.key.word[1] = usc_query_group(end, &step);
    row.events += events;
    steps.events[step] += events;
  }
  std::vector<usc_query_row> taken() {
    std::vector<usc_query_row> rows;
    take_steps(row, steps, 1, [&rows](const usc_query_row& one) { rows.push_back(one); });
    return rows;
  }
};

TEST(StepRows, EachStepIsARowAndTheFirstHasWhatWasMeasured) {
  Kept kept;
  kept.add(1007, 3);
  kept.add(1023, 4'000'000'000);
  kept.row.sum[0] = {5, -10, -7, 2};
  const auto rows = kept.taken();
  ASSERT_EQ(rows.size(), 2U);
  EXPECT_EQ(rows[0].key.word[0], 7);
  EXPECT_EQ(rows[0].key.word[1], 1007);
  EXPECT_EQ(rows[0].events, 3U);
  EXPECT_EQ(rows[0].sum[0].count, 5U);
  EXPECT_EQ(rows[0].sum[0].sum, -10);
  EXPECT_EQ(rows[0].sum[0].least, -7);
  EXPECT_EQ(rows[0].sum[0].greatest, 2);
  EXPECT_EQ(rows[1].key.word[1], 1023);
  EXPECT_EQ(rows[1].events, 4'000'000'000U);
  EXPECT_EQ(rows[1].sum[0].count, 0U);
  EXPECT_TRUE(kept.taken().empty()) << "the steps are counted anew";
}

TEST(StepRows, NegativeNumbersAndNull) {
  Kept negative;
  negative.add(-1007, 1);
  const auto rows = negative.taken();
  ASSERT_EQ(rows.size(), 1U);
  EXPECT_EQ(rows[0].key.word[1], -1007);
  Kept null;
  null.add(0, 2);
  null.row.key.nulls = 2;
  const auto nulls = null.taken();
  ASSERT_EQ(nulls.size(), 1U);
  EXPECT_EQ(nulls[0].key.word[1], 0);
  EXPECT_EQ(nulls[0].key.nulls, 2U);
  EXPECT_EQ(nulls[0].events, 2U);
}

}  // namespace
}  // namespace uscope::tracer
