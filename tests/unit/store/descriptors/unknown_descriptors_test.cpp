// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// Where the loader does not know what a descriptor stands for, it gives no name: it never guesses.
#include <fcntl.h>
#include <sched.h>

#include "descriptors/descriptor_calls.h"
#include "tests/unit/store/descriptors/descriptor_trace.h"

namespace uscope::store {
namespace {

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

// A call that failed has changed nothing, whatever it is.
TEST_F(DescriptorsTest, AreSaidAfterACallThatFailed) {
  std::string expected;
  for (const std::string_view name : descriptors::all_descriptor_calls()) {
    if (name == "close") continue;  // it closes the descriptor though it fails, unless the error is EBADF
    open("/a", 3);
    call(std::string(name).c_str(), -22, 3, 3, 3);
    text(0, "/b");
    text(1, "/c");
    read(3);
    open("sub", 4);
    read(4);
    call("close", 0, 4);
    call("close", 0, 3);
    expected += (expected.empty() ? "" : "\n") + std::string("/a\n/work/sub");
  }
  load();
  EXPECT_EQ(reads(), expected);
}

TEST_F(DescriptorsTest, AreSaidWhereClosingIsFollowed) {
  trace_->meta("calls", "read");
  std::string followed;
  for (const std::string_view name : descriptors::all_descriptor_calls())
    followed += (followed.empty() ? "" : ",") + std::string(name);
  trace_->meta("followed", followed);
  flags_ = USC_EVENT_FOLLOWED;
  open("/a", 3);
  flags_ = 0;
  read(3);
  flags_ = USC_EVENT_FOLLOWED;
  call("dup2", 4, 3, 4);
  call("close", 0, 3);
  flags_ = 0;
  read(3);
  read(4);
  load();
  EXPECT_EQ(reads(), "/a\n?\n/a");
  EXPECT_EQ(rows("SELECT count(*) FROM event"), "3");  // what is only followed is no event
  EXPECT_EQ(rows("SELECT group_concat(name) FROM kind"), "read");
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

}  // namespace
}  // namespace uscope::store
