// What descriptors stand for: the table, and its way through the events of a trace.
#include <fcntl.h>
#include <sched.h>
#include <sys/socket.h>

#include "load_support.h"
#include "store/descriptor_table.h"
#include "store/syscall_table.h"

namespace uscope::store {
namespace {

TEST(DescriptorTableTest, CopiesAtForkAndClosesAtExec) {
  DescriptorTable table;
  table.set(1, 3, {10, false, false});
  table.set(1, 4, {11, true, false});
  table.fork(2, 1);
  table.close(1, 3);
  EXPECT_EQ(table.find(1, 3), nullptr);
  ASSERT_NE(table.find(2, 3), nullptr);
  EXPECT_EQ(table.find(2, 3)->string_id, 10);
  table.exec(2);
  EXPECT_EQ(table.find(2, 4), nullptr);
  ASSERT_NE(table.find(1, 4), nullptr);
  table.set_close_on_exec(1, 0, 100, false);
  table.exec(1);
  EXPECT_NE(table.find(1, 4), nullptr);
  table.close_range(2, -1, 100);  // above every number
  EXPECT_NE(table.find(2, 3), nullptr);
  table.fork(1, 9);  // of nobody known: nothing is known
  EXPECT_EQ(table.find(1, 4), nullptr);
}

TEST(DescriptorTableTest, SharesUntilExec) {
  DescriptorTable table;
  table.set(1, 3, {10, false, false});
  table.share(2, 1);
  table.set(2, 4, {11, false, false});
  ASSERT_NE(table.find(1, 4), nullptr);
  table.exec(2);
  table.close_range(2, 0, 9);
  EXPECT_EQ(table.find(2, 4), nullptr);
  EXPECT_NE(table.find(1, 4), nullptr);
}

TEST(DescriptorTableTest, IsBounded) {
  DescriptorTable table;
  const auto most = static_cast<int>(DescriptorTable::kMostOfOne);
  for (int fd = 0; fd <= most; fd++) table.set(1, fd, {1, false, false});
  EXPECT_NE(table.find(1, most - 1), nullptr);
  EXPECT_EQ(table.find(1, most), nullptr);
  // Copies that are changed count; when all together are too many, all is forgotten rather than some of it.
  for (std::uint32_t process = 2; process < 2 + DescriptorTable::kMost / DescriptorTable::kMostOfOne; process++) {
    table.fork(process, 1);
    table.set(process, 0, {2, false, false});
  }
  EXPECT_EQ(table.find(1, 1), nullptr);
}

class DescriptorsTest : public LoaderTest {
 protected:
  void SetUp() override {
    usual();
    trace_->descriptor(1, USC_FD_CWD, "/work", kStart);
  }

  // A call of task 1 that is entered at the next moment and returns 5 ns later.
  void call(const char* name, std::int64_t result, std::uint64_t a0 = 0, std::uint64_t a1 = 0, std::uint64_t a2 = 0) {
    next_ += 10;
    trace_->event({.task = task_,
                   .entry = next_,
                   .end = next_ + 5,
                   .result = result,
                   .nr = syscall_number(USC_ABI_X86_64, name).value_or(999),
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
  next_ += 100;
  trace_->task({.task = 2, .process = 2, .parent_task = 1, .pid = 101, .tid = 101, .time = next_ + 5});
  next_ += 100;
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

}  // namespace
}  // namespace uscope::store
