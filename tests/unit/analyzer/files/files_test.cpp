// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "analyzer/files/files.h"

#include "tests/unit/analyzer/sample_trace.h"

namespace uscope::analyzer {
namespace {

class FilesTest : public test::SampleTrace {
 protected:
  static FileTable table(const store::Database& database, const FileQuery& query) {
    const auto catalog = read_catalog(database);
    EXPECT_TRUE(catalog);
    auto found = read_files(database, *catalog, query);
    EXPECT_TRUE(found) << found.error().what;
    return found ? std::move(*found) : FileTable();
  }

  static std::vector<std::string> names(const FileTable& table) {
    std::vector<std::string> names;
    for (const FileLine& line : table.files.lines) names.push_back(line.name.value_or("?"));
    return names;
  }
};

using Names = std::vector<std::string>;

TEST_F(FilesTest, OfTheSample) {
  const FileTable found = table(open(), {});
  ASSERT_EQ(found.files.lines.size(), 4U);
  EXPECT_EQ(names(found), (Names{"?", found.files.lines[1].name.value_or(""), "/etc/passwd", "/tmp/c"}));
  const FileLine& unknown = found.files.lines[0];
  EXPECT_EQ(unknown.calls, 5U);
  EXPECT_EQ(unknown.failures, 2U);
  EXPECT_EQ(unknown.opens, 1U);
  EXPECT_EQ(unknown.reads, 4U);
  EXPECT_EQ(unknown.writes, 0U);
  EXPECT_EQ(unknown.bytes_read, 12U);
  EXPECT_EQ(unknown.total_ns, 8500U);
  EXPECT_EQ(found.files.lines[2].failures, 1U);  // ENOENT counts where it was asked for
  EXPECT_EQ(found.files.lines[2].opens, 1U);
}

TEST_F(FilesTest, SumsAreThoseOfAllLines) {
  for (const std::size_t lines : {0U, 1U}) {
    const FileTable found = table(open(), {.lines = lines});
    EXPECT_EQ(found.files.total, 4U);
    EXPECT_EQ(found.all.calls, 8U);
    EXPECT_EQ(found.all.failures, 4U);
    EXPECT_EQ(found.all.opens, 4U);
    EXPECT_EQ(found.all.reads, 4U);
    EXPECT_EQ(found.all.bytes_read, 12U);
    EXPECT_EQ(found.all.total_ns, 14'500U);
  }
}

TEST_F(FilesTest, AreFilteredAndSorted) {
  EXPECT_EQ(names(table(open(), {.paths = {"/*c*"}})), (Names{"/etc/passwd", "/tmp/c"}));
  EXPECT_EQ(names(table(open(), {.paths = {"/none", "/tmp/?"}})), (Names{"/tmp/c"}));
  EXPECT_EQ(table(open(), {.processes = {"gc?"}}).all.calls, 3U);
  EXPECT_EQ(table(open(), {.processes = {"none"}}).files.total, 0U);
  EXPECT_EQ(names(table(open(), {.order = FileOrder::kFailures, .lines = 2})), (Names{"?", "/etc/passwd"}));
  EXPECT_EQ(names(table(open(), {.order = FileOrder::kBytes, .lines = 1})), (Names{"?"}));
}

// Those that a server accepted, also of IPv6; what is bound or connected is not one of them, and one client alone keeps
// its address.
TEST_F(FilesTest, ClientsOfOneHostAreOneLine) {
  test::write_store(folder_ / "made.db", R"sql(
    INSERT INTO kind VALUES(1, 'accept4', 'syscall', 'x86_64', 288), (2, 'recvfrom', 'syscall', 'x86_64', 45);
    INSERT INTO string VALUES(1, 'socket:[from inet:10.0.0.7:50001]'), (2, 'socket:[from inet:10.0.0.7:50002]'),
      (3, 'socket:[from inet6:[::1]:50001]'), (4, 'socket:[from inet6:[::1]:50002]'), (5, 'socket:[at inet:10.0.0.7:80]'),
      (6, 'socket:[from inet:10.0.0.8:50001]'), (7, 'socket:[from unix:/run/x]');
    INSERT INTO object_total SELECT 2, NULL, NULL, NULL, NULL, id, 'call', NULL, 1, 100 - id, 1, 0, 1, NULL, NULL FROM string;)sql");
  const auto database = test::open_store(folder_ / "made.db");
  const FileTable found = table(database, {.order = FileOrder::kCalls});
  EXPECT_EQ(names(found),
            (Names{"socket:[from inet6:[::1]]", "socket:[from inet:10.0.0.7]", "socket:[at inet:10.0.0.7:80]",
                   "socket:[from inet:10.0.0.8:50001]", "socket:[from unix:/run/x]"}));
  EXPECT_EQ(found.files.lines[0].peers, 2U);
  EXPECT_EQ(found.files.lines[1].calls, 2U);
  EXPECT_EQ(found.files.lines[3].peers, 0U);
  EXPECT_EQ(table(database, {.peers = true}).files.total, 7U);
  EXPECT_EQ(names(table(database, {.paths = {"*10.0.0.7:50002]"}})), (Names{"socket:[from inet:10.0.0.7:50002]"}));
}

// Rows of one object add up, whatever texts name it; a transfer between two counts at both.
TEST_F(FilesTest, OneObjectIsOneLine) {
  test::write_store(folder_ / "made.db", R"sql(
    INSERT INTO kind VALUES(1, 'openat', 'syscall', 'x86_64', 257), (2, 'read', 'syscall', 'x86_64', 0),
      (3, 'sendfile', 'syscall', 'x86_64', 40), (4, 'connect', 'syscall', 'x86_64', 42), (5, 'write', 'syscall', 'x86_64', 1);
    INSERT INTO string VALUES(1, '/srv'), (2, './a'), (3, '/srv/a'), (4, 'inet:127.0.0.1:80'),
      (5, 'socket:[to inet:127.0.0.1:80]'), (6, '');
    INSERT INTO object_total(kind_id, process_id, image_id, trigger_frame_id, folder_id, string_id, part, errno, events, total_ns, bytes, changes, last_event_id) VALUES (1, NULL, NULL, NULL, 1, 2, 'call', NULL, 1, 10, 0, 0, 1), (2, NULL, NULL, NULL, NULL, 3, 'call', NULL, 1, 20, 30, 0, 1),
      (2, NULL, NULL, NULL, NULL, 3, 'call', 2, 1, 0, 0, 0, 1),
      (2, NULL, 7, NULL, NULL, 3, 'call', NULL, 1, 5, 4, 0, 1), (3, NULL, NULL, NULL, NULL, 5, 'call', NULL, 1, 40, 50, 0, 1), (3, NULL, NULL, NULL, NULL, 3, 'source', NULL, 1, 0, 50, 0, 1),
      (4, NULL, NULL, NULL, NULL, 4, 'call', 2, 1, 1, 0, 0, 1), (5, NULL, NULL, NULL, 3, 6, 'call', NULL, 1, 2, 9, 0, 1);)sql");
  const FileTable found = table(test::open_store(folder_ / "made.db"), {});
  EXPECT_EQ(names(found), (Names{"socket:[to inet:127.0.0.1:80]", "/srv/a"}));
  const FileLine& socket = found.files.lines[0];
  EXPECT_EQ(socket.calls, 2U);
  EXPECT_EQ(socket.opens, 1U);
  EXPECT_EQ(socket.failures, 1U);
  EXPECT_EQ(socket.writes, 1U);
  EXPECT_EQ(socket.reads, 0U);
  EXPECT_EQ(socket.bytes_written, 50U);
  EXPECT_EQ(socket.bytes_read, 0U);
  const FileLine& file = found.files.lines[1];
  EXPECT_EQ(file.calls, 5U);
  EXPECT_EQ(file.reads, 4U);
  EXPECT_EQ(file.bytes_read, 84U);
  EXPECT_EQ(file.bytes_written, 9U);
  EXPECT_EQ(file.total_ns, 37U);
  EXPECT_EQ(found.all.calls, 7U);
}

// Who renamed a file onto the path has changed it, and comes before those that read it for longer.
TEST_F(FilesTest, WhoChangedAFileComesFirst) {
  test::write_store(folder_ / "renamed.db", R"sql(
    INSERT INTO kind VALUES(1, 'read', 'syscall', 'x86_64', 0), (2, 'rename', 'syscall', 'x86_64', 82);
    INSERT INTO string VALUES(1, '/srv'), (2, 'a'), (3, '/srv/a.tmp'), (4, '/srv/a');
    INSERT INTO object_total(kind_id, process_id, image_id, trigger_frame_id, folder_id, string_id, part, errno, events, total_ns, bytes, changes, last_event_id) VALUES (1, NULL, NULL, NULL, NULL, 4, 'call', NULL, 3, 900, 30, 0, 1),
      (2, NULL, NULL, NULL, NULL, 3, 'call', NULL, 1, 7, 0, 1, 2), (2, NULL, NULL, NULL, 1, 2, 'target', NULL, 1, 0, 0, 1, 2);)sql");
  const store::Database store = test::open_store(folder_ / "renamed.db");
  const FileTable found = table(store, {.paths = {"/srv/a"}, .callers = true});
  ASSERT_EQ(found.files.lines.size(), 1U);
  EXPECT_EQ(found.files.lines[0].changes, 1U);
  EXPECT_EQ(found.files.lines[0].calls, 3U);
  ASSERT_EQ(found.callers.lines.size(), 2U);
  EXPECT_EQ(found.callers.lines[0].call, "rename");
  EXPECT_EQ(found.callers.lines[0].changes, 1U);
  EXPECT_EQ(found.callers.lines[1].call, "read");
  EXPECT_EQ(table(store, {.order = FileOrder::kBytes, .callers = true}).callers.lines[0].call, "read");
  const FileTable all = table(store, {});
  EXPECT_EQ(all.all.calls, 4U);  // the rename once
  EXPECT_EQ(all.all.total_ns, 907U);
}

// By process, whatever its programs; with its name at the time.
TEST_F(FilesTest, UsersAreNamed) {
  const FileTable found = table(open(), {.paths = {"passwd"}});
  ASSERT_EQ(found.files.lines.size(), 1U);
  ASSERT_EQ(found.files.lines[0].users.size(), 1U);
  const FileUser& user = found.files.lines[0].users[0];
  EXPECT_EQ(user.pid, 101);
  EXPECT_EQ(user.process, "gcc");
  EXPECT_EQ(user.failures, 1U);
  const FileTable all = table(open(), {});
  ASSERT_EQ(all.files.lines[0].users.size(), 4U);  // bash became make
  EXPECT_EQ(all.files.lines[0].users[0].process, "make");
  EXPECT_EQ(all.files.lines[0].users[0].calls, 2U);
}

TEST_F(FilesTest, CallersAreListedWhereWanted) {
  EXPECT_EQ(table(open(), {}).callers.total, 0U);
  const FileTable found = table(open(), {.paths = {"/etc/passwd"}, .callers = true});
  ASSERT_EQ(found.callers.lines.size(), 1U);
  const FileCaller& caller = found.callers.lines[0];
  EXPECT_EQ(caller.name, "/etc/passwd");
  EXPECT_EQ(caller.pid, 101);
  EXPECT_EQ(caller.call, "openat");
  EXPECT_EQ(caller.function, "compile");
  EXPECT_EQ(caller.module, "/usr/bin/gcc");
  EXPECT_FALSE(caller.fallback);
  EXPECT_EQ(caller.failures, 1U);
  FileCounts sum;
  const FileTable all = table(open(), {.callers = true});
  for (const FileCaller& line : all.callers.lines) sum.calls += line.calls;
  EXPECT_EQ(sum.calls, all.all.calls);
}

TEST_F(FilesTest, WhatCallsFailedAtIsListed) {
  EXPECT_EQ(table(open(), {}).failed.lines.total, 0U);
  const auto found = table(open(), {.failed = true}).failed.lines;
  ASSERT_EQ(found.lines.size(), 4U);
  Names names;
  for (const FailedLine& line : found.lines) {
    EXPECT_EQ(line.events, 1U);
    names.push_back(line.call + " " + line.error + " " + line.name.value_or("?"));
  }
  // The compiler failed, and asked for /tmp/c last.
  EXPECT_EQ(names, (Names{"openat ENOENT /tmp/c", "openat ENOENT /etc/passwd", "openat EPERM ?", "read EAGAIN ?"}));
}

TEST_F(FilesTest, NamesNearThePathAreOffered) {
  const FileTable none = table(open(), {.paths = {"etc/passwd"}});
  EXPECT_FALSE(none.any_path);
  EXPECT_EQ(none.near, Names{"/etc/passwd"});
  EXPECT_TRUE(table(open(), {.paths = {"passwd"}, .processes = {"none"}}).any_path);  // the path is not the reason
}

// A descriptor on which a server waits is not the one with most work.
TEST_F(FilesTest, WaitingIsNoWork) {
  test::write_store(folder_ / "waits.db", R"sql(
    INSERT INTO kind VALUES(1, 'epoll_wait', 'syscall', 'x86_64', 232), (2, 'read', 'syscall', 'x86_64', 0);
    INSERT INTO string VALUES(1, 'anon_inode:[eventpoll]'), (2, '/a');
    INSERT INTO object_total(kind_id, process_id, image_id, trigger_frame_id, folder_id, string_id, part, errno, events, total_ns, bytes, changes, last_event_id) VALUES (1, NULL, NULL, NULL, NULL, 1, 'call', NULL, 1, 1000, 0, 0, 1), (2, NULL, NULL, NULL, NULL, 2, 'call', NULL, 1, 10, 5, 0, 1);)sql");
  const FileTable found = table(test::open_store(folder_ / "waits.db"), {});
  EXPECT_EQ(names(found), (Names{"/a", "anon_inode:[eventpoll]"}));
  EXPECT_EQ(found.all.total_ns, 1010U);
  EXPECT_EQ(found.all.wait_ns, 1000U);
}

// A store from elsewhere.
TEST_F(FilesTest, DanglingIdsAreSurvived) {
  test::write_store(
      folder_ / "odd.db",
      "INSERT INTO object_total(kind_id, process_id, image_id, trigger_frame_id, folder_id, string_id, part, errno, "
      "events, total_ns, bytes, changes, last_event_id) VALUES(77, 76, 78, 75, 79, 80, 'call', 2, -5, 2, 3, 0, 1);");
  const FileTable found = table(test::open_store(folder_ / "odd.db"), {});
  EXPECT_EQ(names(found), (Names{"?"}));
  EXPECT_EQ(found.all.calls, 0U);
}

}  // namespace
}  // namespace uscope::analyzer
