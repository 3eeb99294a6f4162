// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "tracer/waits/wait_calls.h"

#include <asm/unistd_64.h>
#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <sys/wait.h>

#include <algorithm>
#include <sstream>

namespace uscope::tracer {
namespace {

constexpr std::uint64_t kMostPolled = 65536;

// What the arguments mean that are ints.
int int_of(std::uint64_t argument) {
  return static_cast<int>(static_cast<std::uint32_t>(argument));
}

std::uint8_t timed_if(bool is_timed) {
  return is_timed ? USC_TIMED_YES : USC_TIMED_NEVER;
}

void add(CallWaits& waits, std::uint64_t fd, usc_wants_kind wants) {
  waits.things.push_back({.wants = wants, .fd = int_of(fd)});
  waits.is_followed = true;
}

void add_poll(CallWaits& waits, const CallFound& call, const ReadMemory& read) {
  const std::uint64_t count = std::min<std::uint64_t>(static_cast<std::uint32_t>(call.args[1]), kMostPolled);
  std::vector<pollfd> set(count);
  if (count != 0 && !read(call.args[0], static_cast<void*>(set.data()), count * sizeof(pollfd))) {
    waits.unreadable = true;
    return;
  }
  waits.is_followed = true;
  for (const pollfd& one : set) {
    if (one.fd < 0) continue;
    const bool in = (one.events & (POLLIN | POLLRDNORM | POLLPRI | POLLRDBAND | POLLRDHUP)) != 0;
    const bool out = (one.events & (POLLOUT | POLLWRNORM | POLLWRBAND)) != 0;
    waits.things.push_back({.wants = in && out ? USC_WANTS_READ_OR_WRITE
                                     : in      ? USC_WANTS_READ
                                     : out     ? USC_WANTS_WRITE
                                               : USC_WANTS_OTHER,
                            .fd = one.fd});
  }
}

void add_select(CallWaits& waits, const CallFound& call, const ReadMemory& read) {
  const std::size_t count = std::min<std::size_t>(static_cast<std::uint32_t>(call.args[0]), kMostPolled);
  constexpr std::size_t kBits = 64;
  std::vector<std::uint64_t> sets[3];
  for (std::size_t i = 0; i < 3; i++) {
    sets[i].assign((count + kBits - 1) / kBits, 0);
    const std::uint64_t at = call.args[i + 1];
    if (at == 0 || count == 0) continue;
    if (!read(at, static_cast<void*>(sets[i].data()), sets[i].size() * sizeof(std::uint64_t))) {
      waits.unreadable = true;
      return;
    }
  }
  waits.is_followed = true;
  for (std::size_t fd = 0; fd < count; fd++) {
    const auto has = [&](std::size_t set) { return (sets[set][fd / kBits] >> (fd % kBits) & 1U) != 0; };
    if (!has(0) && !has(1) && !has(2)) continue;
    waits.things.push_back({.wants = has(0) && has(1) ? USC_WANTS_READ_OR_WRITE
                                     : has(0)         ? USC_WANTS_READ
                                     : has(1)         ? USC_WANTS_WRITE
                                                      : USC_WANTS_OTHER,
                            .fd = static_cast<int>(fd)});
  }
}

void add_children(CallWaits& waits, std::uint32_t pid, std::uint32_t pgid) {
  waits.things.push_back({.what = USC_WAITED_CHILD, .pid = pid, .pgid = pgid});
  waits.is_followed = true;
  waits.timed = USC_TIMED_NEVER;
}

void add_waitid(CallWaits& waits, const CallFound& call) {
  const auto id = static_cast<std::uint32_t>(call.args[1]);
  switch (int_of(call.args[0])) {
    case P_ALL:
      return add_children(waits, 0, 0);
    case P_PID:
      return add_children(waits, id, 0);
    case P_PGID:
      waits.own_group = id == 0;
      return add_children(waits, 0, id);
    default:  // P_PIDFD
      waits.things.push_back({.what = USC_WAITED_PIDFD, .fd = int_of(call.args[1])});
      waits.is_followed = true;
      waits.timed = USC_TIMED_NEVER;
  }
}

void add_vfork(CallWaits& waits) {
  waits.things.push_back({.what = USC_WAITED_VFORK});
  waits.is_followed = true;
  waits.timed = USC_TIMED_NEVER;
}

}  // namespace

std::optional<CallFound> parse_call(const std::string& line) {
  std::istringstream in(line);
  std::int64_t number = 0;
  if (!(in >> number) || number < 0) return std::nullopt;
  CallFound call;
  call.nr = static_cast<std::uint32_t>(number);
  in >> std::hex;
  for (std::uint64_t& argument : call.args) in >> argument;
  std::uint64_t stack_pointer = 0;
  if (!(in >> stack_pointer)) return std::nullopt;
  constexpr std::uint32_t kX32 = 0x40000000;
  constexpr std::uint64_t kLow = 0xffffffff;
  if ((call.nr & kX32) != 0)
    call.abi = USC_ABI_X32;
  else if (stack_pointer <= kLow)
    call.abi = USC_ABI_I386;
  return call;
}

CallWaits waits_of(const CallFound& call, const ReadMemory& read) {
  CallWaits waits;
  if (call.abi != USC_ABI_X86_64) return waits;
  const std::uint64_t* const a = call.args;
  switch (call.nr) {
    case __NR_read:
    case __NR_readv:
    case __NR_pread64:
    case __NR_preadv:
    case __NR_preadv2:
    case __NR_recvfrom:
    case __NR_recvmsg:
      add(waits, a[0], USC_WANTS_READ);
      waits.timed = USC_TIMED_NEVER;  // of a socket: not known, by the caller
      break;
    case __NR_recvmmsg:
      add(waits, a[0], USC_WANTS_READ);
      waits.timed = timed_if(a[4] != 0);
      break;
    case __NR_write:
    case __NR_writev:
    case __NR_pwrite64:
    case __NR_pwritev:
    case __NR_pwritev2:
    case __NR_sendto:
    case __NR_sendmsg:
    case __NR_sendmmsg:
      add(waits, a[0], USC_WANTS_WRITE);
      waits.timed = USC_TIMED_NEVER;
      break;
    case __NR_sendfile:
      add(waits, a[0], USC_WANTS_WRITE);
      add(waits, a[1], USC_WANTS_READ);
      waits.timed = USC_TIMED_NEVER;
      break;
    case __NR_splice:
      add(waits, a[0], USC_WANTS_READ);
      add(waits, a[2], USC_WANTS_WRITE);
      waits.timed = USC_TIMED_NEVER;
      break;
    case __NR_tee:
      add(waits, a[0], USC_WANTS_READ);
      add(waits, a[1], USC_WANTS_WRITE);
      waits.timed = USC_TIMED_NEVER;
      break;
    case __NR_accept:
    case __NR_accept4:
      add(waits, a[0], USC_WANTS_ACCEPT);
      waits.timed = USC_TIMED_NEVER;
      break;
    case __NR_connect:
      add(waits, a[0], USC_WANTS_CONNECT);
      waits.timed = USC_TIMED_NEVER;
      break;
    case __NR_poll:
      add_poll(waits, call, read);
      waits.timed = timed_if(int_of(a[2]) >= 0);
      break;
    case __NR_ppoll:
      add_poll(waits, call, read);
      waits.timed = timed_if(a[2] != 0);
      break;
    case __NR_select:
    case __NR_pselect6:
      add_select(waits, call, read);
      waits.timed = timed_if(a[4] != 0);
      break;
    case __NR_epoll_wait:
    case __NR_epoll_pwait:
      waits.epoll_fd = int_of(a[0]);
      waits.is_followed = true;
      waits.timed = timed_if(int_of(a[3]) >= 0);
      break;
    case __NR_epoll_pwait2:
      waits.epoll_fd = int_of(a[0]);
      waits.is_followed = true;
      waits.timed = timed_if(a[3] != 0);
      break;
    case __NR_flock:
      add(waits, a[0], USC_WANTS_LOCK);
      waits.timed = USC_TIMED_NEVER;
      break;
    case __NR_fcntl:
      if (int_of(a[1]) != F_SETLKW && int_of(a[1]) != F_OFD_SETLKW) break;
      add(waits, a[0], USC_WANTS_LOCK);
      waits.timed = USC_TIMED_NEVER;
      break;
    case __NR_wait4: {
      const int pid = int_of(a[0]);
      waits.own_group = pid == 0;
      add_children(waits, pid > 0 ? static_cast<std::uint32_t>(pid) : 0,
                   pid < -1 ? static_cast<std::uint32_t>(-static_cast<std::int64_t>(pid)) : 0);
      break;
    }
    case __NR_waitid:
      add_waitid(waits, call);
      break;
    case __NR_vfork:
      add_vfork(waits);
      break;
    case __NR_clone:
      if ((a[0] & CLONE_VFORK) != 0) add_vfork(waits);
      break;
    case __NR_clone3: {
      std::uint64_t flags = 0;
      waits.unreadable = !read(a[0], static_cast<void*>(&flags), sizeof(flags));
      if ((flags & CLONE_VFORK) != 0) add_vfork(waits);
      break;
    }
    case __NR_nanosleep:
    case __NR_clock_nanosleep:
      waits.timed = USC_TIMED_YES;
      break;
    case __NR_pause:
    case __NR_rt_sigsuspend:
    case __NR_msgsnd:
    case __NR_msgrcv:
      waits.timed = USC_TIMED_NEVER;
      break;
    case __NR_rt_sigtimedwait:
      waits.timed = timed_if(a[2] != 0);
      break;
    case __NR_semop:
      waits.timed = USC_TIMED_NEVER;
      waits.semaphores = int_of(a[0]);
      break;
    case __NR_semtimedop:
      waits.timed = timed_if(a[3] != 0);
      waits.semaphores = int_of(a[0]);
      break;
    case __NR_mq_timedsend:
      add(waits, a[0], USC_WANTS_WRITE);
      waits.timed = timed_if(a[4] != 0);
      waits.on_queue = true;
      break;
    case __NR_mq_timedreceive:
      add(waits, a[0], USC_WANTS_READ);
      waits.timed = timed_if(a[4] != 0);
      waits.on_queue = true;
      break;
    case __NR_io_getevents:
    case __NR_io_pgetevents:
      waits.timed = timed_if(a[4] != 0);
      break;
    case __NR_futex:
      waits.timed = timed_if(a[3] != 0);
      break;
    default:
      break;
  }
  return waits;
}

}  // namespace uscope::tracer
