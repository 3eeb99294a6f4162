// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// Which index serves which query: without one, an answer from a large store takes as long as reading all of it.
#include "tests/support/frame_word.h"
#include "tests/unit/analyzer/sample_trace.h"
#include "tests/unit/store/load_support.h"

namespace uscope::store {
namespace {

class PlanTest : public LoaderTest {
 protected:
  void SetUp() override {
    usual();
    trace_->stack(1, {test::frame_word(3, 0x1010, true), test::frame_word(2, 0x1100, false)});
    trace_->event({.stack = 1});
    trace_->event({.entry = kStart + 20, .end = kStart + 30});
    load();
  }

  // The plan's lines that read events.
  std::string plan(const std::string& sql) {
    std::string lines;
    const std::string all = rows("EXPLAIN QUERY PLAN " + sql) + "\n";
    for (std::size_t at = 0; at < all.size();) {
      const std::size_t end = all.find('\n', at);
      const std::string line = all.substr(at, end - at);
      const std::size_t text = line.rfind('|') + 1;
      if (line.find(" event", text) != std::string::npos) lines += (lines.empty() ? "" : "; ") + line.substr(text);
      at = end + 1;
    }
    return lines.empty() ? all : lines;
  }
};

TEST_F(PlanTest, TheTable) {
  EXPECT_EQ(plan("SELECT * FROM event WHERE thread_id = 1 AND ts_ns > 5"),
            "SEARCH event USING INDEX event_thread_ts (thread_id=? AND ts_ns>?)");
  EXPECT_EQ(plan("SELECT * FROM event WHERE stack_id = 1"), "SEARCH event USING INDEX event_stack (stack_id=?)");
  EXPECT_EQ(plan("SELECT * FROM event WHERE kind_id = 1 AND a0 = 3"),
            "SEARCH event USING INDEX event_kind_a0 (kind_id=? AND a0=?)");
}

TEST_F(PlanTest, TheViewByNames) {
  const std::string by_kind = "SEARCH event USING INDEX event_kind_a0 (kind_id=?)";
  const std::string by_stack = "SEARCH event USING INDEX event_stack (stack_id=?)";
  const std::string by_thread = "SEARCH event USING INDEX event_thread_ts (thread_id=?)";
  for (const std::string select :
       {"SELECT * FROM v_event WHERE ", "SELECT count(*), sum(dur_ns) FROM v_event WHERE "}) {
    EXPECT_EQ(plan(select + "kind = 'read'"), by_kind);
    EXPECT_EQ(plan(select + "kind IN ('read', 'write')"), by_kind);
    EXPECT_EQ(plan(select + "\"trigger\" = 'main'"), by_stack);
    EXPECT_EQ(plan(select + "kind = 'read' AND \"trigger\" = 'main'"), by_stack);
    EXPECT_EQ(plan(select + "trigger_module = '/bin/x' AND \"trigger\" = 'main'"), by_stack);
    EXPECT_EQ(plan(select + "pid = 100"), by_thread);
    EXPECT_EQ(plan(select + "tid = 100"), by_thread);
    EXPECT_EQ(plan(select + "id = 1"), "SEARCH event USING INTEGER PRIMARY KEY (rowid=?)");
  }
  EXPECT_EQ(plan("SELECT * FROM v_event WHERE kind = 'read' ORDER BY ts_ns LIMIT 10"), by_kind);
  // In the order of the events themselves, without sorting.
  EXPECT_EQ(plan("SELECT * FROM v_event ORDER BY id LIMIT 10"), "SCAN event");
  EXPECT_EQ(rows("EXPLAIN QUERY PLAN SELECT * FROM v_event ORDER BY id LIMIT 10").find("TEMP B-TREE"),
            std::string::npos);
}

TEST_F(PlanTest, TheCells) {
  EXPECT_NE(rows("EXPLAIN QUERY PLAN SELECT * FROM dual_space WHERE kind = 'read'").find("SEARCH cell USING INDEX"),
            std::string::npos);
  EXPECT_EQ(rows("EXPLAIN QUERY PLAN SELECT * FROM dual_space").find("event"), std::string::npos);
}

// An event without a stack, or with a stack without a trigger, is in the view like any other.
TEST_F(PlanTest, TheViewHasEveryEventOnce) {
  EXPECT_EQ(rows("SELECT id, \"trigger\", stack_id, depth FROM v_event ORDER BY id"), "1|f401100|1|2\n2|-|-|-");
  EXPECT_EQ(rows("SELECT * FROM trigger_of_stack ORDER BY 1"), "-|-\n1|2");
}

// What is counted while loading is what SQL counts afterwards.
TEST_F(LoaderTest, TotalsAreThoseOfTheEvents) {
  usual();
  trace_->task({.task = 2, .parent_task = 1, .tid = 101, .flags = 0});
  for (std::uint32_t id = 1; id <= 9; id++)
    trace_->stack(id,
                  {test::frame_word(3, 0x1010 + id, true), test::frame_word(id % 3 ? 2 : 4, 0x1100 + id % 4, false)},
                  static_cast<std::uint8_t>(id % 5));
  std::uint64_t seed = 3;
  const auto random = [&](std::uint64_t below) {
    seed = seed * 6364136223846793005ULL + 1442695040888963407ULL;
    return (seed >> 33U) % below;
  };
  for (std::uint64_t i = 0; i < 30'000; i++) {
    const std::uint64_t entry = kStart + i * 100;
    // Each thread begins with a call, so that gaps are between calls only.
    trace_->event({.task = static_cast<std::uint32_t>(1 + (i < 3 ? i : random(3))),
                   .entry = i < 3 ? kStart : entry,
                   .end = entry + random(1U << 20U),
                   .result = random(10) == 0 ? -static_cast<std::int64_t>(1 + random(600)) : 5,
                   .nr = static_cast<std::uint32_t>(random(12)),
                   .stack = static_cast<std::uint32_t>(random(11)),
                   .how = random(50) == 0 ? std::uint8_t{USC_HOW_OPEN} : std::uint8_t{USC_HOW_RETURNED}});
  }
  load();
  const std::vector<std::string> tables{"cell",      "cell_latency",  "latency", "error_cell", "thread_total",
                                        "stack_end", "notable_event", "gap",     "gap_total",  "program_total"};
  database_.reset();
  sqlite3* raw = nullptr;
  ASSERT_EQ(sqlite3_open((folder_ / "db").c_str(), &raw), SQLITE_OK);
  const SqliteHandle handle(raw);
  std::string sql;
  for (const std::string& table : tables)
    sql += "CREATE TABLE loaded_" + table + " AS SELECT * FROM " + table + "; DELETE FROM " + table + ";";
  auto done = execute(raw, sql + test::kCountEvents);
  ASSERT_TRUE(done) << done.error().what;
  for (const std::string& table : tables) {
    const std::string loaded = "SELECT * FROM loaded_" + table;
    const std::string counted = "SELECT * FROM " + table;
    auto query = Statement::prepare(raw, "SELECT count(*), (SELECT count(*) FROM (" + loaded + " EXCEPT " + counted +
                                             ")), (SELECT count(*) FROM (" + counted + " EXCEPT " + loaded +
                                             ")) FROM loaded_" + table);
    ASSERT_TRUE(query) << query.error().what;
    ASSERT_TRUE(*query->step());
    EXPECT_GT(query->integer(0), 1) << table;
    EXPECT_EQ(query->integer(1), 0) << table;
    EXPECT_EQ(query->integer(2), 0) << table;
  }
}

}  // namespace
}  // namespace uscope::store
