// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// Where the time of a slower run went.
#include "tests/unit/analyzer/diff/diff_case.h"

namespace uscope::analyzer {
namespace {

TEST_F(DiffTest, SlowerCallsAreToldByTheirMedian) {
  for (int i = 0; i < 3; i++) normal({.calls = {{.kind = "fsync", .count = 50, .dur_ns = 1'000'000}}});
  abnormal({.calls = {{.kind = "fsync", .count = 50, .dur_ns = 9'000'000}}});
  const Diff found = compared();
  ASSERT_EQ(found.changed.total, 1U);
  const ChangedCell& cell = found.changed.entries[0].cell;
  EXPECT_EQ(cell.what, Shift::kLatency);
  // Within the step that the durations fall into: a quarter at most.
  EXPECT_NEAR(cell.before, 1e6, 0.25e6);
  EXPECT_NEAR(cell.after, 9e6, 2.25e6);
}

// Most calls return at once, so the median does not tell.
TEST_F(DiffTest, AFewSlowCallsAreToldByTheirTime) {
  const auto run = [](std::int64_t slow_ns, double seconds) {
    return MadeRun{.calls = {{.kind = "poll", .function = "ask", .count = 100, .dur_ns = 2000},
                             {.kind = "poll", .function = "ask", .count = 6, .dur_ns = slow_ns, .caller = "fetch"}},
                   .seconds = seconds};
  };
  for (int i = 0; i < 3; i++) normal(run(1'000'000 + i, 0.1));
  EXPECT_FALSE(compared_with_itself().time.notable);
  for (int i = 0; i < 3; i++) abnormal(run(150'000'000 + i, 1));
  for (const MatrixBy& by : {MatrixBy{}, MatrixBy{MatrixBy::Space::kDepth, 1}}) {
    options_.by = by;
    const Diff found = compared();
    EXPECT_EQ(found.changed.total, 0U);
    EXPECT_TRUE(found.time.notable);
    ASSERT_EQ(found.places.total, 1U);
    const TimeEntry& entry = found.places.entries[0];
    EXPECT_EQ(entry.shift.place.call, (CellKey{"poll", "ask", "server"}));
    EXPECT_NEAR(entry.shift.time.change(), 894e6, 1e3);
    EXPECT_DOUBLE_EQ(entry.shift.time.abnormal.times, 106);
    EXPECT_EQ(entry.stack, "fetch;ask");
    EXPECT_EQ(entry.file, options_.abnormal[2].string());
  }
}

TEST_F(DiffTest, TimeOutsideOfCallsIsToldByTheCallsAroundIt) {
  const auto run = [](std::int64_t ns, double seconds) {
    return MadeRun{.calls = {{.kind = "brk", .function = "fill"}, {.kind = "write", .function = "say", .count = 2}},
                   .seconds = seconds,
                   .more_sql = "UPDATE gap_total SET total_ns = " + std::to_string(ns) +
                               "; INSERT INTO gap_total SELECT 'call', 'thread', 2, 2, NULL, NULL, 1, " +
                               std::to_string(ns / 2) + ", 1, 1, 1, 2, NULL;"};
  };
  normal(run(100'000'000, 0.1));
  abnormal(run(8'000'000'000, 8));
  const Diff found = compared();
  EXPECT_TRUE(found.time.notable);
  ASSERT_GE(found.places.total, 1U);
  const TimeEntry& last = found.places.entries.back();
  EXPECT_TRUE(last.shift.place.outside);
  EXPECT_EQ(last.shift.place.call, (CellKey{"write", "say", "server"}));
  EXPECT_TRUE(last.shift.place.next.kind.empty());
  EXPECT_EQ(last.shift.place.until, GapEdge::kThread);
  EXPECT_EQ(last.stack, "main;say");
}

// A call that hangs takes until its thread or the tracing ends.
TEST_F(DiffTest, CallsThatNeverReturnedTakeTime) {
  normal({.calls = {{.kind = "read"}}, .seconds = 1});
  abnormal({.calls = {{.kind = "read"}, {.kind = "read", .dur_ns = -1, .caller = "ask"}}, .seconds = 9});
  const Diff found = compared();
  ASSERT_EQ(found.places.total, 1U);
  EXPECT_NEAR(found.places.entries[0].shift.time.change(), 9e9, 1e6);
  EXPECT_EQ(found.places.entries[0].stack, "ask;work");
}

TEST_F(DiffTest, TheStackShownIsTheUsualOne) {
  three_normal();
  auto calls = usual();
  calls.push_back({.kind = "fsync", .function = "save", .count = 1, .caller = "first"});
  calls.push_back({.kind = "fsync", .function = "save", .count = 30, .caller = "usual"});
  abnormal({.calls = calls});
  for (const MatrixBy& by : {MatrixBy{}, MatrixBy{MatrixBy::Space::kDepth, 1}}) {
    options_.by = by;
    const Diff found = compared();
    ASSERT_EQ(found.abnormal_only.total, 1U);
    const CellExample& example = found.abnormal_only.entries[0].example;
    EXPECT_EQ(example.stack, "usual;save");
    EXPECT_EQ(example.event_id, EventRowId(652));
    EXPECT_EQ(example.first_ns, 651'000);
  }
}

}  // namespace
}  // namespace uscope::analyzer
