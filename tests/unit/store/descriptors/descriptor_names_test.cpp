// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// The name that a descriptor is given by the calls that made it: paths, copies, labels, addresses.
#include <fcntl.h>
#include <sys/socket.h>

#include <cerrno>

#include "tests/unit/store/descriptors/descriptor_trace.h"

namespace uscope::store {
namespace {

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
  text(0, "/proc/self/cwd");  // where it is already
  open("file", 6);
  read(6);
  call("chdir", 0);
  text(0, "/proc/self/fd/77");  // not known
  open("file", 7);
  read(7);
  load();
  EXPECT_EQ(reads(), "/srv/data/file\n/other/below/file\n/other/below/file\n?");
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

TEST_F(DescriptorsTest, WhatIsOpenedThroughTheProgramOrTheWorkingDirectoryIsThat) {
  open("/proc/self/cwd/sub", 3);
  read(3);
  open("/proc/10/cwd", 4);  // as its namespace numbers it
  read(4);
  open("/proc/self/exe", 5);
  read(5);
  open("/proc/self/exe/sub", 6);
  read(6);
  load();
  EXPECT_EQ(reads(), "/work/sub\n/work\n/opt/bin/app\n/proc/self/exe/sub");
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

// getsockname and getpeername tell what the kernel has chosen, and whom accept() did not tell.
TEST_F(DescriptorsTest, SocketsHaveTheAddressesThatCallsTell) {
  const auto tells = [this](const char* name, std::uint64_t fd, const char* address) {
    call(name, 0, fd);
    text(1, address);
    read(fd);
  };
  call("socket", 3, AF_INET, SOCK_STREAM);
  tells("getsockname", 3, "inet:0.0.0.0:0");  // it has none yet
  call("bind", 0, 3);
  text(1, "inet:127.0.0.1:0");
  read(3);
  tells("getsockname", 3, "inet:127.0.0.1:36419");
  call("accept", 4, 3);
  read(4);
  tells("getsockname", 4, "inet:127.0.0.1:36419");
  call("dup", 5, 4);
  tells("getpeername", 4, "inet:127.0.0.1:4000");
  read(5);
  call("socket", 6, AF_INET, SOCK_DGRAM);
  call("connect", 0, 6);
  text(1, "inet:127.0.0.1:53");
  tells("getsockname", 6, "inet:127.0.0.1:5000");  // the peer says more
  load();
  EXPECT_EQ(reads(),
            "socket:[inet]\nsocket:[at inet:127.0.0.1:0]\nsocket:[at inet:127.0.0.1:36419]\nsocket:[accepted]\n"
            "socket:[accepted]\nsocket:[from inet:127.0.0.1:4000]\nsocket:[from inet:127.0.0.1:4000]\n"
            "socket:[to inet:127.0.0.1:53]");
}

TEST_F(DescriptorsTest, ATakenOverDescriptorIsWhatItIsInTheOtherProcess) {
  for (const std::uint32_t task : {2U, 3U})
    trace_->task({.task = task,
                  .process = task,
                  .parent_task = 1,
                  .pid = 200 + task,
                  .tid = 200 + task,
                  .flags = USC_TASK_FORKED | USC_TASK_PROCESS,
                  .time = next_,
                  .below = 0});
  of_task(3);
  open("/b", 7);
  of_task(2);
  call("pidfd_open", 3, 203);
  call("pidfd_getfd", 4, 3, 7);
  read(4);
  call("pidfd_getfd", 5, 3, 8);  // nothing is known of it there
  read(5);
  read(3);
  load();
  EXPECT_EQ(reads(), "/b\n?\nanon_inode:[pidfd]");
}

TEST_F(DescriptorsTest, AFileWithoutANameHasItsFolder) {
  open("/tmp", 3, O_TMPFILE | O_RDWR);
  read(3);
  open(".", 4, O_TMPFILE | O_RDWR);
  read(4);
  load();
  EXPECT_EQ(reads(), "/tmp/(O_TMPFILE)\n/work/(O_TMPFILE)");
}

// A successful exec counts at the file that was run, and its argument is what was passed.
TEST_F(DescriptorsTest, AnExecIsAtTheFileThatWasRun) {
  const auto execute = [this](const char* name, const char* path, std::uint64_t folder) {
    call(name, 0, folder, 0, 0);
    trace_->exec(1, 1, ++image_, 1, path, std::string("app\0", 4), next_ + 2);
  };
  open("/usr", 3);
  execute("execve", "./run", 0);
  execute("execve", "/bin/true", 0);
  execute("execveat", "/dev/fd/3/bin/true", 3);
  execute("execveat", "/dev/fd/3", 3);  // an empty path
  execute("execveat", "sub/run", static_cast<std::uint64_t>(AT_FDCWD));
  execute("execveat", "/dev/fd/4/other", 3);  // an absolute path
  load();
  EXPECT_EQ(rows("SELECT s.value, coalesce(f.value, '-') FROM object_total LEFT JOIN string f ON f.id = folder_id JOIN "
                 "string s ON "
                 "s.id = string_id JOIN kind ON kind.id = kind_id WHERE name LIKE 'exec%' ORDER BY 1"),
            "|/usr\n./run|/work\n/bin/true|-\n/dev/fd/4/other|-\nbin/true|/usr\nsub/run|/work");
}

}  // namespace
}  // namespace uscope::store
