// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "syscalls/flag_names.h"

#include <algorithm>

#include "support/text.h"
#include "syscalls/flag_tables.h"

namespace uscope::syscalls {
namespace {

struct FlagArgument {
  std::string_view call;
  std::size_t arg;
  const FlagSet* set;
};

constexpr FlagArgument kFlagArguments[] = {{"open", 1, &kOpen},
                                           {"openat", 2, &kOpen},
                                           {"open_by_handle_at", 2, &kOpen},
                                           {"mq_open", 1, &kOpen},
                                           {"pipe2", 1, &kOpenFlagsOnly},
                                           {"dup3", 2, &kOpenFlagsOnly},
                                           {"access", 1, &kAccess},
                                           {"faccessat", 2, &kAccess},
                                           {"faccessat2", 2, &kAccess},
                                           {"faccessat2", 3, &kEaccess},
                                           {"newfstatat", 3, &kAt},
                                           {"statx", 2, &kAt},
                                           {"statx", 3, &kStatx},
                                           {"unlinkat", 2, &kUnlink},
                                           {"linkat", 4, &kAt},
                                           {"fchownat", 4, &kAt},
                                           {"fchmodat2", 3, &kAt},
                                           {"utimensat", 3, &kAt},
                                           {"execveat", 4, &kAt},
                                           {"name_to_handle_at", 4, &kAt},
                                           {"renameat2", 4, &kRename},
                                           {"mmap", 2, &kProt},
                                           {"mmap", 3, &kMap},
                                           {"mprotect", 2, &kProt},
                                           {"pkey_mprotect", 2, &kProt},
                                           {"mremap", 3, &kMremap},
                                           {"madvise", 2, &kMadvise},
                                           {"process_madvise", 3, &kMadvise},
                                           {"msync", 2, &kMsync},
                                           {"lseek", 2, &kWhence},
                                           {"socket", 0, &kFamily},
                                           {"socket", 1, &kSocketType},
                                           {"socketpair", 0, &kFamily},
                                           {"socketpair", 1, &kSocketType},
                                           {"accept4", 3, &kAccept},
                                           {"sendto", 3, &kMessage},
                                           {"recvfrom", 3, &kMessage},
                                           {"sendmsg", 2, &kMessage},
                                           {"recvmsg", 2, &kMessage},
                                           {"sendmmsg", 3, &kMessage},
                                           {"recvmmsg", 3, &kMessage},
                                           {"preadv2", 5, &kReadWrite},
                                           {"pwritev2", 5, &kReadWrite},
                                           {"shutdown", 1, &kShutdown},
                                           {"setsockopt", 1, &kLevel},
                                           {"getsockopt", 1, &kLevel},
                                           {"fcntl", 1, &kFcntl},
                                           {"flock", 1, &kFlock},
                                           {"fallocate", 1, &kFallocate},
                                           {"ioctl", 1, &kIoctl},
                                           {"futex", 1, &kFutex},
                                           {"clone", 0, &kClone},
                                           {"unshare", 0, &kNamespaces},
                                           {"setns", 1, &kNamespaces},
                                           {"rt_sigprocmask", 0, &kMaskHow},
                                           {"wait4", 2, &kWait},
                                           {"waitid", 0, &kIdType},
                                           {"waitid", 3, &kWait},
                                           {"epoll_ctl", 1, &kEpollOp},
                                           {"epoll_create1", 0, &kEpoll},
                                           {"eventfd2", 1, &kEventFd},
                                           {"timerfd_create", 0, &kClock},
                                           {"timerfd_create", 1, &kTimerFd},
                                           {"timerfd_settime", 1, &kTimer},
                                           {"signalfd4", 3, &kSignalFd},
                                           {"inotify_init1", 0, &kInotify},
                                           {"inotify_add_watch", 2, &kWatch},
                                           {"memfd_create", 1, &kMemfd},
                                           {"getrandom", 2, &kRandom},
                                           {"close_range", 2, &kCloseRange},
                                           {"clock_gettime", 0, &kClock},
                                           {"clock_settime", 0, &kClock},
                                           {"clock_getres", 0, &kClock},
                                           {"clock_nanosleep", 0, &kClock},
                                           {"clock_nanosleep", 1, &kTimer},
                                           {"timer_create", 0, &kClock},
                                           {"timer_settime", 1, &kTimer},
                                           {"getitimer", 0, &kItimer},
                                           {"setitimer", 0, &kItimer},
                                           {"prlimit64", 1, &kLimit},
                                           {"getrlimit", 0, &kLimit},
                                           {"setrlimit", 0, &kLimit},
                                           {"getrusage", 0, &kUsage},
                                           {"sched_setscheduler", 1, &kPolicy},
                                           {"arch_prctl", 0, &kArchPrctl},
                                           {"prctl", 0, &kPrctl},
                                           {"mount", 3, &kMount},
                                           {"umount2", 1, &kUmount},
                                           {"setxattr", 4, &kXattr},
                                           {"lsetxattr", 4, &kXattr},
                                           {"fsetxattr", 4, &kXattr}};

const char* name_of(std::span<const FlagName> names, std::uint64_t value) {
  const auto at = std::find_if(names.begin(), names.end(), [value](const FlagName& n) { return n.value == value; });
  return at == names.end() ? nullptr : at->name;
}

}  // namespace

const FlagSet* flags_of(std::string_view call, std::size_t arg) {
  const auto* const at =
      std::find_if(std::begin(kFlagArguments), std::end(kFlagArguments),
                   [&](const FlagArgument& argument) { return argument.call == call && argument.arg == arg; });
  return at == std::end(kFlagArguments) ? nullptr : at->set;
}

const FlagSet* flags_of_fcntl(std::uint64_t command) {
  if (command == F_SETFD) return &kFdFlagSet;
  return command == F_SETFL ? &kOpen : nullptr;
}

const FlagSet* flags_of_option(std::uint64_t level) {
  if (level == SOL_SOCKET) return &kSocketOption;
  return level == IPPROTO_TCP ? &kTcpOption : nullptr;
}

const FlagSet& poll_events() {
  return kPollEvents;
}

const FlagSet& epoll_events() {
  return kEpollEvents;
}

const FlagSet& child_codes() {
  return kChildCodes;
}

std::string flags_text(const FlagSet& set, std::uint64_t value) {
  std::string out;
  const auto add = [&out](const std::string& text) { out += (out.empty() ? "" : "|") + text; };
  std::uint64_t rest = value & ~set.part;
  const std::uint64_t number = value & set.part;
  const bool hidden = set.hides_zero && number == 0 && rest != 0;
  if (set.part != 0 && !hidden) {
    const char* name = name_of(set.numbers, number);
    if (!name && set.part == kAll) return hex_or_zero(value);
    if (name || number != 0 || rest == 0) add(name ? name : hex_or_zero(number));
  }
  for (const FlagName& flag : set.flags) {
    if (flag.value == 0 || (rest & flag.value) != flag.value) continue;
    add(flag.name);
    rest &= ~flag.value;
  }
  if (rest != 0) add(hex_or_zero(rest));
  if (!out.empty()) return out;
  const char* nothing = set.part == 0 ? name_of(set.numbers, 0) : nullptr;
  return nothing ? nothing : "0";
}

}  // namespace uscope::syscalls
