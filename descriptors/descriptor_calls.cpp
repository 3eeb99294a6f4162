// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "descriptors/descriptor_calls.h"

#include <fcntl.h>
#include <sys/socket.h>

#include <algorithm>
#include <iterator>

namespace uscope::descriptors {
namespace {

using enum DescriptorCall;

struct Entry {
  std::string_view name;
  DescriptorCall call;
  CloseOnExec close_on_exec = {};
  std::string_view label = {};
};

// O_CLOEXEC, SOCK_CLOEXEC and their like are the same bit.
constexpr CloseOnExec in_arg(int arg) {
  return {.arg = arg, .bits = O_CLOEXEC};
}
constexpr CloseOnExec kAlways{.always = true};
constexpr std::uint64_t kMountBit = 1;  // FSOPEN_CLOEXEC, FSPICK_CLOEXEC, FAN_CLOEXEC, MFD_CLOEXEC
constexpr std::uint64_t kMessageBit = MSG_CMSG_CLOEXEC;
constexpr std::uint64_t kPerfBit = 8;  // PERF_FLAG_FD_CLOEXEC

constexpr Entry kEntries[] = {
    {"open", kOpen, in_arg(1)},
    {"openat", kOpen, in_arg(2)},
    {"openat2", kOpen},
    {"creat", kOpen},
    {"open_tree", kOpen, in_arg(2)},
    {"open_tree_attr", kOpen, in_arg(2)},
    {"memfd_create", kMemfd, {.arg = 1, .bits = kMountBit}},
    {"memfd_secret", kLabel, in_arg(0), "/secretmem (deleted)"},
    {"socket", kSocket, in_arg(1)},
    {"accept", kAccept},
    {"accept4", kAccept, in_arg(3)},
    {"bind", kBind},
    {"connect", kConnect},
    {"getsockname", kOwnName},
    {"getpeername", kPeerName},
    {"pipe", kPair, {}, "pipe"},
    {"pipe2", kPair, in_arg(1), "pipe"},
    {"socketpair", kPair, in_arg(1), "socket:[pair]"},
    {"epoll_create", kLabel, {}, "anon_inode:[eventpoll]"},
    {"epoll_create1", kLabel, in_arg(0), "anon_inode:[eventpoll]"},
    {"eventfd", kLabel, {}, "anon_inode:[eventfd]"},
    {"eventfd2", kLabel, in_arg(1), "anon_inode:[eventfd]"},
    {"signalfd", kLabel, {}, "anon_inode:[signalfd]"},
    {"signalfd4", kLabel, in_arg(3), "anon_inode:[signalfd]"},
    {"timerfd_create", kLabel, in_arg(1), "anon_inode:[timerfd]"},
    {"inotify_init", kLabel, {}, "anon_inode:inotify"},
    {"inotify_init1", kLabel, in_arg(0), "anon_inode:inotify"},
    {"userfaultfd", kLabel, in_arg(0), "anon_inode:[userfaultfd]"},
    {"perf_event_open", kLabel, {.arg = 4, .bits = kPerfBit}, "anon_inode:[perf_event]"},
    {"fanotify_init", kLabel, {.arg = 0, .bits = kMountBit}, "anon_inode:[fanotify]"},
    {"fsopen", kLabel, {.arg = 1, .bits = kMountBit}, "anon_inode:[fscontext]"},
    {"fspick", kLabel, {.arg = 2, .bits = kMountBit}, "anon_inode:[fscontext]"},
    {"pidfd_open", kPidfd, kAlways, "anon_inode:[pidfd]"},
    {"pidfd_getfd", kTakeOver, kAlways},
    {"sendmsg", kSend},
    {"sendmmsg", kSend},
    {"recvmsg", kReceive, {.arg = 2, .bits = kMessageBit}},
    {"recvmmsg", kReceive, {.arg = 3, .bits = kMessageBit}},
    {"recvmmsg_time64", kReceive, {.arg = 3, .bits = kMessageBit}},
    {"close", kClose},
    {"close_range", kCloseRange},
    {"dup", kDuplicate},
    {"dup2", kDuplicateTo},
    {"dup3", kDuplicateTo, in_arg(2)},
    {"fcntl", kFcntl},
    {"fcntl64", kFcntl},
    {"ioctl", kIoctl},
    {"chdir", kChdir},
    {"fchdir", kFchdir},
    {"chroot", kChroot},
    {"setns", kSetns},
    {"pivot_root", kPivotRoot},
    {"rename", kRename},
    {"renameat", kRenameAt},
    {"renameat2", kRenameAt},
    {"mount", kMount},
    {"move_mount", kMoveMount},
    {"umount", kMoveMount},
    {"umount2", kMoveMount},
    {"execve", kExec},
    {"execveat", kExec},
    {"clone", kMake},
    {"clone3", kMake},
    {"fork", kMake},
    {"vfork", kMake},
    {"unshare", kUnshare},
    {"seccomp", kSeccomp},
    {"io_uring_setup", kIoUring},
    {"io_uring_enter", kIoUring},
};

const Entry* entry_of(std::string_view name) {
  const auto* const at =
      std::find_if(std::begin(kEntries), std::end(kEntries), [name](const Entry& entry) { return entry.name == name; });
  return at == std::end(kEntries) ? nullptr : at;
}

}  // namespace

DescriptorCall descriptor_call(std::string_view name) {
  const Entry* entry = entry_of(name);
  return entry ? entry->call : kNone;
}

std::string_view descriptor_label(std::string_view name) {
  const Entry* entry = entry_of(name);
  return entry ? entry->label : std::string_view();
}

CloseOnExec close_on_exec(std::string_view name) {
  const Entry* entry = entry_of(name);
  return entry ? entry->close_on_exec : CloseOnExec();
}

std::vector<std::string_view> all_descriptor_calls() {
  std::vector<std::string_view> names;
  for (const Entry& entry : kEntries) names.push_back(entry.name);
  return names;
}

DescriptorNeed descriptors_need(std::string_view name) {
  switch (descriptor_call(name)) {
    case kClose:
    case kCloseRange:
    case kDuplicateTo:
    case kFcntl:
    case kIoctl:
    case kSeccomp:
    case kIoUring:
      return DescriptorNeed::kTables;
    case kUnshare:
      return DescriptorNeed::kSharing;
    case kChroot:
    case kSetns:
      return DescriptorNeed::kRoots;
    case kChdir:
    case kFchdir:
    case kPivotRoot:
    case kRename:
    case kRenameAt:
    case kMount:
    case kMoveMount:
      return DescriptorNeed::kFolders;
    default:
      return DescriptorNeed::kNone;
  }
}

}  // namespace uscope::descriptors
