// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "syscalls/flag_names.h"

#include <fmt/core.h>

#include <algorithm>
#include <utility>

#include "support/text.h"
#include "syscalls/flag_tables.h"

namespace uscope::syscalls {
namespace {

struct FlagArgument {
  std::string_view call;
  std::size_t arg;
  const FlagSet* set;
};

constexpr FlagArgument kFlagArguments[] = {
    {"open", 1, &kOpen},
    {"openat", 2, &kOpen},
    {"open_by_handle_at", 2, &kOpen},
    {"mq_open", 1, &kOpen},
    {"pipe2", 1, &kOpenFlagsOnly},
    {"dup3", 2, &kOpenFlagsOnly},
    {"access", 1, &kAccess},
    {"faccessat", 2, &kAccess},
    {"faccessat2", 2, &kAccess},
    {"faccessat2", 3, &kAtAccess},
    {"newfstatat", 3, &kAtPath},
    {"statx", 2, &kAtStatx},
    {"statx", 3, &kStatx},
    {"unlinkat", 2, &kAtUnlink},
    {"linkat", 4, &kAtPath},
    {"fchownat", 4, &kAtPath},
    {"fchmodat2", 3, &kAtPath},
    {"utimensat", 3, &kAtPath},
    {"execveat", 4, &kAtExec},
    {"name_to_handle_at", 4, &kAtHandle},
    {"renameat2", 4, &kRename},
    {"open_tree", 2, &kOpenTree},
    {"open_tree_attr", 2, &kOpenTree},
    {"setxattrat", 2, &kAtPath},
    {"getxattrat", 2, &kAtPath},
    {"listxattrat", 2, &kAtPath},
    {"removexattrat", 2, &kAtPath},
    {"file_getattr", 4, &kAtPath},
    {"file_setattr", 4, &kAtPath},
    {"mount_setattr", 2, &kAtTree},
    {"move_mount", 4, &kMoveMount},
    {"fsopen", 1, &kFsOpen},
    {"fsconfig", 1, &kFsConfig},
    {"fsmount", 1, &kFsMount},
    {"fsmount", 2, &kMountAttr},
    {"fspick", 2, &kFsPick},
    {"statmount", 3, &kStatmount},
    {"listmount", 3, &kListmount},
    {"mmap", 2, &kProt},
    {"mmap", 3, &kMap},
    {"mprotect", 2, &kProt},
    {"pkey_mprotect", 2, &kProt},
    {"remap_file_pages", 2, &kProt},
    {"remap_file_pages", 4, &kMap},
    {"mremap", 3, &kMremap},
    {"madvise", 2, &kMadvise},
    {"process_madvise", 3, &kMadvise},
    {"msync", 2, &kMsync},
    {"mlock2", 2, &kMlock},
    {"mlockall", 0, &kMlockAll},
    {"mbind", 2, &kMpol},
    {"mbind", 5, &kMpolMove},
    {"set_mempolicy", 0, &kMpol},
    {"get_mempolicy", 4, &kMpolGet},
    {"move_pages", 5, &kMpolMove},
    {"pkey_alloc", 1, &kPkey},
    {"lseek", 2, &kWhence},
    {"_llseek", 4, &kWhence},
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
    {"fadvise64", 3, &kFadvise},
    {"sync_file_range", 3, &kSyncRange},
    {"splice", 5, &kSplice},
    {"tee", 3, &kSplice},
    {"vmsplice", 3, &kSplice},
    {"futex", 1, &kFutex},
    {"futex_wake", 1, &kFutexBitset},
    {"futex_wake", 3, &kFutex2},
    {"futex_wait", 2, &kFutexBitset},
    {"futex_wait", 3, &kFutex2},
    {"futex_waitv", 4, &kClock},
    {"futex_wait", 5, &kClock},
    {"clone", 0, &kClone},
    {"unshare", 0, &kNamespaces},
    {"setns", 1, &kNamespaces},
    {"rt_sigprocmask", 0, &kMaskHow},
    {"wait4", 2, &kWait},
    {"waitid", 0, &kIdType},
    {"waitid", 3, &kWaitId},
    {"epoll_ctl", 1, &kEpollOp},
    {"epoll_create1", 0, &kEpoll},
    {"eventfd2", 1, &kEventFd},
    {"timerfd_create", 0, &kClock},
    {"timerfd_create", 1, &kTimerFd},
    {"timerfd_settime", 1, &kTimerFdSet},
    {"signalfd4", 3, &kSignalFd},
    {"inotify_init1", 0, &kInotify},
    {"inotify_add_watch", 2, &kWatch},
    {"fanotify_init", 0, &kFanotifyInit},
    {"fanotify_init", 1, &kOpen},
    {"fanotify_mark", 1, &kFanotifyMark},
    {"fanotify_mark", 2, &kFanotifyEvent},
    {"fanotify_mark", 3, &kNoDescriptor},
    {"memfd_create", 1, &kMemfd},
    {"getrandom", 2, &kRandom},
    {"close_range", 2, &kCloseRange},
    {"pidfd_open", 1, &kPidFd},
    {"pidfd_send_signal", 3, &kPidFdSignal},
    {"userfaultfd", 0, &kUserfault},
    {"memfd_secret", 0, &kOpenFlagsOnly},
    {"clock_gettime", 0, &kClock},
    {"clock_settime", 0, &kClock},
    {"clock_getres", 0, &kClock},
    {"clock_nanosleep", 0, &kClock},
    {"clock_adjtime", 0, &kClock},
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
    {"sched_get_priority_max", 0, &kPolicy},
    {"sched_get_priority_min", 0, &kPolicy},
    {"getpriority", 0, &kPriority},
    {"setpriority", 0, &kPriority},
    {"ioprio_set", 0, &kIoPriorityWho},
    {"ioprio_get", 0, &kIoPriorityWho},
    {"arch_prctl", 0, &kArchPrctl},
    {"prctl", 0, &kPrctl},
    {"personality", 0, &kPersonality},
    {"mount", 3, &kMount},
    {"umount2", 1, &kUmount},
    {"setxattr", 4, &kXattr},
    {"lsetxattr", 4, &kXattr},
    {"fsetxattr", 4, &kXattr},
    {"shmget", 0, &kIpcKey},
    {"shmget", 2, &kShmGet},
    {"shmat", 2, &kShmAttach},
    {"shmctl", 1, &kShmCommand},
    {"msgget", 0, &kIpcKey},
    {"msgget", 1, &kIpcGet},
    {"msgsnd", 3, &kIpcOperation},
    {"msgrcv", 4, &kMsgFlag},
    {"msgctl", 1, &kMsgCommand},
    {"semget", 0, &kIpcKey},
    {"semget", 2, &kIpcGet},
    {"semctl", 2, &kSemCommand},
    {"ptrace", 0, &kPtrace},
    {"seccomp", 0, &kSeccomp},
    {"bpf", 0, &kBpfCommand},
    {"perf_event_open", 4, &kPerf},
    {"kcmp", 2, &kKcmp},
    {"keyctl", 0, &kKeyctl},
    {"add_key", 4, &kKeyring},
    {"request_key", 3, &kKeyring},
    {"kexec_load", 3, &kKexec},
    {"kexec_file_load", 4, &kKexecFile},
    {"finit_module", 2, &kModule},
    {"delete_module", 1, &kOpenFlagsOnly},
    {"landlock_create_ruleset", 2, &kLandlockCreate},
    {"landlock_add_rule", 1, &kLandlockRule},
    {"landlock_add_rule", 3, &kLandlockAddRule},
    {"landlock_restrict_self", 1, &kLandlockRestrict},
    {"lsm_get_self_attr", 0, &kLsmAttr},
    {"lsm_get_self_attr", 3, &kLsmFlag},
    {"lsm_set_self_attr", 0, &kLsmAttr},
    {"membarrier", 0, &kMembarrier},
    {"membarrier", 1, &kMembarrierFlag},
    {"io_uring_register", 1, &kIoUringRegister},
    {"io_uring_enter", 3, &kIoUringEnter},
    {"reboot", 0, &kRebootMagic},
    {"reboot", 1, &kRebootMagic},
    {"reboot", 2, &kReboot},
    {"rseq", 2, &kRseq},
    {"syslog", 0, &kSyslog},
    {"quotactl", 0, &kQuota},
    {"quotactl_fd", 1, &kQuota},
};

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

const FlagSet* flags_of_option(std::uint64_t level, std::uint64_t option, bool gets) {
  constexpr std::pair<std::uint64_t, const FlagSet*> kOptions[] = {
      {0, &kIpOption},       {1, &kSocketOption},    {6, &kTcpOption},   {17, &kUdpOption},  {41, &kIpv6Option},
      {263, &kPacketOption}, {270, &kNetlinkOption}, {279, &kAlgOption}, {282, &kTlsOption}, {283, &kXdpOption}};
  if (gets && level == SOL_SOCKET && name_of(kSocketOptionGet.numbers, option)) return &kSocketOptionGet;
  for (const auto& [of, set] : kOptions)
    if (of == level) return set;
  return nullptr;
}

const FlagSet* flags_of_protocol(std::uint64_t family) {
  if (family == AF_INET || family == AF_INET6) return &kIpProtocol;
  return family == AF_NETLINK ? &kNetlinkProtocol : nullptr;
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

const FlagSet& quota_commands() {
  return kQuota;
}

const FlagSet& futex_operations() {
  static constexpr FlagSet kOperations = one_of(kernel::kFutexOperation);
  return kOperations;
}

const FlagSet& futex_comparisons() {
  static constexpr FlagSet kComparisons = one_of(kernel::kFutexComparison);
  return kComparisons;
}

const FlagSet& quota_types() {
  static constexpr FlagSet kTypes = one_of(kernel::kQuotaType);
  return kTypes;
}

bool has_name(const FlagSet& set, std::uint64_t value) {
  return set.part != kAll || name_of(set.numbers, value) != nullptr;
}

std::optional<std::uint64_t> flag_value(const FlagSet& set, std::string_view name) {
  for (const std::span<const FlagName> names : {set.numbers, set.flags})
    for (const FlagName& one : names)
      if (one.name == name) return one.value;
  return std::nullopt;
}

std::string flags_text(const FlagSet& set, std::uint64_t value) {
  std::string out;
  const auto add = [&out](const std::string& text) { out += (out.empty() ? "" : "|") + text; };
  if (set.magic.mask != 0 && (value & set.magic.mask) == set.magic.value.value) {
    add(set.magic.value.name);
    value &= ~set.magic.mask;
    if (value == 0) return out;
  }
  const std::uint64_t field = set.field.mask << set.field.shift;
  std::uint64_t rest = value & ~set.part & ~field;
  const std::uint64_t number = value & set.part;
  const bool hidden = set.hides_zero && number == 0 && (value & ~set.part) != 0;
  if (set.part != 0 && !hidden && !set.part_in_octal) {
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
  if ((value & field) != 0) add(fmt::format("{}<<{}", (value & field) >> set.field.shift, set.field.shift_name));
  if (set.part_in_octal) add(fmt::format("{:#03o}", number));
  if (!out.empty()) return out;
  const char* nothing = set.part == 0 ? name_of(set.numbers, 0) : nullptr;
  return nothing ? nothing : "0";
}

}  // namespace uscope::syscalls
