// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// Calls counted by what they are about, and the times between calls.
#include <fcntl.h>

#include <fstream>
#include <iterator>

#include "store/write/gap_writer.h"
#include "store/write/object_table.h"
#include "store/write/object_totals.h"
#include "syscalls/syscall_table.h"
#include "tests/support/frame_word.h"
#include "tests/unit/analyzer/sample_trace.h"
#include "tests/unit/store/load_support.h"

namespace uscope::store {
namespace {

class ObjectsTest : public LoaderTest {
 protected:
  void SetUp() override {
    usual();
    trace_->descriptor(1, USC_FD_CWD, "/www", kStart);
    trace_->descriptor(1, USC_FD_END, "", kStart);
  }

  struct Args {
    std::uint64_t a0 = 0;
    std::uint64_t a1 = 0;
    std::uint64_t a2 = 0;
  };

  // Each call is entered 10 ns after the one before, and takes 5 ns.
  void call(const char* name, std::int64_t result, Args args) {
    next_ += 10;
    trace_->event({.entry = next_,
                   .end = next_ + 5,
                   .result = result,
                   .nr = syscalls::syscall_number(USC_ABI_X86_64, name).value_or(999),
                   .a0 = args.a0,
                   .a1 = args.a1,
                   .a2 = args.a2});
  }
  void text(std::uint8_t arg, const std::string& text) { trace_->string(1, next_, arg, text); }
  void open(const std::string& path, std::int64_t result) {
    call("openat", result, {.a0 = static_cast<std::uint64_t>(AT_FDCWD)});
    text(1, path);
  }

  // "call folder name part events errors total bytes" of each object.
  std::string objects() {
    return rows(
        "SELECT kind.name, f.value, s.value, part, sum(events), sum(iif(errno IS NULL, 0, events)), sum(total_ns), "
        "sum(bytes) FROM "
        "object_total "
        "JOIN kind ON kind.id = kind_id LEFT JOIN string f ON f.id = folder_id LEFT JOIN string s ON s.id = string_id "
        "GROUP BY 1, 2, 3, 4 ORDER BY 1, 4, 3");
  }

  // "call object kind" of each event.
  std::string objects_of_events() { return rows("SELECT kind, object, object_kind FROM v_event ORDER BY id"); }

  static constexpr auto kCwd = static_cast<std::uint64_t>(AT_FDCWD);
  std::uint64_t next_ = kStart + 1000;
};

TEST_F(ObjectsTest, EventsHaveObjectsByNameAndKind) {
  open("/etc/none", -2);
  open("index.html", 3);
  call("read", 100, {.a0 = 3});
  call("write", 7, {.a0 = 9});
  call("getpid", 5, {});
  call("socket", 4, {.a0 = 2});
  call("connect", 0, {.a0 = 4});
  trace_->string(1, next_, 1, std::string("\x02\x00\x00\x50\x7f\x00\x00\x01\0\0\0\0\0\0\0\0", 16), USC_STRING_ADDRESS);
  call("write", 7, {.a0 = 4});
  call("eventfd2", 5, {});
  call("dup", 6, {.a0 = 5});
  call("read", 8, {.a0 = 6});
  call("mmap", 0, {});  // a4 is 0: descriptor 0, of which nothing is known
  load();
  EXPECT_EQ(objects_of_events(),
            "openat|/etc/none|file\nopenat|/www/index.html|file\nread|/www/index.html|file\nwrite|-|-\ngetpid|-|-\n"
            "socket|-|-\nconnect|socket:[to inet:127.0.0.1:80]|inet\nwrite|socket:[to inet:127.0.0.1:80]|inet\n"
            "eventfd2|-|-\ndup|anon_inode:[eventfd]|eventfd\nread|anon_inode:[eventfd]|eventfd\nmmap|-|-");
}

// As far as calls say: a folder of which nothing is said is a file.
TEST_F(ObjectsTest, FoldersAreTold) {
  call("openat", 3, {.a0 = kCwd, .a2 = O_DIRECTORY});
  text(1, "/srv");
  call("fstat", 0, {.a0 = 3});
  call("fcntl", 4, {.a0 = 3, .a1 = F_DUPFD});
  call("newfstatat", 0, {.a0 = 4});
  text(1, "");
  call("newfstatat", 0, {.a0 = 4});
  text(1, "a");
  open("/srv", 5);
  call("fstat", 0, {.a0 = 5});
  call("getdents64", 100, {.a0 = 5});
  call("mkdir", -17, {});
  text(0, "/srv/a");
  call("unlinkat", 0, {.a0 = kCwd, .a2 = AT_REMOVEDIR});
  text(1, "/srv/b");
  call("openat", 6, {.a0 = kCwd, .a2 = O_TMPFILE | O_RDWR});
  text(1, "/tmp");
  call("fstat", 0, {.a0 = 6});
  load();
  EXPECT_EQ(objects_of_events(),
            "openat|/srv|folder\nfstat|/srv|folder\nfcntl|/srv|folder\nnewfstatat|/srv|folder\n"
            "newfstatat|/srv/a|file\nopenat|/srv|file\nfstat|/srv|file\ngetdents64|/srv|folder\nmkdir|/srv/a|file\n"
            "unlinkat|/srv/b|folder\nopenat|/tmp|folder\nfstat|/tmp/(O_TMPFILE)|file");
}

// What object_total counts, v_event names: one home of what a call is about.
TEST_F(ObjectsTest, TotalsAndEventsAgree) {
  open("a", 3);
  open("/a", -2);
  call("read", 5, {.a0 = 3});
  call("read", 5, {.a0 = 3});
  call("pread64", -9, {.a0 = 8});
  load();
  const std::string totals = rows(
      "SELECT k.name, sum(events) FROM object_total JOIN kind k ON k.id = kind_id WHERE part = 'call' AND string_id "
      "IS NOT NULL GROUP BY 1 ORDER BY 1");
  EXPECT_EQ(totals, "openat|2\nread|2");
  EXPECT_EQ(rows("SELECT kind, count(*) FROM v_event WHERE object IS NOT NULL GROUP BY 1 ORDER BY 1"), totals);
}

// As `record --path` asks: by any object of a call; what is left out is not counted either, and still names others.
TEST_F(ObjectsTest, OnlyWantedObjectsAreKept) {
  trace_->meta("paths", R"(["/www/index.html", "*.log"])");
  open("index.html", 3);
  open("/var/a.log", 4);
  open("/other", 5);
  call("read", 100, {.a0 = 3});
  call("read", 100, {.a0 = 5});
  call("dup", 6, {.a0 = 3});
  call("write", 1, {.a0 = 6});
  call("write", 1, {.a0 = 9});
  call("getpid", 5, {});
  call("sendfile", 50, {.a0 = 5, .a1 = 4});  // reads from a.log
  call("rename", 0, {});
  text(0, "/other");
  text(1, "/new.log");
  load();
  EXPECT_EQ(objects_of_events(),
            "openat|/www/index.html|file\nopenat|/var/a.log|file\nread|/www/index.html|file\ndup|/www/index.html|file\n"
            "write|/www/index.html|file\nsendfile|/other|file\nrename|/other|file");
  EXPECT_EQ(rows("SELECT sum(events) FROM cell"), "7");
  EXPECT_EQ(rows("SELECT sum(events) FROM object_total WHERE part = 'call'"), "7");
  EXPECT_EQ(rows("SELECT count(DISTINCT name) FROM object"), "3");
}

TEST_F(ObjectsTest, PathsAndDescriptorsAreCountedByName) {
  open("/etc/none", -2);
  open("index.html", 3);
  call("read", 100, {.a0 = 3});
  call("read", 20, {.a0 = 3});
  call("read", -11, {.a0 = 3});
  call("write", 7, {.a0 = 9});
  call("getpid", 5, {});
  load();
  EXPECT_EQ(objects(),
            "openat|-|/etc/none|call|1|1|5|0\n"
            "openat|/www|index.html|call|1|0|5|0\n"
            "read|-|/www/index.html|call|3|1|15|120\n"
            "write|-|-|call|1|0|5|7");
}

// There is a row for each process and error; the calls without a stack have no trigger.
TEST_F(ObjectsTest, WhoCallsAndHowItFailsIsKept) {
  open("/a", -2);
  open("/a", -2);
  open("/a", -13);
  open("/a", 3);
  load();
  EXPECT_EQ(rows("SELECT o.process_id = t.process_id, trigger_frame_id, errno, events FROM object_total o, "
                 "(SELECT DISTINCT process_id FROM thread WHERE process_id IS NOT NULL) t ORDER BY errno"),
            "1|-|-|1\n1|-|2|2\n1|-|13|1");
}

TEST_F(ObjectsTest, ATransferBetweenTwoCountsAtBoth) {
  open("/page", 3);
  open("/copy", 4);
  call("sendfile", 50, {.a0 = 4, .a1 = 3});
  load();
  EXPECT_EQ(rows("SELECT value, part, events, total_ns, bytes FROM object_total JOIN string ON string.id = string_id "
                 "JOIN kind ON kind.id = kind_id WHERE name = 'sendfile' ORDER BY part"),
            "/copy|call|1|5|50\n/page|source|1|0|50");
}

// A rename counts at the old name, and as a change at the new one, too; one that failed changed nothing.
TEST_F(ObjectsTest, ARenameCountsAtBothNames) {
  call("rename", 0, {});
  text(0, "a.tmp");
  text(1, "a");
  call("renameat2", 0, {.a0 = static_cast<std::uint64_t>(AT_FDCWD), .a2 = static_cast<std::uint64_t>(AT_FDCWD)});
  text(1, "/b.tmp");
  text(3, "b");
  call("link", 0, {});
  text(0, "/old");
  text(1, "/new");
  call("rename", -13, {});
  text(0, "/c.tmp");
  text(1, "/c");
  load();
  EXPECT_EQ(rows("SELECT kind.name, f.value, s.value, part, events, changes, last_event_id, total_ns FROM object_total "
                 "JOIN kind ON kind.id = kind_id LEFT JOIN string f ON f.id = folder_id JOIN string s ON s.id = "
                 "string_id ORDER BY last_event_id, part"),
            "rename|/www|a.tmp|call|1|1|1|5\nrename|/www|a|target|1|1|1|0\n"
            "renameat2|-|/b.tmp|call|1|1|2|5\nrenameat2|/www|b|target|1|1|2|0\n"
            "link|-|/old|call|1|0|3|5\nlink|-|/new|target|1|1|3|0\n"
            "rename|-|/c.tmp|call|1|0|4|5");
}

TEST_F(ObjectsTest, ChangesAreCounted) {
  for (const auto& [flags, result] : {std::pair(O_RDONLY, 3), {O_WRONLY | O_TRUNC, 4}, {O_CREAT, 5}, {O_TRUNC, -13}}) {
    call("openat", result, {.a0 = static_cast<std::uint64_t>(AT_FDCWD), .a2 = static_cast<std::uint64_t>(flags)});
    text(1, "/a");
  }
  call("write", 7, {.a0 = 4});
  call("write", -28, {.a0 = 4});
  call("read", 7, {.a0 = 4});
  call("unlink", 0, {});
  text(0, "/a");
  load();
  EXPECT_EQ(
      rows("SELECT kind.name, sum(events), sum(changes) FROM object_total JOIN kind ON kind.id = kind_id GROUP BY "
           "1 ORDER BY 1"),
      "openat|4|1\nread|1|0\nunlink|1|1\nwrite|2|1");
}

TEST_F(ObjectsTest, ADescriptorBehindAnEmptyPathIsItsFile) {
  open("/data", 3);
  call("newfstatat", 0, {.a0 = 3});
  text(1, "");
  load();
  EXPECT_EQ(rows("SELECT f.value, s.value FROM object_total JOIN kind ON kind.id = kind_id JOIN string f ON f.id = "
                 "folder_id JOIN string s ON s.id = string_id WHERE name = 'newfstatat'"),
            "/data|");
}

TEST_F(ObjectsTest, TheFolderOfARelativePathIsNamed) {
  open("a", 3);
  open("/b", 4);
  call("stat", 0, {});
  text(0, "c");
  load();
  EXPECT_EQ(rows("SELECT event_id, arg, value FROM event_string JOIN string ON string.id = string_id WHERE source = 2"),
            "1|0|/www");
  EXPECT_EQ(rows("SELECT f.value, s.value FROM object_total JOIN kind ON kind.id = kind_id JOIN string f ON f.id = "
                 "folder_id JOIN string s ON s.id = string_id WHERE name = 'stat'"),
            "/www|c");
}

TEST_F(ObjectsTest, WhatIsHiddenTogetherHasNoFolder) {
  trace_->meta("redact", R"(["/www/secret*"])");
  open("secret.key", -2);
  open("other", -2);
  load();
  EXPECT_EQ(objects(), "openat|/www|other|call|1|1|5|0\nopenat|-|secret.key|call|1|1|5|0");
  EXPECT_EQ(rows("SELECT event_id FROM event_string WHERE source = 2"), "2");
}

// Whatever the objects are, the counts are those of the calls that have any.
TEST_F(ObjectsTest, SumsAreThoseOfTheCalls) {
  for (int i = 0; i < 300; i++) {
    if (i % 3 == 0) open("/file" + std::to_string(i % 7), i % 5 ? i : -2);
    call("write", i % 11 ? i : -28, {.a0 = static_cast<std::uint64_t>(i % 40)});
    if (i % 4 == 0) call("close", 0, {.a0 = static_cast<std::uint64_t>(i % 40)});
  }
  load();
  EXPECT_EQ(rows("SELECT kind_id, sum(events), sum(iif(errno IS NULL, 0, events)), sum(total_ns), sum(bytes) FROM "
                 "object_total "
                 "WHERE part = 'call' GROUP BY 1 ORDER BY 1"),
            rows("SELECT kind_id, count(*), sum(result < 0), sum(dur_ns), sum(CASE WHEN result > 0 AND kind.name = "
                 "'write' THEN result ELSE 0 END) FROM event JOIN kind ON kind.id = kind_id GROUP BY 1 ORDER BY 1"));
}

// Beyond the bound an object has a second row, and its events the same name.
TEST(ObjectTableTest, ManyObjectsTakeBoundedMemory) {
  const test::TemporaryFolder folder;
  auto database = DatabaseWriter::create(folder / "db");
  ASSERT_TRUE(database);
  StringTable strings(*database);
  ASSERT_TRUE(strings.prepare());
  ObjectTable objects(*database, strings, 2);
  ASSERT_TRUE(objects.prepare());
  std::vector<std::uint32_t> ids;
  for (const char* name : {"/a", "/b", "/a", "/c", "/a"}) {
    const auto id = strings.intern(name);
    ASSERT_TRUE(id);
    const auto row = objects.row_of(usc_event{}, {.name = *id, .is_path = true});
    ASSERT_TRUE(row);
    ids.push_back(row->value());
  }
  EXPECT_EQ(ids, (std::vector<std::uint32_t>{1, 2, 1, 3, 4}));
}

TEST(ObjectTotalsTest, ManyObjectsAreWrittenInParts) {
  const test::TemporaryFolder folder;
  auto database = DatabaseWriter::create(folder / "db");
  ASSERT_TRUE(database) << database.error().what;
  auto strings = execute(database->handle(),
                         "INSERT INTO kind VALUES(1, 'read', 'syscall', 'x86_64', 0); WITH RECURSIVE n(i) AS (SELECT 1 "
                         "UNION ALL SELECT i + 1 FROM n WHERE i < 10) INSERT INTO string SELECT i, i FROM n");
  ASSERT_TRUE(strings) << strings.error().what;
  ObjectTotals totals(database->tables(), 4);
  ASSERT_TRUE(totals.prepare());
  for (int i = 0; i < 100; i++)
    totals.add({.event = EventRowId(1),
                .kind = KindRowId(1U),
                .process = {},
                .image = {},
                .trigger = {},
                .duration = 2,
                .bytes = 3,
                .error = i % 2 == 0 ? 2 : 0},
               {.folder = {}, .name = StringRowId(1 + i % 10), .is_about_any = true});
  ASSERT_TRUE(totals.write());
  ASSERT_TRUE(database->inserter().settle());
  auto query = database->prepare(
      "SELECT count(*) > 10, sum(events), sum(events) FILTER (WHERE errno = 2), sum(total_ns), sum(bytes), "
      "count(DISTINCT string_id) "
      "FROM object_total");
  ASSERT_TRUE(query);
  ASSERT_TRUE(query->step());
  for (const auto& [column, value] : {std::pair(0, 1), {1, 100}, {2, 50}, {3, 200}, {4, 300}, {5, 10}})
    EXPECT_EQ(query->integer(column), value) << column;
}

class GapsTest : public ObjectsTest {
 protected:
  // "thread from length since until before after doubtful" of each, with times that count from kStart.
  std::string gaps() {
    return rows("SELECT thread_id, ts_ns - " + std::to_string(kStart) +
                ", dur_ns, since, until, before_event_id, after_event_id, doubtful FROM gap ORDER BY dur_ns DESC, 2");
  }
  // Tracing ends, and says so.
  void end(std::uint64_t time) {
    trace_->meta("calls_until_ns", std::to_string(time));
    trace_->totals();
  }
};

TEST_F(GapsTest, AreBetweenAReturnAndTheNextEntryOfTheThread) {
  trace_->task({.task = 2, .tid = 101, .flags = 0, .time = kStart + 1060});
  call("getpid", 1, {});  // returns at 1015
  trace_->event({.task = 2, .entry = next_ + 50, .end = next_ + 60});
  next_ += 990;
  call("getpid", 1, {});
  trace_->event({.task = 2, .entry = next_ + 50, .end = next_ + 60, .how = USC_HOW_OPEN});
  load();
  EXPECT_EQ(gaps(),
            "1|0|1010|tracing|call|-|1|0\n"
            "1|1015|995|call|call|1|3|0\n"
            "2|1070|990|call|call|2|4|0");
  EXPECT_EQ(rows("SELECT thread_id, events, total_ns, wait_ns, gaps, gap_ns FROM thread_total ORDER BY 1"),
            "1|2|10|0|2|2005\n2|2|10|0|1|990");
}

TEST_F(GapsTest, AfterACallThatDidNotReturnThereIsNone) {
  trace_->event({.entry = kStart, .how = USC_HOW_OPEN});
  trace_->event({.entry = kStart + 5000, .end = kStart + 5010, .how = USC_HOW_KILLED});
  end(kStart + 9000);
  load();
  EXPECT_EQ(gaps(), "");
}

TEST_F(GapsTest, EndWithTheThreadOrWithTracing) {
  for (std::uint32_t task = 2; task <= 4; task++)
    trace_->task({.task = task, .tid = 100 + task, .flags = USC_TASK_FORKED, .time = kStart + 500});
  call("getpid", 1, {});                                                                        // returns at 1015
  trace_->event({.task = 2, .entry = kStart + 600, .end = kStart + 610});                       // ends at 3000
  trace_->event({.task = 3, .entry = kStart + 500, .end = kStart + 5000});                      // returns too late
  trace_->event({.task = 4, .entry = kStart + 500, .end = kStart + 900, .how = USC_HOW_OPEN});  // is in it still
  trace_->exit(2, 1, 9, kStart + 3000);
  end(kStart + 4500);
  load();
  EXPECT_EQ(gaps(),
            "1|1015|3485|call|tracing|4|-|0\n"
            "2|610|2390|call|thread|3|-|0\n"
            "1|0|1010|tracing|call|-|4|0\n"
            "2|500|100|thread|call|-|3|0");
}

TEST_F(GapsTest, AThreadWithoutAnyCallIsOne) {
  trace_->task({.task = 2, .tid = 101, .flags = USC_TASK_ATTACHED, .time = kStart + 100});
  trace_->task({.task = 3, .tid = 102, .flags = USC_TASK_FORKED, .time = kStart + 200});
  trace_->event({.entry = kStart, .end = kStart + 9000});
  trace_->exit(3, 1, 0, kStart + 300);
  end(kStart + 5000);
  load();
  EXPECT_EQ(gaps(), "2|100|4900|tracing|tracing|-|-|0\n3|200|100|thread|thread|-|-|0");
  EXPECT_EQ(rows("SELECT thread_id, events, gaps, gap_ns FROM thread_total ORDER BY 1"),
            "1|1|0|0\n2|0|1|4900\n3|0|1|100");
}

// It may have been in the call long before.
TEST_F(GapsTest, BeforeACallThatItWasFoundInThereIsNone) {
  trace_->event({.entry = kStart + 700, .end = kStart + 5000, .how = USC_HOW_ATTACHED});
  end(kStart + 5000);
  load();
  EXPECT_EQ(gaps(), "");
}

// Which threads were in a call at the end is not known then.
TEST_F(GapsTest, OfATraceThatWasCutOffHaveNoOpenEnd) {
  trace_->meta("calls_until_ns", std::to_string(kStart + 5000));
  call("getpid", 1, {});
  load();
  EXPECT_EQ(gaps(), "1|0|1010|tracing|call|-|1|0");
}

TEST_F(GapsTest, AcrossLostEventsAreDoubtful) {
  call("getpid", 1, {});
  next_ += 1'000'000;
  call("getpid", 1, {});
  next_ += 500'000;
  call("getpid", 1, {});
  trace_->loss(USC_LOSS_RING_FULL_EVENT, 3, 1, kStart + 500'000, kStart + 600'000);
  load();
  EXPECT_EQ(gaps(),
            "1|1015|1000005|call|call|1|2|1\n"
            "1|1001025|500005|call|call|2|3|0\n"
            "1|0|1010|tracing|call|-|1|0");
}

TEST_F(GapsTest, AreSummedByTheCallsAndStacksAroundThem) {
  trace_->stack(1, {test::frame_word(2, 0x1100, false)});
  trace_->stack(2, {test::frame_word(2, 0x1200, false)});
  std::uint64_t time = kStart;
  for (const std::uint32_t stack : {1, 2, 1, 2, 1, 1}) {  // 1 → 2 twice, 2 → 1 twice, 1 → 1 once
    trace_->event({.entry = time, .end = time + 10, .stack = stack});
    time += 100 + (stack == 1 ? time - kStart : 0);
  }
  end(time);
  load();
  EXPECT_EQ(rows("SELECT before_stack_id, after_stack_id, gaps, total_ns, longest_ns, since, until, before_event_id, "
                 "after_event_id FROM gap_total ORDER BY total_ns DESC"),
            "1|-|1|1390|1390|call|tracing|6|-\n"
            "1|1|1|690|690|call|call|5|6\n"
            "1|2|2|380|290|call|call|3|4\n"
            "2|1|2|180|90|call|call|2|3");
  EXPECT_EQ(rows("SELECT sum(gaps), sum(total_ns) FROM gap_total"), rows("SELECT gaps, gap_ns FROM thread_total"));
}

TEST(GapWriterTest, ManyPairsAreWrittenInParts) {
  const test::TemporaryFolder folder;
  auto database = DatabaseWriter::create(folder / "db");
  ASSERT_TRUE(database) << database.error().what;
  auto rows = execute(database->handle(),
                      "INSERT INTO thread(id) VALUES(1); INSERT INTO kind VALUES(1, 'read', 'syscall', 'x86_64', 0); "
                      "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 10) "
                      "INSERT INTO stack(id, depth, ended, trigger_frame_id, trigger_fallback, folded) SELECT i, 0, "
                      "'root', NULL, 0, '' FROM n");
  ASSERT_TRUE(rows) << rows.error().what;
  GapWriter gaps(database->tables(), {}, 4);
  ASSERT_TRUE(gaps.prepare());
  for (std::uint32_t i = 0; i < 100; i++) {
    const GapCall call{{}, KindRowId(1U), StackRowId(1 + i % 10)};
    gaps.add({.before = call, .after = call, .thread = ThreadRowId(1), .process = {}, .from_ns = i, .duration = 1 + i});
  }
  ASSERT_TRUE(gaps.write());
  auto query = database->prepare(
      "SELECT count(*) > 10, sum(gaps), sum(total_ns), max(longest_ns), count(DISTINCT before_stack_id) FROM "
      "gap_total");
  ASSERT_TRUE(query);
  ASSERT_TRUE(query->step());
  for (const auto& [column, value] : {std::pair(0, 1), {1, 100}, {2, 5050}, {3, 100}, {4, 10}})
    EXPECT_EQ(query->integer(column), value) << column;
}

// Several batches of the counting thread; some threads come in a later one, and one has no call at all. The totals are
// those of the events themselves, and two loads make the same file.
TEST_F(GapsTest, TotalsOfManyEventsAreThoseOfTheEvents) {
  constexpr std::uint32_t kEvents = 10'000;
  constexpr std::uint32_t kThreads = 9;
  for (std::uint32_t serial = 2; serial <= kThreads + 1; serial++)
    trace_->task({.task = serial, .tid = 100 + serial, .flags = 0});
  for (std::uint32_t i = 0; i < kEvents; i++) {
    const std::uint64_t entry = kStart + 1000 + std::uint64_t{10} * i;
    trace_->event({.task = 1 + i * 7 % (i < kEvents / 2 ? 4 : kThreads),
                   .entry = entry,
                   .end = entry + i % 23,
                   .result = i % 11 == 0 ? -2 : 5,
                   .nr = i % 5 == 0 ? syscalls::syscall_number(USC_ABI_X86_64, "poll").value_or(999) : i % 3});
  }
  load();
  const std::string all = std::to_string(kEvents);
  EXPECT_EQ(rows("SELECT count(*), max(thread_id) FROM event"), all + "|9");
  EXPECT_EQ(rows("SELECT kind_id, sum(events), sum(errors), sum(total_ns), min(first_event_id) FROM cell GROUP BY 1"),
            rows("SELECT kind_id, count(*), sum(result < 0), sum(dur_ns), min(id) FROM event GROUP BY 1"));
  EXPECT_EQ(rows("SELECT thread_id, events, errors, total_ns FROM thread_total WHERE events != 0 ORDER BY 1"),
            rows("SELECT thread_id, count(*), sum(result < 0), sum(dur_ns) FROM event GROUP BY 1 ORDER BY 1"));
  EXPECT_EQ(rows("SELECT sum(gaps), sum(gap_ns) FROM thread_total"),
            rows("SELECT sum(ts_ns > before), sum(max(ts_ns - before, 0)) FROM (SELECT ts_ns, lag(ts_ns + dur_ns, 1, " +
                 std::to_string(kStart) + ") OVER (PARTITION BY thread_id ORDER BY id) AS before FROM event)"));
  EXPECT_EQ(rows("SELECT sum(events) FROM latency"), all);
  EXPECT_EQ(rows("SELECT sum(events) FROM cell_latency"), all);
  const auto contents = [this] {
    std::ifstream file(folder_ / "db", std::ios::binary);
    return std::string(std::istreambuf_iterator<char>(file), {});
  };
  const std::string first = contents();
  load();
  EXPECT_TRUE(contents() == first);
}

TEST_F(GapsTest, WaitsAreCountedApart) {
  call("poll", 1, {});
  call("getpid", 1, {});
  load();
  EXPECT_EQ(rows("SELECT total_ns, wait_ns FROM thread_total"), "10|5");
  EXPECT_EQ(rows("SELECT list, event_id FROM notable_event ORDER BY 1"), "slowest|2\nwait|1");
}

}  // namespace
}  // namespace uscope::store
