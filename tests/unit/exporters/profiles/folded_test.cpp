// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "exporters/profiles/folded.h"

#include <map>

#include "tests/unit/analyzer/sample_trace.h"

namespace uscope::analyzer {
namespace {

using Lines = std::multimap<std::string, std::uint64_t>;

class Folded : public test::SampleTrace {
 protected:
  Lines lines(const exporters::FoldedOptions& options) {
    const auto database = open();
    Lines found;
    const auto catalog = read_catalog(database);
    EXPECT_TRUE(catalog);
    auto totals =
        exporters::fold_stacks(database, *catalog, options,
                               [&](const std::string& stack, std::uint64_t weight) { found.emplace(stack, weight); });
    EXPECT_TRUE(totals) << totals.error().what;
    if (totals) totals_ = *totals;
    return found;
  }

  exporters::FoldedTotals totals_;
};

// The folded text of a hostile function name is the loader's; the rest is ours to clean.
constexpr const char* kHostileLine = "script>;_[31mred_\xff;</script>";

TEST_F(Folded, WeightedByEvents) {
  const Lines expected{{"bash;__libc_start_main;main;run_job;helper;read", 1},
                       {"make;__libc_start_main;main;run_job;helper;read", 4},
                       {"make;read", 1},
                       {"gcc;[broken:no_rows];compile;openat", 4},
                       {kHostileLine, 1},
                       {"true;read", 1},
                       {"true;[no stack]", 1},
                       {"[unknown];[no stack]", 1}};
  EXPECT_EQ(lines({}), expected);
  EXPECT_EQ(totals_.events, 14U);
  EXPECT_EQ(totals_.events_left_out, 0U);
  EXPECT_EQ(totals_.lines, 8U);
}

TEST_F(Folded, WeightedByTimeLeavesOutWhatHasNone) {
  const Lines expected{{"bash;__libc_start_main;main;run_job;helper;read", 1000},
                       {"make;__libc_start_main;main;run_job;helper;read", 7000},
                       {"make;read", 600'000'000},
                       {"gcc;[broken:no_rows];compile;openat", 6000},
                       {kHostileLine, 500},
                       {"true;read", 90}};
  EXPECT_EQ(lines({.weight = exporters::FoldedWeight::kTime}), expected);
  EXPECT_EQ(totals_.events, 9U);
  EXPECT_EQ(totals_.events_left_out, 5U);
}

TEST_F(Folded, WithTheCallAsInnermostFrame) {
  const Lines found = lines({.levels = {.call = true}});
  EXPECT_EQ(found.find("gcc;[broken:no_rows];compile;openat;openat")->second, 3U);
  EXPECT_EQ(found.find("gcc;[broken:no_rows];compile;openat;exit_group")->second, 1U);
  EXPECT_EQ(found.find("true;[no stack];openat")->second, 1U);
  EXPECT_EQ(totals_.events, 14U);
}

TEST_F(Folded, PidsAndThreadsAreLevels) {
  const Lines found = lines({.levels = {.pid = true, .thread = true}});
  EXPECT_EQ(found.find("make;pid 100;make/100;__libc_start_main;main;run_job;helper;read")->second, 2U);
  EXPECT_EQ(found.find("make;pid 100;worker/110;__libc_start_main;main;run_job;helper;read")->second, 1U);
  EXPECT_EQ(totals_.events, 14U);
  const Lines threads = lines({.levels = {.process = false, .thread = true}});
  EXPECT_EQ(threads.find("gcc/101;[broken:no_rows];compile;openat")->second, 4U);
}

// Each event under the name that its thread had when it began.
TEST_F(Folded, ARenamedThreadIsALevelForEachName) {
  std::filesystem::remove(path());
  test::write_store(path(), std::string(test::kSampleRows) + test::kCountEvents +
                                "INSERT INTO thread_name SELECT id, 0, 'before' FROM thread WHERE tid = 110;"
                                "INSERT INTO thread_name SELECT id, 1 << 60, 'worker' FROM thread WHERE tid = 110;");
  const Lines found = lines({.levels = {.thread = true}});
  EXPECT_EQ(found.count("make;before/110;__libc_start_main;main;run_job;helper;read"), 1U);
  EXPECT_EQ(found.count("make;worker/110;__libc_start_main;main;run_job;helper;read"), 0U);
}

TEST_F(Folded, OnlyEventsThatPassTheFilter) {
  const Lines expected{{"gcc;[broken:no_rows];compile;openat", 2}};
  EXPECT_EQ(lines({.filter = {.pids = {101}, .failed = true}}), expected);
  EXPECT_EQ(totals_.events, 2U);
}

}  // namespace
}  // namespace uscope::analyzer
