// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "store/descriptors/descriptor_calls.h"

#include <algorithm>
#include <iterator>

namespace uscope::store {
namespace {

using enum DescriptorCall;

struct Entry {
  std::string_view name;
  DescriptorCall call;
  int close_on_exec = -1;
  std::string_view label = {};
};

constexpr Entry kEntries[] = {
    {"open", kOpen, 1},
    {"openat", kOpen, 2},
    {"openat2", kOpen},
    {"creat", kOpen},
    {"memfd_create", kMemfd},
    {"socket", kSocket, 1},
    {"accept", kAccept},
    {"accept4", kAccept, 3},
    {"bind", kBind},
    {"connect", kConnect},
    {"pipe", kPair, -1, "pipe"},
    {"pipe2", kPair, 1, "pipe"},
    {"socketpair", kPair, 1, "socket:[pair]"},
    {"epoll_create", kLabel, -1, "anon_inode:[eventpoll]"},
    {"epoll_create1", kLabel, 0, "anon_inode:[eventpoll]"},
    {"eventfd", kLabel, -1, "anon_inode:[eventfd]"},
    {"eventfd2", kLabel, 1, "anon_inode:[eventfd]"},
    {"signalfd", kLabel, -1, "anon_inode:[signalfd]"},
    {"signalfd4", kLabel, 3, "anon_inode:[signalfd]"},
    {"timerfd_create", kLabel, 1, "anon_inode:[timerfd]"},
    {"inotify_init", kLabel, -1, "anon_inode:inotify"},
    {"inotify_init1", kLabel, 0, "anon_inode:inotify"},
    {"close", kClose},
    {"close_range", kCloseRange},
    {"dup", kDuplicate},
    {"dup2", kDuplicateTo},
    {"dup3", kDuplicateTo, 2},
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

int close_on_exec_arg(std::string_view name) {
  const Entry* entry = entry_of(name);
  return entry ? entry->close_on_exec : -1;
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

}  // namespace uscope::store
