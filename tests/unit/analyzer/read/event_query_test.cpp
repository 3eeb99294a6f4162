// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "analyzer/read/event_query.h"
#include "analyzer/read/stack_reader.h"

#include "analyzer/read/catalog.h"
#include "analyzer/read/query.h"

#include "tests/unit/analyzer/sample_trace.h"

namespace uscope::analyzer {
namespace {

using Ids = std::vector<std::int64_t>;

class EventQuery : public test::SampleTrace {
 protected:
  Ids ids(const EventFilter& filter) {
    const auto database = open();
    Ids found;
    auto done = for_each_event(database, filter, [&](const EventRow& row) {
      found.push_back(row.id.value());
      return true;
    });
    EXPECT_TRUE(done) << done.error().what;
    return found;
  }

  EventRow row(std::int64_t id) {
    const auto database = open();
    EventRow found;
    auto done = for_each_event(database, {}, [&](const EventRow& event) {
      if (event.id.value() == id) found = event;
      return event.id.value() != id;
    });
    EXPECT_TRUE(done) << done.error().what;
    return found;
  }
};

TEST_F(EventQuery, AllEventsComeByTime) {
  EXPECT_EQ(ids({}), (Ids{12, 1, 3, 4, 11, 8, 2, 5, 6, 7, 9, 13, 14, 10}));
}

TEST_F(EventQuery, EachFilterAlone) {
  EXPECT_EQ(ids({.pids = {101, 102}}), (Ids{2, 5, 6, 7, 10}));
  EXPECT_EQ(ids({.tids = {110}}), (Ids{8}));
  EXPECT_EQ(ids({.processes = {"gc?"}}), (Ids{2, 5, 6, 10}));
  EXPECT_EQ(ids({.processes = {"bash", "true"}}), (Ids{1, 13, 14}));
  EXPECT_EQ(ids({.processes = {"x86_64-linux-gnu-gcc-*"}}), (Ids{2, 5, 6, 10}));  // the file that gcc is a link to
  EXPECT_EQ(ids({.calls = {{"read", "futex"}}}), (Ids{12, 1, 3, 4, 8, 9}));
  EXPECT_EQ(ids({.calls = std::vector<std::string>{}}), Ids{});
  EXPECT_EQ(ids({.failed = true}), (Ids{4, 2, 6, 13}));
  EXPECT_EQ(ids({.errors = {2, 1}}), (Ids{2, 6, 13}));
  EXPECT_EQ(ids({.slower_ns = 3000}), (Ids{3, 4, 11}));
  EXPECT_EQ(ids({.hows = {"open", "killed"}}), (Ids{8, 7}));
  EXPECT_EQ(ids({.paths = {"/etc/*"}}), (Ids{2}));
  EXPECT_EQ(ids({.paths = {"/tmp/c", "/etc/*"}}), (Ids{2, 6}));
  EXPECT_EQ(ids({.triggers = {"comp*"}}), (Ids{2, 5, 6, 10}));
  EXPECT_EQ(ids({.functions = {"helper"}}), (Ids{1, 3, 4, 8, 7}));
  EXPECT_EQ(ids({.since_ns = 500'000'000}), (Ids{13, 14, 10}));
  EXPECT_EQ(ids({.until_ns = 120'000'000}), (Ids{12, 1, 3}));
  EXPECT_EQ(ids({.limit = 3}), (Ids{12, 1, 3}));
}

TEST_F(EventQuery, FiltersAllHaveToHold) {
  EXPECT_EQ(ids({.pids = {100}, .calls = {{"read"}}, .failed = true}), (Ids{4}));
  EXPECT_EQ(ids({.pids = {101}, .tids = {100}}), Ids{});
  EXPECT_EQ(ids({.triggers = {"run_job"}, .functions = {"main"}, .since_ns = 150'000'000, .limit = 1}), (Ids{8}));
  EXPECT_EQ(ids({.pids = {4711}}), Ids{});
}

TEST_F(EventQuery, RowsAreComplete) {
  const EventRow event = row(2);
  EXPECT_EQ(event.ts_ns, 220'000'000);
  EXPECT_EQ(event.dur_ns, 2000);
  EXPECT_EQ(event.how, "returned");
  EXPECT_EQ(event.pid, 101);
  EXPECT_EQ(event.tid, 101);
  EXPECT_EQ(event.process, "gcc");
  EXPECT_EQ(event.thread, "gcc");
  EXPECT_EQ(event.call, "openat");
  EXPECT_EQ(event.abi, "x86_64");
  EXPECT_EQ(event.nr, 257);
  EXPECT_EQ(event.result, -2);
  EXPECT_EQ(event.error, "ENOENT");
  EXPECT_EQ(event.args[0], -100);
  EXPECT_EQ(event.args[1], 140000000001000);
  ASSERT_EQ(event.strings.size(), 1U);
  EXPECT_EQ(event.strings[0].arg, 1);
  EXPECT_EQ(event.strings[0].value, "/etc/passwd");
  EXPECT_FALSE(event.strings[0].late);
  EXPECT_EQ(event.stack_id, StackRowId(2));
  EXPECT_EQ(event.depth, 2);
  EXPECT_EQ(event.ended, "broken:no_rows");
  EXPECT_EQ(event.trigger, "compile");
  EXPECT_EQ(event.trigger_module, "/usr/bin/gcc");
  EXPECT_FALSE(event.trigger_fallback);
}

TEST_F(EventQuery, WhatAnEventLacksIsEmpty) {
  const EventRow event = row(12);
  EXPECT_EQ(event.dur_ns, std::nullopt);
  EXPECT_EQ(event.result, std::nullopt);
  EXPECT_EQ(event.process, "");
  EXPECT_EQ(event.stack_id, std::nullopt);
  EXPECT_EQ(event.trigger, "");
  EXPECT_EQ(row(11).error, "");  // a restart is no error
  EXPECT_TRUE(row(11).trigger_fallback);
  EXPECT_TRUE(row(5).strings[0].late);
}

TEST_F(EventQuery, TheCallerCanStop) {
  const auto database = open();
  int seen = 0;
  auto done = for_each_event(database, {}, [&](const EventRow&) { return ++seen < 4; });
  EXPECT_TRUE(done);
  EXPECT_EQ(seen, 4);
}

// The folder stands before the path: together they are a path, too.
TEST(EventQueryPaths, ARelativePathCountsWithItsFolder) {
  const test::TemporaryFolder folder;
  test::write_store(folder / "paths.db", R"sql(
    INSERT INTO thread VALUES(1, NULL, 1, 1, 'a', 0, NULL, NULL);
    INSERT INTO kind VALUES(1, 'openat', 'syscall', 'x86_64', 257), (2, 'read', 'syscall', 'x86_64', 0);
    INSERT INTO event VALUES(1, 1, 1, 'returned', 1, NULL, 1, 3, NULL, -100, 1, 0, 0, 0, 0, NULL),
      (2, 2, 1, 'returned', 1, NULL, 2, 3, NULL, 3, 1, 0, 0, 0, 0, NULL), (3, 3, 1, 'returned', 1, NULL, 1, 3, NULL, -100, 1, 0, 0, 0, 0, NULL);
    INSERT INTO string VALUES(1, '/srv'), (2, 'index.html'), (3, '/srv/index.html'), (4, 'other');
    INSERT INTO event_string VALUES(1, 0, 1, 0, 2), (1, 1, 2, 0, 0), (2, 0, 3, 0, 2), (3, 0, 1, 0, 2), (3, 1, 4, 0, 0);
    INSERT INTO object_total(kind_id, process_id, image_id, trigger_frame_id, folder_id, string_id, part, errno, events, total_ns, bytes, changes, last_event_id) VALUES(1, NULL, NULL, NULL, 1, 2, 'call', NULL, 1, 1, 0, 0, 1), (1, NULL, NULL, NULL, 1, 4, 'call', NULL, 1, 1, 0, 0, 1),
      (2, NULL, NULL, NULL, NULL, 3, 'call', NULL, 1, 1, 3, 0, 1);)sql");
  const auto database = test::open_store(folder / "paths.db");
  const auto found = [&](const std::string& glob) {
    Ids ids;
    auto done = for_each_event(database, {.paths = {glob}}, [&](const EventRow& event) {
      ids.push_back(event.id.value());
      return true;
    });
    EXPECT_TRUE(done) << done.error().what;
    return ids;
  };
  EXPECT_EQ(found("/srv/index*"), (Ids{1, 2}));
  EXPECT_EQ(found("/srv/*"), (Ids{1, 2, 3}));
  EXPECT_EQ(found("other"), (Ids{3}));
  EXPECT_EQ(found("/srv"), (Ids{1, 3}));
  EXPECT_EQ(found("/none"), Ids{});
}

TEST_F(EventQuery, AnEventHasNeighboursInItsThread) {
  const auto database = open();
  const auto catalog = read_catalog(database);
  ASSERT_TRUE(catalog);
  const auto around = [&](std::int64_t id, std::size_t count) {
    Ids found;
    auto done = for_event_and_neighbours(database, *catalog, EventRowId(id), count, [&](const EventRow& event) {
      found.push_back(event.id.value());
      return true;
    });
    EXPECT_TRUE(done) << done.error().what;
    return found;
  };
  EXPECT_EQ(around(3, 1), (Ids{1, 3, 4}));
  EXPECT_EQ(around(3, 0), (Ids{3}));
  EXPECT_EQ(around(12, 2), (Ids{12, 1, 3}));
  EXPECT_EQ(around(8, 5), (Ids{8}));
  const auto none =
      for_event_and_neighbours(database, *catalog, EventRowId(4711), 1, [](const EventRow&) { return true; });
  ASSERT_FALSE(none);
  EXPECT_EQ(none.error().what, "the trace has no event 4711");
}

// A GLOB is a value, never SQL.
TEST_F(EventQuery, QuotesInFiltersAreHarmless) {
  EXPECT_EQ(ids({.triggers = {"' OR 1=1 --"}}), Ids{});
  EXPECT_EQ(ids({.hows = {"\"] OR 1=1 --"}}), Ids{});
  EXPECT_EQ(ids({.processes = {"'; DROP TABLE event; --"}}), Ids{});
}

TEST_F(EventQuery, FramesComeInnermostFirstWithInlinedOnes) {
  const auto database = open();
  auto reader = StackReader::create(database);
  ASSERT_TRUE(reader) << reader.error().what;
  auto frames = reader->frames(StackRowId(1));
  ASSERT_TRUE(frames);
  ASSERT_EQ((*frames)->size(), 5U);
  const StackFrame& read = (**frames)[0];
  EXPECT_EQ(read.function, "read");
  EXPECT_EQ(read.module, "/usr/lib/x86_64-linux-gnu/libc.so.6");
  EXPECT_EQ(read.function_offset, 16);
  EXPECT_EQ(read.rel_pc, 4112);
  EXPECT_EQ(read.line, 0);
  EXPECT_EQ((**frames)[1].function, "helper");
  EXPECT_TRUE((**frames)[1].inlined);
  EXPECT_EQ((**frames)[2].function, "run_job");
  EXPECT_EQ((**frames)[2].file, "/src/job.c");
  EXPECT_EQ((**frames)[2].line, 42);
  EXPECT_EQ((**frames)[2].position, 1);
  EXPECT_EQ((**frames)[4].function, "__libc_start_main");
  auto none = reader->frames(StackRowId(4711));
  ASSERT_TRUE(none);
  EXPECT_TRUE((*none)->empty());
}

// Whichever way the events are found, they are the ones that SQL finds, in the same order; in a store whose ids rise
// with time that way is another one than in a store where they do not.
TEST(EventQueryWays, AllFindTheSame) {
  const test::TemporaryFolder folder;
  const std::string rows = R"sql(
    INSERT INTO process(id, pid, ns_pid, parent_id, start_ns, end_ns, exit_code, exit_signal, uses_io_uring) VALUES(1, 100, 1, NULL, 0, NULL, NULL, NULL, 0), (2, 200, 2, NULL, 0, NULL, NULL, NULL, 0);
    INSERT INTO thread VALUES(1, 1, 100, 1, 'a', 0, NULL, NULL), (2, 1, 101, 2, 'b', 0, NULL, NULL), (3, 2, 200, 3, 'c', 0, NULL, NULL);
    INSERT INTO module VALUES(1, '/bin/x', NULL, 'app');
    INSERT INTO frame(id, module_id, rel_pc, function, function_offset, file, line, inlined) VALUES(1, 1, 1, 'main', 0, NULL, NULL, 0), (2, 1, 2, 'm*', 0, NULL, NULL, 0), (3, 1, 3, 'leaf', 0, NULL, NULL, 0);
    INSERT INTO stack(id, depth, ended, trigger_frame_id, trigger_fallback, folded) VALUES(1, 2, 'root', 1, 0, 'main;leaf'), (2, 1, 'root', 2, 0, 'm*'), (3, 1, 'root', 3, 0, 'leaf');
    INSERT INTO stack_frame VALUES(1, 0, 0, 3, 'user'), (1, 1, 0, 1, 'user'), (2, 0, 0, 2, 'user'), (3, 0, 0, 3, 'user');
    INSERT INTO kind VALUES(1, 'read', 'syscall', 'x86_64', 0), (2, 'write', 'syscall', 'x86_64', 1), (3, 'fork', 'syscall', 'x86_64', 57);
    WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 60000)
    INSERT INTO event SELECT i, i / 3 * 10, i % 100, 'returned', CASE WHEN i % 400 = 0 THEN 3 ELSE 1 + i % 2 END, NULL,
      CASE WHEN i % 700 = 0 THEN 3 ELSE 1 + i % 2 END, CASE WHEN i % 10 THEN i ELSE -2 END,
      CASE WHEN i % 5 = 0 THEN NULL WHEN i % 900 = 1 THEN 2 WHEN i % 2 THEN 1 ELSE 3 END, 0, 0, 0, 0, 0, 0, NULL FROM n;)sql";
  const std::string start = "INSERT INTO meta VALUES('start_ns', '0'), ('duration_ns', '200000'), ('ordered', ";
  const std::vector<std::pair<EventFilter, std::string>> filters{
      {{}, "1"},
      {{.pids = {200}}, "thread_id = 3"},
      {{.tids = {101, 200}}, "thread_id IN (2, 3)"},
      {{.calls = {{"fork"}}}, "kind_id = 3"},
      {{.calls = {{"fork", "write"}}}, "kind_id IN (2, 3)"},
      {{.triggers = {"m*"}}, "stack_id IN (1, 2)"},
      {{.triggers = {"m[*]"}}, "stack_id = 2"},
      {{.functions = {"main"}}, "stack_id = 1"},
      {{.pids = {200}, .calls = {{"fork"}}, .functions = {"leaf", "m*"}},
       "thread_id = 3 AND kind_id = 3 AND stack_id > 0"},
      {{.failed = true, .triggers = {"m[*]"}}, "result = -2 AND stack_id = 2"},
      {{.since_ns = 1000, .until_ns = 1100}, "ts_ns BETWEEN 1000 AND 1100"},
      {{.calls = {{"write"}}, .since_ns = 199'990}, "kind_id = 2 AND ts_ns >= 199990"},
      {{.pids = {200}, .until_ns = 500}, "thread_id = 3 AND ts_ns <= 500"},
      {{.since_ns = 300'000}, "0"},
      {{.until_ns = -1}, "0"}};
  for (const std::string ordered : {"'0'", "'1'"}) {
    const auto path = folder / (ordered.substr(1, 1) + ".db");
    test::write_store(path, rows + start + ordered + ");");
    const auto database = test::open_store(path);
    for (const auto& [filter, where] : filters) {
      for (const std::optional<std::uint64_t> limit :
           {std::optional<std::uint64_t>(), std::optional<std::uint64_t>(7)}) {
        std::vector<std::int64_t> expected;
        auto done = each_row(database,
                             "SELECT id FROM event WHERE " + where + " ORDER BY ts_ns, id" + (limit ? " LIMIT 7" : ""),
                             [&](const SqlRow& row) { expected.push_back(row.integer(0)); });
        ASSERT_TRUE(done) << done.error().what;
        EventFilter limited = filter;
        limited.limit = limit;
        std::vector<std::int64_t> found;
        done = for_each_event(database, limited, [&](const EventRow& event) {
          found.push_back(event.id.value());
          return true;
        });
        ASSERT_TRUE(done) << done.error().what;
        EXPECT_EQ(found, expected) << where << " ordered " << ordered;
      }
    }
  }
}

}  // namespace
}  // namespace uscope::analyzer
