// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// Tables, working directories and roots that tasks share, inherit or leave.
#include <fcntl.h>
#include <linux/close_range.h>
#include <sched.h>

#include "tests/unit/store/descriptors/descriptor_trace.h"

namespace uscope::store {
namespace {

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

}  // namespace
}  // namespace uscope::store
