// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "analyzer/diff/call_traits.h"

#include <algorithm>
#include <array>
#include <cerrno>

namespace uscope::analyzer {

namespace {

// "poll" for "i386:poll".
std::string_view without_abi(std::string_view kind) {
  const std::size_t colon = kind.find(':');
  return colon == std::string_view::npos ? kind : kind.substr(colon + 1);
}

}  // namespace

bool waits(std::string_view kind) {
  constexpr std::array<std::string_view, 33> kWaiting{
      "accept",         "accept4",         "clock_nanosleep", "epoll_pwait",   "epoll_pwait2",    "epoll_wait",
      "flock",          "futex",           "futex_wait",      "futex_waitv",   "io_getevents",    "io_pgetevents",
      "io_uring_enter", "mq_timedreceive", "msgrcv",          "nanosleep",     "pause",           "poll",
      "ppoll",          "pselect6",        "restart_syscall", "rt_sigsuspend", "rt_sigtimedwait", "sched_yield",
      "select",         "semop",           "semtimedop",      "wait4",         "waitid",          "waitpid",
      "recvmmsg",       "signalfd",        "_newselect"};
  return std::find(kWaiting.begin(), kWaiting.end(), without_abi(kind)) != kWaiting.end();
}

syscalls::Transfer transfer_of_kind(std::string_view kind) {
  return syscalls::transfer_of(without_abi(kind));
}

bool is_passing(std::string_view kind, std::int64_t error) {
  if (error == EAGAIN || error == EINTR || error == EINPROGRESS || error == EALREADY) return true;
  return error == ETIMEDOUT && waits(kind);
}

}  // namespace uscope::analyzer
