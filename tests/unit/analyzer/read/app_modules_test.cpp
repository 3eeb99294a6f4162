// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "analyzer/read/app_modules.h"

#include <gtest/gtest.h>

#include "analyzer/read/event_query.h"
#include "analyzer/summary/summary.h"
#include "tests/unit/analyzer/sample_trace.h"

namespace uscope::test {
namespace {

using analyzer::count_as_app;

class AppModulesTest : public SampleTrace {
 protected:
  static std::string rows(const store::Database& database, const std::string& sql) {
    auto query = database.prepare(sql);
    if (!query) return query.error().what;
    std::string text;
    for (auto row = query->step(); row && *row; row = query->step()) {
      for (int i = 0; i < query->columns(); i++)
        text += (i ? "|" : text.empty() ? "" : "\n") + (query->is_null(i) ? "-" : std::string(query->text(i)));
    }
    return text;
  }
};

constexpr const char* kSums = "SELECT kind_id, sum(events), sum(errors), sum(total_ns), sum(open) FROM cell GROUP BY 1";
constexpr const char* kErrorSums =
    "SELECT kind_id, errno, sum(events), min(first_event_id) FROM error_cell GROUP BY 1, 2";
constexpr const char* kLatencySums = "SELECT kind_id, up_to_ns, sum(events) FROM cell_latency GROUP BY 1, 2";
constexpr const char* kCells =
    "SELECT kind_id, trigger_frame_id, events, errors, total_ns, open, first_event_id FROM cell ORDER BY 1, 2";
constexpr const char* kErrors = "SELECT * FROM error_cell ORDER BY 1, 2, 3";

TEST_F(AppModulesTest, WhatIsTheApplicationsAlreadyChangesNothing) {
  const store::Database before = open();
  const store::Database database = open();
  auto matched = count_as_app(database, {.modules = {"gcc", "/src/none"}});
  ASSERT_TRUE(matched) << matched.error().what;
  EXPECT_EQ(*matched, 1U);
  EXPECT_EQ(rows(database, kCells), rows(before, kCells));
  matched = count_as_app(before, {.modules = {"none"}});
  ASSERT_TRUE(matched);
  EXPECT_EQ(*matched, 0U);
}

TEST_F(AppModulesTest, CountsCellsAsTheLoaderDoes) {
  write_store(folder_ / "other.db", std::string(kSampleRows) +
                                        "UPDATE module SET class = 'library' WHERE path = '/usr/bin/gcc';"
                                        "UPDATE stack SET trigger_frame_id = 6, trigger_fallback = 1 WHERE id = 2;" +
                                        kCountEvents);
  const store::Database loaded = open();  // with gcc as the application's
  const store::Database counted = open_store(folder_ / "other.db");
  auto matched = count_as_app(counted, {.modules = {"gcc"}});
  ASSERT_TRUE(matched) << matched.error().what;
  EXPECT_EQ(rows(counted, "SELECT id, trigger_frame_id FROM stack WHERE id = 2"), "2|7");
  for (const char* sql : {kSums, kErrorSums, kLatencySums}) EXPECT_EQ(rows(counted, sql), rows(loaded, sql)) << sql;
  for (const char* sql : {kCells, kErrors})
    EXPECT_EQ(rows(counted, std::string(sql)), rows(loaded, std::string(sql))) << sql;
}

// A store with a library between the program and libc.
constexpr const char* kPlugin = R"sql(
INSERT INTO module VALUES(1, '/usr/bin/app', 'aa', 'app'), (2, '/usr/lib/libc.so.6', 'bb', 'library'),
  (3, '/usr/lib/libplug.so.1', 'cc', 'library');
INSERT INTO process(id, pid, ns_pid, start_ns, uses_io_uring) VALUES(1, 100, 100, 1, 0);
INSERT INTO image VALUES(1, 1, 1, '/usr/bin/app', '[]', 'app', '[\"app\"]');
INSERT INTO thread VALUES(1, 1, 100, 100, 'app', 1, NULL, NULL);
INSERT INTO kind VALUES(1, 'read', 'syscall', 'x86_64', 0);
INSERT INTO frame(id, module_id, rel_pc, function, function_offset, file, line, inlined) VALUES(1, 2, 16, 'read', 1, NULL, NULL, 0), (2, 3, 16, 'load', 1, NULL, NULL, 0),
  (3, 1, 16, 'main', 1, NULL, NULL, 0), (4, 2, 0, '(cut)', NULL, NULL, NULL, 0), (5, 3, 32, 'inlined', 1, NULL, NULL, 1);
INSERT INTO stack(id, depth, ended, trigger_frame_id, trigger_fallback, folded) VALUES(1, 3, 'root', 3, 0, 'main;load;read'), (2, 2, 'root', 3, 0, 'main;read'),
  (3, 1, 'budget', 4, 1, 'read'), (4, 2, 'budget', 4, 1, 'load;read');
INSERT INTO stack_frame VALUES(1, 0, 0, 1, 'user'), (1, 1, 0, 5, 'user'), (1, 1, 1, 2, 'user'), (1, 2, 0, 3, 'user'),
  (2, 0, 0, 1, 'user'), (2, 1, 0, 3, 'user'), (3, 0, 0, 1, 'user'), (4, 0, 0, 1, 'user'), (4, 1, 0, 2, 'user');
INSERT INTO event VALUES(1, 10, 5, 'returned', 1, 1, 1, 7, 1, 0, 0, 0, 0, 0, 0, NULL),
  (2, 20, 6, 'returned', 1, 1, 1, -2, 1, 0, 0, 0, 0, 0, 0, NULL), (3, 30, 7, 'returned', 1, 1, 1, -4, 2, 0, 0, 0, 0, 0, 0, NULL),
  (4, 40, 8, 'returned', 1, 1, 1, 0, 3, 0, 0, 0, 0, 0, 0, NULL), (5, 50, NULL, 'open', 1, 1, 1, NULL, 4, 0, 0, 0, 0, 0, 0, NULL),
  (6, 60, 9, 'returned', 1, 1, 1, 0, NULL, 0, 0, 0, 0, 0, 0, NULL);
)sql";

TEST_F(AppModulesTest, EveryReaderHasTheNewTriggers) {
  write_store(folder_ / "plugin.db", std::string(kPlugin) + kCountEvents);
  const store::Database before = open_store(folder_ / "plugin.db");
  EXPECT_EQ(rows(before, kCells), "1|-|1|0|9|0|6\n1|3|3|2|18|0|1\n1|4|2|0|8|1|4");
  const store::Database database = open_store(folder_ / "plugin.db");
  auto matched = count_as_app(database, {.modules = {"libplug.so*"}});
  ASSERT_TRUE(matched) << matched.error().what;
  EXPECT_EQ(*matched, 1U);
  EXPECT_EQ(rows(database, "SELECT id, trigger_frame_id, trigger_fallback FROM stack ORDER BY id"),
            "1|5|0\n2|3|0\n3|4|1\n4|2|0");
  EXPECT_EQ(rows(database, kCells), "1|-|1|0|9|0|6\n1|2|1|0|0|1|5\n1|3|1|1|7|0|3\n1|4|1|0|8|0|4\n1|5|2|1|11|0|1");
  EXPECT_EQ(rows(database, kErrors), "1|2|5|1|2\n1|4|3|1|3");
  EXPECT_EQ(rows(database, "SELECT class FROM module ORDER BY id"), "app\nlibrary\napp");
  auto summary = analyzer::summarize(database, {.lines = 1});
  ASSERT_TRUE(summary) << summary.error().what;
  EXPECT_EQ(summary->triggers.lines[0].function, "inlined");
  EXPECT_FALSE(summary->triggers.lines[0].fallback);
  std::string functions;
  auto done = analyzer::for_each_event(database, {.triggers = {"inlined", "load"}}, [&](const analyzer::EventRow& row) {
    functions += row.trigger + (row.trigger_fallback ? "*" : "") + " ";
    return true;
  });
  ASSERT_TRUE(done) << done.error().what;
  EXPECT_EQ(functions, "inlined inlined load ");
  // The store itself has the old ones.
  EXPECT_EQ(rows(database, "SELECT trigger_frame_id FROM main.stack ORDER BY id"), "3\n3\n4\n4");
}

// What the loader chooses among functions of different origin, and what --app-runtime makes of it.
TEST_F(AppModulesTest, RunTimeFunctionsCountWhereTheyAreAskedFor) {
  write_store(folder_ / "static.db", std::string(kPlugin) +
                                         "UPDATE module SET class = 'app' WHERE id = 3;"
                                         "UPDATE frame SET origin = 'runtime' WHERE module_id = 3;" +
                                         kCountEvents);
  const store::Database database = open_store(folder_ / "static.db");
  auto matched = count_as_app(database, {.modules = {"libplug.so*"}});
  ASSERT_TRUE(matched) << matched.error().what;
  EXPECT_EQ(rows(database, "SELECT id, trigger_frame_id, trigger_fallback FROM stack ORDER BY id"),
            "1|3|0\n2|3|0\n3|4|1\n4|4|1");
  const store::Database with_runtime = open_store(folder_ / "static.db");
  matched = count_as_app(with_runtime, {.modules = {}, .runtime = true});
  ASSERT_TRUE(matched) << matched.error().what;
  EXPECT_EQ(rows(with_runtime, "SELECT id, trigger_frame_id, trigger_fallback FROM stack ORDER BY id"),
            "1|5|0\n2|3|0\n3|4|1\n4|2|0");
}

// Questions name views, and what objects' callers are was counted by the loader.
TEST_F(AppModulesTest, ViewsAndObjectsHaveTheChosenTriggers) {
  write_store(folder_ / "static.db", std::string(kPlugin) +
                                         "UPDATE module SET class = 'app' WHERE id = 3;"
                                         "UPDATE frame SET origin = 'runtime' WHERE module_id = 3;" +
                                         kCountEvents +
                                         "UPDATE object_total SET trigger_frame_id = 3, runtime_frame_id = 5 WHERE "
                                         "rowid = 1;UPDATE object_total SET trigger_frame_id = 3 WHERE rowid = 2;");
  const std::string triggers =
      "SELECT e.id, e.\"trigger\" = f.function FROM v_event e JOIN stack s ON s.id = e.stack_id JOIN frame f ON f.id = "
      "s.trigger_frame_id WHERE e.\"trigger\" IS NOT f.function";
  const std::string objects = "SELECT trigger_frame_id FROM object_total ORDER BY rowid LIMIT 2";
  const std::string sum = "SELECT count(*) FROM v_event e JOIN frame f ON f.function = e.\"trigger\" WHERE f.id = ";
  const store::Database plain = open_store(folder_ / "static.db");
  EXPECT_EQ(rows(plain, objects), "3\n3");
  EXPECT_EQ(rows(plain, sum + "5"), "0");
  const store::Database database = open_store(folder_ / "static.db");
  auto matched = count_as_app(database, {.modules = {}, .runtime = true});
  ASSERT_TRUE(matched) << matched.error().what;
  EXPECT_EQ(rows(database, triggers), "");
  EXPECT_EQ(rows(database, sum + "5"), rows(plain, "SELECT count(*) FROM event WHERE stack_id = 1"));
  EXPECT_EQ(rows(database,
                 "SELECT count(*) FROM trigger_of_stack t LEFT JOIN stack s ON s.id = t.stack_id WHERE "
                 "t.frame_id IS NOT s.trigger_frame_id"),
            "0");
  EXPECT_EQ(rows(database, "SELECT sum(events) FROM dual_space"), rows(plain, "SELECT count(*) FROM event"));
  EXPECT_EQ(rows(database, "SELECT trigger_frame_id FROM object_total LIMIT 2"), "5\n3");
}

}  // namespace
}  // namespace uscope::test
