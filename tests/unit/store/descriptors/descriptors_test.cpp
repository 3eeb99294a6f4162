// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// What descriptors stand for: the table, and its way through the events of a trace.
#include <fcntl.h>
#include <linux/close_range.h>
#include <sched.h>
#include <sys/socket.h>

#include <memory>
#include <vector>

#include "store/descriptors/descriptor_table.h"
#include "syscalls/syscall_table.h"
#include "tests/unit/store/load_support.h"

namespace uscope::store {
namespace {

TEST(DescriptorTableTest, CopiesWhatHasNotChangedSince) {
  DescriptorTable table;
  table.set(3, {trace::StringRowId(10), 1, false});
  table.set(4, {trace::StringRowId(11), 2, true});
  DescriptorTable copy;
  copy.take_copy(table, 2);
  table.close_range(3, 3);
  EXPECT_EQ(table.find(3), nullptr);
  ASSERT_NE(copy.find(3), nullptr);
  EXPECT_EQ(copy.find(3)->name, trace::StringRowId(10));
  copy.drop_close_on_exec();
  EXPECT_EQ(copy.find(4), nullptr);
  EXPECT_NE(table.find(4), nullptr);
  table.set(5, {trace::StringRowId(12), 3, false});
  copy.take_copy(table, 2);
  EXPECT_NE(copy.find(4), nullptr);
  EXPECT_EQ(copy.find(5), nullptr);
}

// The number was in use until the close: what the call has opened came after it.
TEST(DescriptorTableTest, AnOpeningMayWaitForItsNumberToBeClosed) {
  DescriptorTable table;
  table.set(3, {trace::StringRowId(10), 1, false});
  table.begin_open(3);
  EXPECT_NE(table.find(3), nullptr);
  EXPECT_FALSE(table.begin_close(3));
  EXPECT_EQ(table.find(3), nullptr);
  table.end_close(3, false);
  EXPECT_TRUE(table.end_open(3));
}

// A number that was free, or whose use is not known: it may have been given, and closed.
TEST(DescriptorTableTest, WhatIsClosedDuringAnOpeningIsNotKnown) {
  DescriptorTable table;
  table.begin_open(3);
  EXPECT_TRUE(table.begin_close(3));
  table.begin_open(3);
  table.end_close(3, true);
  EXPECT_FALSE(table.end_open(3));
  EXPECT_FALSE(table.end_open(3));
  table.begin_open(3);
  EXPECT_TRUE(table.end_open(3));  // nothing else is under way any more
}

TEST(DescriptorTableTest, ReplacementsThatOverlapAreNotKnown) {
  DescriptorTable table;
  table.set(3, {trace::StringRowId(10), 1, false});
  table.begin_replace(3);
  EXPECT_EQ(table.find(3), nullptr);
  table.begin_replace(3);
  EXPECT_FALSE(table.end_replace(3));
  EXPECT_FALSE(table.end_replace(3));
  table.begin_replace(3);
  EXPECT_TRUE(table.end_replace(3));
}

TEST(DescriptorTableTest, TellsWhatChangedWhileWatched) {
  DescriptorTable table;
  table.set(3, {trace::StringRowId(10), 1, false});
  table.watch();
  EXPECT_FALSE(table.was_changed(3));
  table.close_range(5, 7);
  EXPECT_TRUE(table.was_changed(6));
  table.begin_replace(9);
  EXPECT_TRUE(table.was_changed(9));
  table.end_watch();
  EXPECT_FALSE(table.was_changed(6));
  table.watch();
  EXPECT_FALSE(table.was_changed(3));
  table.drop_close_on_exec();
  EXPECT_TRUE(table.was_changed(3));
}

TEST(DescriptorTableTest, IsBounded) {
  using Entries = PersistentMap<int, Descriptor>;
  const auto most = static_cast<int>(DescriptorTable::kMostOfOne);
  std::vector<DescriptorTable> tables(DescriptorTable::kMost / DescriptorTable::kMostOfOne + 1);
  for (DescriptorTable& table : tables)
    for (int fd = 0; fd <= most; fd++) table.set(fd, {trace::StringRowId(1), 1, false});
  EXPECT_NE(tables.front().find(most - 1), nullptr);
  EXPECT_EQ(tables.front().find(most), nullptr);
  EXPECT_EQ(tables.back().find(1), nullptr);
  const std::size_t before = Entries::nodes();
  EXPECT_LE(before, DescriptorTable::kMost + 100);
  // Copies take nothing before they are changed.
  std::vector<DescriptorTable> copies(1000);
  for (DescriptorTable& copy : copies) {
    copy.take_copy(tables.front(), 1);
    EXPECT_NE(copy.find(1), nullptr);
  }
  EXPECT_EQ(Entries::nodes(), before);
}

TEST(DescriptorTableTest, CopiesTakeNothingThatMayBeNewer) {
  DescriptorTable table;
  table.set(3, {trace::StringRowId(10), 1, false});
  for (int i = 0; i < 2000; i++) table.set(4, {trace::StringRowId(11), 2 + static_cast<std::uint64_t>(i), false});
  DescriptorTable copy;
  copy.take_copy(table, 1);  // too much has happened since
  EXPECT_EQ(copy.find(3), nullptr);
  copy.take_copy(table, 1990);
  EXPECT_NE(copy.find(3), nullptr);
  EXPECT_EQ(copy.find(4), nullptr);
  copy.take_copy(table, 5000);
  EXPECT_NE(copy.find(4), nullptr);
}

class DescriptorsTest : public LoaderTest {
 protected:
  void SetUp() override {
    usual();
    trace_->descriptor(1, USC_FD_CWD, "/work", kStart);
    trace_->descriptor(1, USC_FD_END, "", kStart);
  }

  // Task 1 makes another one by the call before.
  void make(std::uint32_t task, std::uint32_t process, std::uint32_t shares = 0) {
    trace_->task({.task = task,
                  .process = process,
                  .parent_task = 1,
                  .pid = 99 + process,
                  .tid = 99 + task,
                  .flags = USC_TASK_FORKED | shares | (process != 1 ? USC_TASK_PROCESS : 0U),
                  .time = next_ + 3});
  }
  void of_task(std::uint32_t task) { task_ = task; }

  // A call of task 1 that is entered at the next moment and returns 5 ns later.
  void call(const char* name, std::int64_t result, std::uint64_t a0 = 0, std::uint64_t a1 = 0, std::uint64_t a2 = 0) {
    next_ += 10;
    trace_->event({.task = task_,
                   .entry = next_,
                   .end = next_ + 5,
                   .result = result,
                   .nr = syscalls::syscall_number(USC_ABI_X86_64, name).value_or(999),
                   .a0 = a0,
                   .a1 = a1,
                   .a2 = a2});
  }
  void text(std::uint8_t arg, const std::string& text) { trace_->string(task_, next_, arg, text); }
  void open(const std::string& path, std::int64_t fd, std::uint64_t flags = 0) {
    call("openat", fd, static_cast<std::uint64_t>(AT_FDCWD), 0, flags);
    text(1, path);
  }
  void read(std::uint64_t fd) { call("read", 0, fd); }

  // What each read's descriptor stood for, by event.
  std::string reads() {
    return rows(
        "SELECT coalesce(value, '?') FROM event JOIN kind ON kind.id = kind_id LEFT JOIN event_string ON event_id = "
        "event.id "
        "AND source = 2 LEFT JOIN string ON string.id = string_id WHERE name = 'read' ORDER BY event.id");
  }

  std::uint32_t task_ = 1;
  std::uint64_t next_ = kStart + 1000;
};

TEST_F(DescriptorsTest, AreNamedFromOpenToClose) {
  read(3);
  open("/etc/passwd", 3);
  read(3);
  open("relative", 4);
  read(4);
  open("/none", -2);
  call("close", 0, 3);
  read(3);
  load();
  EXPECT_EQ(reads(), "?\n/etc/passwd\n/work/relative\n?");
  EXPECT_EQ(rows("SELECT arg, value, late, source FROM event_string JOIN event ON event.id = event_id JOIN kind ON "
                 "kind.id = kind_id JOIN string ON string.id = string_id WHERE name = 'close'"),
            "0|/etc/passwd|0|2");
}

// A path through /proc/self leads elsewhere in another process, which may have inherited the folder.
TEST_F(DescriptorsTest, AWorkingDirectoryBehindOnesOwnDescriptorIsThatDescriptors) {
  open("/srv/data", 3);
  call("chdir", 0);
  text(0, "/proc/self/fd/3");
  call("close", 0, 3);
  open("/other", 3);
  call("fork", 101);
  make(2, 2);
  of_task(2);
  open("file", 4);
  read(4);
  call("chdir", 0);
  text(0, "/dev/fd/3/below");
  open("file", 5);
  read(5);
  call("chdir", 0);
  text(0, "/proc/self/cwd");  // nothing is said of it
  open("file", 6);
  read(6);
  call("chdir", 0);
  text(0, "/proc/self/fd/77");  // not known
  open("file", 7);
  read(7);
  load();
  EXPECT_EQ(reads(), "/srv/data/file\n/other/below/file\n?\n?");
}

TEST_F(DescriptorsTest, WhatIsOpenedThroughADescriptorIsWhatThatIs) {
  open("/etc/passwd", 3);
  open("/proc/self/fd/3", 4);
  read(4);
  call("pipe", 0);
  trace_->string(task_, next_, 0, std::string("\5\0\0\0\6\0\0\0", 8), USC_STRING_PAIR);
  open("/dev/fd/5", 7);
  read(7);
  open("/dev/fd/99", 8);  // not known: the path by which it was opened
  read(8);
  open("/proc/self", 9);
  call("openat", 10, 9);
  text(1, "fd/3");  // another process's, if it inherits descriptor 9
  read(10);
  load();
  EXPECT_EQ(reads(), "/etc/passwd\npipe\n/dev/fd/99\n?");
}

TEST_F(DescriptorsTest, AreCopied) {
  open("/a", 3);
  call("dup", 4, 3);
  call("dup2", 9, 4, 9);
  call("fcntl", 10, 9, F_DUPFD_CLOEXEC, 10);
  for (const std::uint64_t fd : {4, 9, 10}) read(fd);
  open("/b", 5);
  call("dup2", 9, 5, 9);
  read(9);
  call("dup2", 9, 77, 9);  // a copy of what is not known
  read(9);
  call("close_range", 0, 4, 4);
  read(4);
  read(3);
  load();
  EXPECT_EQ(reads(), "/a\n/a\n/a\n/b\n?\n?\n/a");
}

TEST_F(DescriptorsTest, FollowTheWorkingDirectoryAndFolders) {
  call("chdir", 0);
  text(0, "sub");
  open("./a", 3);
  read(3);
  open("/lib", 4);
  call("openat", 5, 4, 0, 0);
  text(1, "libc.so");
  read(5);
  call("fchdir", 0, 4);
  open("x", 6);
  read(6);
  call("openat", 7, 66, 0, 0);  // in a folder that is not known
  text(1, "y");
  read(7);
  load();
  EXPECT_EQ(reads(), "/work/sub/a\n/lib/libc.so\n/lib/x\n?");
}

TEST_F(DescriptorsTest, HaveLabelsAndAddresses) {
  call("epoll_create1", 3);
  read(3);
  call("socket", 4, AF_INET, 1);
  read(4);
  call("connect", -EINPROGRESS, 4);
  text(1, "ignored");
  load();
  EXPECT_EQ(reads(), "anon_inode:[eventpoll]\nsocket:[inet]");
}

TEST_F(DescriptorsTest, AreInheritedAndClosedByExec) {
  open("/kept", 3);
  open("/closed", 4, O_CLOEXEC);
  call("fork", 101);
  make(2, 2);
  call("close", 0, 3);  // the parent's
  task_ = 2;
  read(3);
  read(4);
  call("execve", 0);
  read(3);
  read(4);
  load();
  EXPECT_EQ(reads(), "/kept\n/closed\n/kept\n?");
}

TEST_F(DescriptorsTest, OfProcAreThereAtOnce) {
  trace_->descriptor(1, 0, "/dev/null", kStart + 10);
  trace_->descriptor(1, 7, "socket:[4711]", kStart + 10, USC_FD_CLOEXEC);
  trace_->descriptor(1, USC_FD_END, "", kStart + 11);
  read(0);
  read(7);
  call("execve", 0);
  read(7);
  load();
  EXPECT_EQ(reads(), "/dev/null\nsocket:[4711]\n?");
}

// The close was entered before /proc was read, and had not closed by then.
TEST_F(DescriptorsTest, OfProcGoWithACloseThatWasUnderWay) {
  call("close", 0, 7);
  trace_->descriptor(1, 7, "/gone", next_ + 2);
  trace_->descriptor(1, USC_FD_END, "", next_ + 3);
  read(7);
  load();
  EXPECT_EQ(reads(), "?");
}

TEST_F(DescriptorsTest, AnOpenThatTakesLongIsThereFromItsReturnOn) {
  const std::uint64_t entry = next_ + 1;
  trace_->event({.entry = entry, .end = entry + 35, .result = 3, .nr = 2});
  trace_->string(1, entry, 0, "/slow");
  next_ += 10;
  read(3);
  next_ += 50;
  read(3);
  load();
  EXPECT_EQ(reads(), "?\n/slow");
}

TEST_F(DescriptorsTest, AreNotSaidWhereEventsAreLost) {
  open("/a", 3);
  read(3);
  next_ += 200'000'000;
  trace_->loss(USC_LOSS_RING_FULL_EVENT, 1, 1, next_ + 20, next_ + 40);
  next_ += 100;
  read(3);
  open("/b", 4);
  read(4);
  load();
  EXPECT_EQ(reads(), "/a\n?\n/b");
}

TEST_F(DescriptorsTest, AreNotSaidOfAProcessWithIoUring) {
  open("/a", 3);
  call("io_uring_setup", 4);
  read(3);
  open("/b", 5);
  read(5);
  load();
  EXPECT_EQ(reads(), "?\n?");
}

// One that had its ring before the trace: no call tells of it.
TEST_F(DescriptorsTest, AreNotSaidOfAProcessThatWasFoundWithARing) {
  trace_->io_uring(1);
  open("/a", 3);
  read(3);
  load();
  EXPECT_EQ(reads(), "?");
}

TEST_F(DescriptorsTest, AreNotSaidWhereClosingIsNotRecorded) {
  trace_->meta("calls", "read,openat");
  open("/a", 3);
  read(3);
  load();
  EXPECT_EQ(reads(), "?");
}

TEST_F(DescriptorsTest, NamesThatArePutTogetherAreRedacted) {
  trace_->meta("redact", R"(["/work/secret*"])");
  open("secret.key", 3);
  read(3);
  open("other", 4);
  read(4);
  load();
  EXPECT_EQ(reads(), "[redacted]\n/work/other");
}

// The tracer writes its patterns as a trace has texts, with each backslash twice.
TEST_F(DescriptorsTest, NamesWithABackslashAreRedacted) {
  trace_->meta("redact", R"(["/work/a\\\\b*"])");
  open("a\\b", 3);
  read(3);
  load();
  EXPECT_EQ(reads(), "[redacted]");
}

TEST_F(DescriptorsTest, AThreadSharesTheTableOrHasItsOwn) {
  open("/a", 3);
  call("clone3", 101);
  make(2, 1, USC_TASK_SAME_FILES | USC_TASK_SAME_FS);
  call("clone", 102);
  make(3, 1, USC_TASK_SAME_FS);
  of_task(2);
  call("close", 0, 3);
  open("/b", 3);
  of_task(1);
  read(3);
  of_task(3);
  read(3);
  call("close", 0, 3);
  open("/c", 3);
  read(3);
  of_task(2);
  read(3);
  load();
  EXPECT_EQ(reads(), "/b\n/a\n/c\n/b");
}

TEST_F(DescriptorsTest, AProcessMayShareItsParentsTable) {
  call("clone", 101);
  make(2, 2, USC_TASK_SAME_FILES);
  of_task(2);
  open("/child", 3);
  of_task(1);
  read(3);
  of_task(2);
  call("execve", 0);
  call("close", 0, 3);
  of_task(1);
  read(3);
  load();
  EXPECT_EQ(reads(), "/child\n/child");
}

TEST_F(DescriptorsTest, AreUnshared) {
  open("/a", 3);
  call("clone3", 101);
  make(2, 1, USC_TASK_SAME_FILES | USC_TASK_SAME_FS);
  of_task(2);
  call("unshare", 0, CLONE_FILES);
  call("close", 0, 3);
  open("/own", 3);
  read(3);
  of_task(1);
  read(3);
  call("clone3", 102);
  make(3, 1, USC_TASK_SAME_FILES | USC_TASK_SAME_FS);
  of_task(3);
  call("close_range", 0, 3, 3, CLOSE_RANGE_UNSHARE);
  read(3);
  of_task(1);
  read(3);
  load();
  EXPECT_EQ(reads(), "/own\n/a\n?\n/a");
}

TEST_F(DescriptorsTest, FoldersAreSharedAndUnshared) {
  call("clone3", 101);
  make(2, 2, USC_TASK_SAME_FS);
  call("clone3", 102);
  make(3, 1, USC_TASK_SAME_FILES | USC_TASK_SAME_FS);
  of_task(2);
  call("chdir", 0);
  text(0, "/moved");
  of_task(1);
  open("x", 3);
  read(3);
  of_task(3);
  call("unshare", 0, CLONE_FS);
  call("chdir", 0);
  text(0, "/own");
  open("x", 4);
  read(4);
  of_task(1);
  open("x", 5);
  read(5);
  load();
  EXPECT_EQ(reads(), "/moved/x\n/own/x\n/moved/x");
}

TEST_F(DescriptorsTest, UnderAnotherRootPathsAreNotSaid) {
  open("/", 9);
  call("chroot", 0);
  text(0, "/jail");
  open("/x", 3);
  read(3);
  call("fchdir", 0, 9);
  call("chroot", 0);
  text(0, ".");
  open("/y", 4);
  read(4);
  open("z", 5);
  read(5);
  load();
  EXPECT_EQ(reads(), "?\n/y\n/z");
}

TEST_F(DescriptorsTest, AMountNamespaceComesWithItsRoot) {
  call("setns", 0, 8, CLONE_NEWNET);
  open("x", 3);
  read(3);
  call("setns", 0, 8, CLONE_NEWNS);
  open("x", 4);
  read(4);
  call("setns", 0, 8, 0);  // of any kind
  open("x", 5);
  read(5);
  load();
  EXPECT_EQ(reads(), "/work/x\n/x\n?");
}

TEST_F(DescriptorsTest, ARenamedFolderIsNotSaid) {
  open("/work/sub", 3);
  call("rename", 0);
  text(0, "/elsewhere/other/");
  text(1, "/elsewhere/another");
  open("x", 4);
  read(4);
  call("renameat", 0, static_cast<std::uint64_t>(AT_FDCWD), 0, static_cast<std::uint64_t>(AT_FDCWD));
  text(1, "/work/");
  text(3, "/play");
  open("x", 5);
  read(5);
  call("openat", 6, 3, 0, 0);
  text(1, "y");
  read(6);
  read(3);  // the path that it was opened by
  load();
  EXPECT_EQ(reads(), "/work/x\n?\n?\n/work/sub");
}

TEST_F(DescriptorsTest, AreNotSaidOfWhatASupervisorMayChange) {
  open("/a", 3);
  read(3);
  call("seccomp", 4, 1, 1 << 3);  // a new listener
  read(3);
  call("fork", 101);
  make(2, 2);
  of_task(2);
  open("/b", 5);
  read(5);
  load();
  EXPECT_EQ(reads(), "/a\n?\n?");
}

TEST_F(DescriptorsTest, AreNotSaidOfWhatIsSharedWithOthers) {
  trace_->task({.task = 7, .process = 7, .pid = 107, .tid = 107, .flags = USC_TASK_PROCESS | USC_TASK_ATTACHED});
  trace_->task({.task = 8,
                .process = 8,
                .pid = 108,
                .tid = 108,
                .flags = USC_TASK_PROCESS | USC_TASK_ATTACHED | USC_TASK_SAME_FILES | USC_TASK_SAME_FS});
  for (const std::uint32_t process : {7U, 8U}) {
    trace_->descriptor(process, 3, "/there", kStart + 10);
    trace_->descriptor(process, USC_FD_END, "", kStart + 12);
    of_task(process);
    read(3);
  }
  of_task(7);
  call("unshare", 0, CLONE_FILES);
  call("pipe2", 0, 0, 0, 0);
  call("dup2", 3, 5, 3);
  read(3);
  call("epoll_create1", 4);
  read(4);
  load();
  EXPECT_EQ(reads(), "?\n/there\n?\nanon_inode:[eventpoll]");
}

// Two threads at once: the second one closes what the first one has just opened.
TEST_F(DescriptorsTest, WhatOverlapsIsNotSaid) {
  call("clone3", 101);
  make(2, 1, USC_TASK_SAME_FILES | USC_TASK_SAME_FS);
  const std::uint64_t entry = next_ + 1;
  trace_->event({.entry = entry, .end = entry + 55, .result = 3, .nr = 2});
  trace_->string(1, entry, 0, "/first");
  next_ += 10;
  of_task(2);
  call("close", 0, 3);
  open("/second", 3);
  next_ += 100;
  read(3);
  load();
  EXPECT_EQ(reads(), "?");
}

TEST_F(DescriptorsTest, AreNotSaidWhereATaskIsMissing) {
  open("/a", 3);
  read(3);
  of_task(77);
  call("close", 0, 3);
  of_task(1);
  read(3);
  open("/b", 4);
  read(4);
  load();
  EXPECT_EQ(reads(), "/a\n?\n/b");
}

TEST_F(DescriptorsTest, AreNotSaidOfADamagedTrace) {
  open("/a", 3);
  trace_->skip(0);
  read(3);
  load();
  EXPECT_EQ(reads(), "?");
  EXPECT_EQ(rows("SELECT count FROM loss WHERE cause = 'raw_damaged'"), "1");
}

TEST_F(DescriptorsTest, ASocketsLabelIsThatOfAllItsNumbers) {
  call("socket", 3, AF_UNIX, 1);
  call("dup", 4, 3);
  call("connect", 0, 4);
  text(1, "unix:/run/x");
  read(3);
  load();
  EXPECT_EQ(reads(), "socket:[to unix:/run/x]");
}

TEST_F(DescriptorsTest, ASocketLosesItsPeerByConnectingToAnUnspecifiedAddress) {
  const auto connect = [this](const char* address) {
    call("connect", 0, 3);
    text(1, address);
    read(3);
  };
  call("socket", 3, AF_INET, SOCK_DGRAM);
  connect("inet:127.0.0.1:53");
  connect("family 0:0000");
  call("bind", 0, 3);
  text(1, "inet:127.0.0.1:7");
  connect("inet:127.0.0.1:53");
  connect("family 0:0000");
  load();
  EXPECT_EQ(
      reads(),
      "socket:[to inet:127.0.0.1:53]\nsocket:[inet]\nsocket:[to inet:127.0.0.1:53]\nsocket:[at inet:127.0.0.1:7]");
}

}  // namespace
}  // namespace uscope::store
