// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// Descriptors that go from one process to another in messages.
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/stat.h>

#include <string>

#include "tests/unit/store/descriptors/descriptor_trace.h"

namespace uscope::store {
namespace {

class PassedDescriptorsTest : public DescriptorsTest {
 protected:
  void SetUp() override {
    DescriptorsTest::SetUp();
    call("clone", 101);
    make(2, 2);
  }

  void sends(int fd, std::uint64_t ino, std::uint32_t mode, const std::string& components, std::uint16_t flags = 0) {
    carries(USC_STRING_PASSED, fd, ino, mode, components, flags);
  }
  void receives(int fd, std::uint64_t ino, std::uint32_t mode, const std::string& components) {
    carries(USC_STRING_PASSED_OUT, fd, ino, mode, components);
  }

  std::string passed_rows() {
    return rows(
        "SELECT arg, fd, coalesce(value, '?') FROM event_descriptor LEFT JOIN string ON string.id = string_id "
        "WHERE wants = 'passed' ORDER BY event_id, place");
  }

  const std::string hostname_ = std::string("hostname") + '\0' + "run" + '\0';
};

// The sender opened it by another path than the kernel has: both processes' descriptors are one object.
TEST_F(PassedDescriptorsTest, HasTheSendersName) {
  open("/etc/hostname", 5);
  call("sendmsg", 1, 3);
  sends(5, 77, S_IFREG, hostname_);
  call("close", 0, 5);
  of_task(2);
  call("recvmsg", 1, 4);
  receives(9, 77, S_IFREG, hostname_);
  read(9);
  load();
  EXPECT_EQ(reads(), "/etc/hostname");
  EXPECT_EQ(passed_rows(), "1|5|/etc/hostname\n1|9|/etc/hostname");
}

TEST_F(PassedDescriptorsTest, OfAnUntracedSenderHasTheKernelsName) {
  of_task(2);
  call("recvmsg", 1, 4);
  receives(9, 77, S_IFREG, hostname_);
  receives(10, 78, S_IFSOCK, "");
  read(9);
  read(10);
  load();
  EXPECT_EQ(reads(), "/run/hostname\nsocket:[78]");
}

// It is the receiver's own, and was not inherited: a process that ended with it has left it open.
TEST_F(PassedDescriptorsTest, TheReceiverOpenedIt) {
  open("/etc/hostname", 5);
  call("sendmsg", 1, 3);
  sends(5, 77, S_IFREG, hostname_);
  of_task(2);
  call("recvmsg", 1, 4);
  receives(9, 77, S_IFREG, hostname_);
  trace_->exit(2, 2, 0, next_ + 20);
  load();
  EXPECT_EQ(
      rows("SELECT h.process_id, fd, value, until, k.name FROM held_descriptor h JOIN string s ON s.id = string_id "
           "JOIN event e ON e.id = event_id JOIN kind k ON k.id = kind_id ORDER BY 1"),
      "1|5|/etc/hostname|tracing|openat\n2|9|/etc/hostname|exit|recvmsg");
}

// What has the number of an inode by then need not be the file that was sent.
TEST_F(PassedDescriptorsTest, AnotherFileOfThatNumberIsNotTaken) {
  open("/etc/hostname", 5);
  call("sendmsg", 1, 3);
  sends(5, 77, S_IFREG, hostname_);
  of_task(2);
  call("recvmsg", 1, 4);
  receives(9, 77, S_IFREG, std::string("other") + '\0');
  read(9);
  load();
  EXPECT_EQ(reads(), "/other");
}

// A socket is the same one, whatever number it has: what is learnt later holds for both.
TEST_F(PassedDescriptorsTest, SocketKeepsItsAddress) {
  call("socket", 6, AF_INET);
  call("sendmsg", 1, 3);
  sends(6, 90, S_IFSOCK, "");
  of_task(2);
  call("recvmsg", 1, 4);
  receives(9, 90, S_IFSOCK, "");
  of_task(1);
  call("connect", 0, 6);
  const std::string address("\x02\0\0\x50\x7f\0\0\x01\0\0\0\0\0\0\0\0", 16);
  trace_->string(task_, next_, 1, address, USC_STRING_ADDRESS);
  of_task(2);
  read(9);
  load();
  EXPECT_EQ(reads(), "socket:[to inet:127.0.0.1:80]");
}

// The receiver waited first: its call comes before the sender's in the order of entry.
TEST_F(PassedDescriptorsTest, ReceiverMayWaitFirst) {
  of_task(2);
  next_ += 10;
  trace_->event({.task = 2,
                 .entry = next_,
                 .end = next_ + 1000,
                 .result = 1,
                 .nr = syscalls::syscall_number(USC_ABI_X86_64, "recvmsg").value_or(999),
                 .a0 = 4});
  receives(9, 77, S_IFREG, hostname_);
  of_task(1);
  open("/etc/hostname", 5);
  call("sendmsg", 1, 3);
  sends(5, 77, S_IFREG, hostname_);
  next_ += 1000;
  of_task(2);
  read(9);
  load();
  EXPECT_EQ(reads(), "/etc/hostname");
}

TEST_F(PassedDescriptorsTest, CloseOnExecIsThatOfTheReceiver) {
  open("/a", 5, O_CLOEXEC);
  call("sendmsg", 1, 3);
  sends(5, 77, S_IFREG, std::string("a") + '\0');
  of_task(2);
  call("recvmsg", 1, 4);
  receives(8, 77, S_IFREG, std::string("a") + '\0');
  call("recvmsg", 1, 4, 0, MSG_CMSG_CLOEXEC);
  receives(9, 77, S_IFREG, std::string("a") + '\0');
  call("execve", 0);
  trace_->exec(2, 2, 7, 0, "/b", "", next_ + 2);
  read(8);
  read(9);
  load();
  EXPECT_EQ(reads(), "/a\n?");
}

TEST_F(PassedDescriptorsTest, FollowedMessagesAreNoEvents) {
  open("/etc/hostname", 5);
  flags_ = USC_EVENT_FOLLOWED | USC_EVENT_PASSES;
  call("sendmsg", 1, 3);
  sends(5, 77, S_IFREG, hostname_);
  of_task(2);
  call("recvmsg", 1, 4);
  receives(9, 77, S_IFREG, hostname_);
  flags_ = 0;
  read(9);
  load();
  EXPECT_EQ(reads(), "/etc/hostname");
  EXPECT_EQ(passed_rows(), "");
}

// A send that was looked at when it had returned says nothing of the sender's table: it may have changed.
TEST_F(PassedDescriptorsTest, LateLooksAreMarked) {
  open("/etc/hostname", 5);
  call("sendmsg", 1, 3);
  sends(5, 77, S_IFREG, hostname_, USC_STRING_LATE);
  load();
  EXPECT_EQ(passed_rows(), "1|5|/run/hostname");
  EXPECT_EQ(rows("SELECT late FROM event_descriptor"), "1");
}

}  // namespace
}  // namespace uscope::store
