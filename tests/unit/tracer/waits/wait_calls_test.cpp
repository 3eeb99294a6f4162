// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// What calls wait for, by their arguments; and lines of /proc/PID/task/TID/syscall as the kernel writes them.
#include "tracer/waits/wait_calls.h"

#include <asm/unistd_64.h>
#include <fcntl.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <sched.h>
#include <sys/select.h>
#include <sys/sem.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <sys/wait.h>

#include <array>
#include <cstring>
#include <initializer_list>
#include <optional>
#include <string>

namespace uscope::tracer {
namespace {

// Of this process; addresses 0 and 1 cannot be read.
bool read_own(std::uint64_t from, void* to, std::size_t bytes) {
  if (from <= 1) return false;
  std::memcpy(to, reinterpret_cast<const void*>(from), bytes);  // NOLINT(performance-no-int-to-ptr)
  return true;
}

std::uint64_t address_of(const void* thing) {
  return reinterpret_cast<std::uint64_t>(thing);
}

CallWaits of(std::uint32_t nr, std::initializer_list<std::uint64_t> args) {
  CallFound call;
  call.nr = nr;
  std::copy(args.begin(), args.end(), std::begin(call.args));
  return waits_of(call, read_own);
}

void expect_one(const CallWaits& waits, int fd, usc_wants_kind wants, std::uint8_t timed = USC_TIMED_NEVER) {
  EXPECT_TRUE(waits.is_followed);
  EXPECT_EQ(waits.timed, timed);
  ASSERT_EQ(waits.things.size(), 1U);
  EXPECT_EQ(waits.things[0].what, USC_WAITED_DESCRIPTOR);
  EXPECT_EQ(waits.things[0].fd, fd);
  EXPECT_EQ(waits.things[0].wants, wants);
}

void expect_child(const CallWaits& waits, std::uint32_t pid, std::uint32_t pgid, bool own_group = false) {
  EXPECT_TRUE(waits.is_followed);
  EXPECT_EQ(waits.own_group, own_group);
  ASSERT_EQ(waits.things.size(), 1U);
  EXPECT_EQ(waits.things[0].what, USC_WAITED_CHILD);
  EXPECT_EQ(waits.things[0].pid, pid);
  EXPECT_EQ(waits.things[0].pgid, pgid);
}

// Code before address 0x1002; nothing else can be read.
ReadMemory code_of(std::array<std::uint8_t, 2> code) {
  return [code](std::uint64_t from, void* to, std::size_t bytes) {
    if (from != 0x1000 || bytes != code.size()) return false;
    std::memcpy(to, code.data(), bytes);
    return true;
  };
}

std::optional<CallFound> parsed(const std::string& line, const std::string& wchan = "pipe_read") {
  return parse_call(line, wchan, code_of({0, 0}));
}

TEST(ParseCall, ALineOfTheKernel) {
  const auto call = parsed("0 0x3 0x7ffc1000 0x1 0x0 0xffffffffffffffff 0x10 0x7ffc00000f00 0x7f1234567800\n");
  ASSERT_TRUE(call);
  EXPECT_EQ(call->nr, static_cast<std::uint32_t>(__NR_read));
  EXPECT_EQ(call->abi, USC_ABI_X86_64);
  const std::array<std::uint64_t, 6> args{3, 0x7ffc1000, 1, 0, ~std::uint64_t{0}, 0x10};
  EXPECT_TRUE(std::equal(args.begin(), args.end(), std::begin(call->args)));
}

TEST(ParseCall, OtherAbis) {
  const auto small = parsed("3 0x0 0xffb01000 0x1 0x0 0x0 0x0 0xffb00f00 0xf7f12345");
  ASSERT_TRUE(small);
  EXPECT_EQ(small->abi, USC_ABI_I386);
  EXPECT_FALSE(waits_of(*small, read_own).is_followed);
  const auto x32 = parsed("1073741824 0x0 0x1000 0x1 0x0 0x0 0x0 0xffb00f00 0xf7f12345");
  ASSERT_TRUE(x32);
  EXPECT_EQ(x32->abi, USC_ABI_X32);
  EXPECT_FALSE(waits_of(*x32, read_own).is_followed);
}

// Wherever the stack lies: above 4 GiB in the first line, below in the second.
TEST(ParseCall, TheInstructionTellsTheAbi) {
  for (const char* line :
       {"0 0x3 0x1000 0x1 0x0 0x0 0x0 0x7ffc00000f00 0x1002", "0 0x3 0x1000 0x1 0x0 0x0 0x0 0xf00 0x1002"}) {
    EXPECT_EQ(parse_call(line, "", code_of({0x0f, 0x05}))->abi, USC_ABI_X86_64) << line;
    EXPECT_EQ(parse_call(line, "", code_of({0xcd, 0x80}))->abi, USC_ABI_I386) << line;
  }
}

TEST(ParseCall, AfterAStop) {
  const char* const line = "219 0x7ffc1000 0x2 0xffffffff 0x0 0x0 0x0 0x7ffc00000f00 0x7f1234567800";
  EXPECT_EQ(parsed(line, "poll_schedule_timeout.constprop.0")->nr, static_cast<std::uint32_t>(__NR_poll));
  EXPECT_EQ(parsed(line, "hrtimer_nanosleep")->nr, static_cast<std::uint32_t>(__NR_restart_syscall));
  EXPECT_EQ(parsed(line, "")->nr, static_cast<std::uint32_t>(__NR_restart_syscall));
}

TEST(ParseCall, NoCall) {
  for (const char* line : {"running", "-1 0x7ffc0f00 0x7f12345678", "", "0 0x3", "0 0x3 0x4 0x5 0x6 0x7 0x8", "x"})
    EXPECT_FALSE(parsed(line)) << line;
}

TEST(WaitCalls, OfOneDescriptor) {
  expect_one(of(__NR_read, {3}), 3, USC_WANTS_READ);
  expect_one(of(__NR_recvmsg, {3}), 3, USC_WANTS_READ);
  expect_one(of(__NR_writev, {4}), 4, USC_WANTS_WRITE);
  expect_one(of(__NR_sendto, {4}), 4, USC_WANTS_WRITE);
  EXPECT_FALSE(of(__NR_sendto, {4, 0, 0, 0, 0x1000, 16}).is_followed) << "to an address, not to the socket's other end";
  msghdr message{};
  expect_one(of(__NR_sendmsg, {4, address_of(&message)}), 4, USC_WANTS_WRITE);
  message.msg_name = &message;
  for (const int nr : {__NR_sendmsg, __NR_sendmmsg})
    EXPECT_FALSE(of(static_cast<std::uint32_t>(nr), {4, address_of(&message), 1}).is_followed);
  EXPECT_FALSE(of(__NR_sendmsg, {4, 1}).is_followed) << "it cannot be read";
  expect_one(of(__NR_accept4, {5}), 5, USC_WANTS_ACCEPT);
  expect_one(of(__NR_connect, {5}), 5, USC_WANTS_CONNECT);
  expect_one(of(__NR_flock, {6, 2}), 6, USC_WANTS_LOCK);
  expect_one(of(__NR_fcntl, {6, F_SETLKW}), 6, USC_WANTS_LOCK);
  expect_one(of(__NR_fcntl, {6, F_OFD_SETLKW}), 6, USC_WANTS_LOCK);
  EXPECT_FALSE(of(__NR_fcntl, {6, F_GETFL}).is_followed);
  expect_one(of(__NR_recvmmsg, {3, 0, 1, 0, 0}), 3, USC_WANTS_READ);
  expect_one(of(__NR_recvmmsg, {3, 0, 1, 0, 0x1000}), 3, USC_WANTS_READ, USC_TIMED_YES);
  // A descriptor is an int: what a register has above it does not count.
  expect_one(of(__NR_read, {0xabcd00000003}), 3, USC_WANTS_READ);
}

TEST(WaitCalls, OfTwoDescriptors) {
  for (const auto& [nr, from, to] : {std::tuple{__NR_splice, 3, 5}, {__NR_tee, 3, 4}, {__NR_sendfile, 4, 3}}) {
    const CallWaits waits = of(static_cast<std::uint32_t>(nr), {3, 4, 5});
    ASSERT_EQ(waits.things.size(), 2U);
    for (const WaitedThing& thing : waits.things)
      EXPECT_EQ(thing.wants, thing.fd == from ? USC_WANTS_READ : USC_WANTS_WRITE) << nr;
    EXPECT_TRUE(waits.things[0].fd == to || waits.things[1].fd == to) << nr;
  }
}

TEST(WaitCalls, HowMuchIsAskedFor) {
  EXPECT_EQ(of(__NR_read, {3, 0, 4096}).bytes, 4096U);
  EXPECT_EQ(of(__NR_sendto, {3, 0, 17}).bytes, 17U);
  EXPECT_EQ(of(__NR_write, {3, 0, ~std::uint64_t{0}}).bytes, 0x7ffff000U);  // the kernel's bound
  EXPECT_EQ(of(__NR_splice, {3, 0, 4, 0, 512}).bytes, 512U);
  EXPECT_EQ(of(__NR_accept, {3}).bytes, std::nullopt);
  std::array<iovec, 3> buffers{{{nullptr, 100}, {nullptr, 0}, {nullptr, 23}}};
  EXPECT_EQ(of(__NR_writev, {3, address_of(buffers.data()), buffers.size()}).bytes, 123U);
  EXPECT_EQ(of(__NR_readv, {3, 1, buffers.size()}).bytes, std::nullopt);
  EXPECT_EQ(of(__NR_readv, {3, address_of(buffers.data()), 1 << 20}).bytes, std::nullopt);
  std::array<mmsghdr, 2> messages{};
  messages[0].msg_hdr.msg_iov = buffers.data();
  messages[0].msg_hdr.msg_iovlen = buffers.size();
  messages[1].msg_hdr.msg_iov = buffers.data();
  messages[1].msg_hdr.msg_iovlen = 1;
  EXPECT_EQ(of(__NR_sendmsg, {3, address_of(messages.data())}).bytes, 123U);
  EXPECT_EQ(of(__NR_recvmmsg, {3, address_of(messages.data()), messages.size()}).bytes, 223U);
  EXPECT_FALSE(of(__NR_readv, {3, 1, 1}).unreadable);  // it decides nothing
  EXPECT_EQ(of(__NR_read, {3, 0, 4096}).parts, 0U);
  EXPECT_EQ(of(__NR_writev, {3, address_of(buffers.data()), buffers.size()}).parts, 3U);
  EXPECT_EQ(of(__NR_sendmsg, {3, address_of(messages.data())}).parts, 3U);
  EXPECT_EQ(of(__NR_recvmmsg, {3, address_of(messages.data()), messages.size()}).parts, 4U);
  EXPECT_EQ(of(__NR_readv, {3, 1, buffers.size()}).parts, 0U);
}

TEST(WaitCalls, TheFileThatIsOpened) {
  constexpr std::size_t kWhole = 4096;  // it is read up to the end of its page
  alignas(kWhole) static std::array<char, kWhole> path{"in/fifo"};
  const auto opens = of(__NR_openat, {static_cast<std::uint64_t>(AT_FDCWD), address_of(path.data()), O_WRONLY});
  ASSERT_TRUE(opens.path);
  EXPECT_EQ(opens.path->path, "in/fifo");
  EXPECT_EQ(opens.path->folder, AT_FDCWD);
  EXPECT_TRUE(opens.path->writes && !opens.path->reads);
  const auto old = of(__NR_open, {address_of(path.data()), O_RDONLY | O_CLOEXEC});
  EXPECT_TRUE(old.path && old.path->reads && !old.path->writes);
  EXPECT_FALSE(of(__NR_openat, {3, 1, O_RDONLY}).path);
  // A text that crosses the end of a page, behind which there is nothing.
  constexpr std::uint64_t kPage = kWhole;
  const auto tail = [](std::uint64_t from, void* to, std::size_t bytes) {
    if (from / kPage != (from + bytes - 1) / kPage || from >= 3 * kPage) return false;
    std::memset(to, 'x', bytes);
    if (from / kPage == 2) static_cast<char*>(to)[1] = '\0';
    return true;
  };
  CallFound call;
  call.nr = __NR_open;
  call.args[0] = 2 * kPage - 3;
  EXPECT_EQ(waits_of(call, tail).path->path, "xxxx");
  call.args[0] = 3 * kPage - 3;
  EXPECT_FALSE(waits_of(call,
                        [](std::uint64_t from, void* to, std::size_t bytes) {
                          std::memset(to, 'x', bytes);
                          return from < 3 * kPage;
                        })
                   .path)
      << "it does not end";
}

TEST(WaitCalls, SystemVObjects) {
  std::array<sembuf, 2> changes{{{3, -1, 0}, {4, 0, 0}}};
  const auto set = of(__NR_semop, {5, address_of(changes.data()), changes.size()});
  EXPECT_EQ(set.semaphores, 5);
  ASSERT_EQ(set.changes.size(), 2U);
  EXPECT_TRUE(set.changes[0].number == 3 && set.changes[0].by == -1);
  EXPECT_TRUE(set.changes[1].number == 4 && set.changes[1].by == 0);
  EXPECT_EQ(of(__NR_semop, {5, 1, 1}).changes.size(), 0U);
  const auto queue = of(__NR_msgrcv, {6, 0, 16});
  EXPECT_EQ(queue.messages, 6);
  EXPECT_EQ(queue.bytes, 16U);
}

TEST(WaitCalls, ASetOfPoll) {
  std::array<pollfd, 5> set{{{3, POLLIN, 0}, {-1, POLLIN, 0}, {4, POLLOUT, 0}, {5, POLLIN | POLLOUT, 0}, {6, 0, 0}}};
  const CallWaits waits = of(__NR_poll, {address_of(set.data()), set.size(), 0xffffffff});
  EXPECT_EQ(waits.timed, USC_TIMED_NEVER);
  ASSERT_EQ(waits.things.size(), 4U);
  const std::array<std::pair<int, usc_wants_kind>, 4> wanted{
      {{3, USC_WANTS_READ}, {4, USC_WANTS_WRITE}, {5, USC_WANTS_READ_OR_WRITE}, {6, USC_WANTS_OTHER}}};
  for (std::size_t i = 0; i < wanted.size(); i++) {
    EXPECT_EQ(waits.things[i].fd, wanted.at(i).first);
    EXPECT_EQ(waits.things[i].wants, wanted.at(i).second);
  }
  EXPECT_EQ(of(__NR_poll, {address_of(set.data()), set.size(), 0}).timed, USC_TIMED_YES);
  EXPECT_EQ(of(__NR_ppoll, {address_of(set.data()), set.size(), 0x1000}).timed, USC_TIMED_YES);
  EXPECT_EQ(of(__NR_ppoll, {address_of(set.data()), set.size(), 0}).timed, USC_TIMED_NEVER);
  EXPECT_TRUE(of(__NR_poll, {0, 0, 0xffffffff}).things.empty());
  const CallWaits unknown = of(__NR_poll, {1, 2, 0xffffffff});
  EXPECT_TRUE(unknown.unreadable);
  EXPECT_FALSE(unknown.is_followed);
}

TEST(WaitCalls, SetsOfSelect) {
  std::array<fd_set, 2> sets{};
  FD_SET(3, &sets[0]);
  FD_SET(70, &sets[0]);
  FD_SET(70, &sets[1]);
  FD_SET(90, &sets[1]);  // not below the first argument
  const CallWaits waits = of(__NR_pselect6, {80, address_of(&sets[0]), address_of(&sets[1]), 0, 0});
  EXPECT_EQ(waits.timed, USC_TIMED_NEVER);
  ASSERT_EQ(waits.things.size(), 2U);
  EXPECT_EQ(waits.things[0].fd, 3);
  EXPECT_EQ(waits.things[0].wants, USC_WANTS_READ);
  EXPECT_EQ(waits.things[1].fd, 70);
  EXPECT_EQ(waits.things[1].wants, USC_WANTS_READ_OR_WRITE);
  EXPECT_EQ(of(__NR_select, {0, 0, 0, 0, 0x1000}).timed, USC_TIMED_YES);
  EXPECT_TRUE(of(__NR_select, {80, 1, 0, 0, 0}).unreadable);
}

TEST(WaitCalls, AnEpollSet) {
  EXPECT_EQ(of(__NR_epoll_wait, {7, 0, 1, 0xffffffff}).epoll_fd, 7);
  EXPECT_EQ(of(__NR_epoll_wait, {7, 0, 1, 0xffffffff}).timed, USC_TIMED_NEVER);
  EXPECT_EQ(of(__NR_epoll_pwait, {7, 0, 1, 10}).timed, USC_TIMED_YES);
  EXPECT_EQ(of(__NR_epoll_pwait2, {7, 0, 1, 0}).timed, USC_TIMED_NEVER);
  EXPECT_EQ(of(__NR_epoll_pwait2, {7, 0, 1, 0x1000}).timed, USC_TIMED_YES);
}

TEST(WaitCalls, Children) {
  expect_child(of(__NR_wait4, {77}), 77, 0);
  expect_child(of(__NR_wait4, {0xffffffff}), 0, 0);
  expect_child(of(__NR_wait4, {0}), 0, 0, true);
  expect_child(of(__NR_wait4, {static_cast<std::uint32_t>(-77)}), 0, 77);
  expect_child(of(__NR_waitid, {P_ALL}), 0, 0);
  expect_child(of(__NR_waitid, {P_PID, 77}), 77, 0);
  expect_child(of(__NR_waitid, {P_PGID, 77}), 0, 77);
  expect_child(of(__NR_waitid, {P_PGID, 0}), 0, 0, true);
  const CallWaits pidfd = of(__NR_waitid, {P_PIDFD, 5});
  ASSERT_EQ(pidfd.things.size(), 1U);
  EXPECT_EQ(pidfd.things[0].what, USC_WAITED_PIDFD);
  EXPECT_EQ(pidfd.things[0].fd, 5);
}

TEST(WaitCalls, Vfork) {
  const auto is_vfork = [](const CallWaits& waits) {
    return waits.things.size() == 1 && waits.things[0].what == USC_WAITED_VFORK;
  };
  EXPECT_TRUE(is_vfork(of(__NR_vfork, {})));
  EXPECT_TRUE(is_vfork(of(__NR_clone, {CLONE_VFORK | CLONE_VM})));
  EXPECT_TRUE(of(__NR_clone, {CLONE_VM}).things.empty());
  const std::uint64_t flags = CLONE_VFORK;
  EXPECT_TRUE(is_vfork(of(__NR_clone3, {address_of(&flags)})));
  EXPECT_TRUE(of(__NR_clone3, {1}).unreadable);
}

TEST(WaitCalls, WhatEndsByItself) {
  EXPECT_EQ(of(__NR_nanosleep, {}).timed, USC_TIMED_YES);
  EXPECT_EQ(of(__NR_clock_nanosleep, {}).timed, USC_TIMED_YES);
  EXPECT_EQ(of(__NR_rt_sigtimedwait, {0, 0, 0x1000}).timed, USC_TIMED_YES);
  EXPECT_EQ(of(__NR_rt_sigtimedwait, {0, 0, 0}).timed, USC_TIMED_NEVER);
  EXPECT_EQ(of(__NR_semtimedop, {9, 0, 1, 0x1000}).timed, USC_TIMED_YES);
  EXPECT_EQ(of(__NR_semop, {9}).semaphores, 9);
  EXPECT_EQ(of(__NR_io_getevents, {9, 1, 1, 0, 0x1000}).timed, USC_TIMED_YES);
  EXPECT_EQ(of(__NR_io_getevents, {9, 1, 1, 0, 0}).timed, USC_TIMED_NEVER);
  // Of a call that is not known, nothing is; nor of what goes on after a stop.
  for (const int nr : {__NR_ioctl, __NR_fsync, __NR_restart_syscall}) {
    const CallWaits waits = of(static_cast<std::uint32_t>(nr), {3});
    EXPECT_EQ(waits.timed, USC_TIMED_UNKNOWN);
    EXPECT_FALSE(waits.is_followed);
  }
}

TEST(WaitCalls, QueuesOfMessages) {
  const CallWaits waits = of(__NR_mq_timedreceive, {3, 0, 0, 0, 0});
  EXPECT_TRUE(waits.on_queue);
  expect_one(waits, 3, USC_WANTS_READ);
  expect_one(of(__NR_mq_timedsend, {3, 0, 0, 0, 0x1000}), 3, USC_WANTS_WRITE, USC_TIMED_YES);
}

}  // namespace
}  // namespace uscope::tracer
