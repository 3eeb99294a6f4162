// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "syscalls/structures.h"

#include <algorithm>
#include <iterator>

#include "syscalls/flag_tables.h"
#include "syscalls/kernel_layouts.h"
#include "syscalls/syscall_table.h"

namespace uscope::syscalls {
namespace {

// What the UAPI headers do not have, or have no structure for.
constexpr LayoutField kIntFields[] = {{"", 0, 4, 1, LayoutField::kSigned, nullptr}};
constexpr Layout kInt{"int", 4, kIntFields};
constexpr LayoutField kIdFields[] = {{"", 0, 4, 1, LayoutField::kUnsigned, nullptr}};
constexpr Layout kId{"id", 4, kIdFields};
constexpr LayoutField kOffsetFields[] = {{"", 0, 8, 1, LayoutField::kSigned, nullptr}};
constexpr Layout kOffset{"offset", 8, kOffsetFields};
constexpr LayoutField kSigsetFields[] = {{"", 0, 8, 1, LayoutField::kSignals, nullptr}};
constexpr Layout kSigset{"sigset", 8, kSigsetFields};
constexpr LayoutField kSchedParamFields[] = {{"", 0, 4, 1, LayoutField::kSigned, nullptr}};
constexpr Layout kSchedParam{"sched_param", 4, kSchedParamFields};
constexpr LayoutField kTimevalsFields[] = {{"", 0, 16, 2, LayoutField::kLayout, &layouts::kTimeval}};
constexpr Layout kTimevals{"timevals", 32, kTimevalsFields};
constexpr LayoutField kCapabilitiesFields[] = {{"", 0, 12, 2, LayoutField::kLayout, &layouts::kCapDataStruct}};
constexpr Layout kCapabilities{"capabilities", 24, kCapabilitiesFields};
constexpr LayoutField kLingerFields[] = {{"l_onoff", 0, 4, 1, LayoutField::kSigned, nullptr},
                                         {"l_linger", 4, 4, 1, LayoutField::kSigned, nullptr}};
constexpr Layout kLinger{"linger", 8, kLingerFields};
constexpr LayoutField kUcredFields[] = {{"pid", 0, 4, 1, LayoutField::kSigned, nullptr},
                                        {"uid", 4, 4, 1, LayoutField::kUnsigned, nullptr},
                                        {"gid", 8, 4, 1, LayoutField::kUnsigned, nullptr}};
constexpr Layout kUcred{"ucred", 12, kUcredFields};
constexpr LayoutField kNameFields[] = {{"", 0, 1, 64, LayoutField::kText, nullptr}};
constexpr Layout kName{"name", 64, kNameFields};

struct Structure {
  std::string_view call;
  std::size_t arg;
  const Layout* layout;
  bool is_same_in_i386 = false;
};

constexpr Structure kStructures[] = {
    {"adjtimex", 0, &layouts::kTimex},
    {"cachestat", 1, &layouts::kCachestatRange, true},
    {"cachestat", 2, &layouts::kCachestat, true},
    {"capget", 0, &layouts::kCapHeaderStruct, true},
    {"capget", 1, &kCapabilities, true},
    {"capset", 0, &layouts::kCapHeaderStruct, true},
    {"capset", 1, &kCapabilities, true},
    {"clock_adjtime", 1, &layouts::kTimex},
    {"clone3", 0, &layouts::kCloneArgs, true},
    {"copy_file_range", 1, &kOffset, true},
    {"copy_file_range", 3, &kOffset, true},
    {"epoll_pwait", 4, &kSigset, true},
    {"epoll_pwait2", 4, &kSigset, true},
    {"fcntl", 2, &layouts::kFlock},
    {"file_getattr", 2, &layouts::kFileAttr, true},
    {"file_setattr", 2, &layouts::kFileAttr, true},
    {"fstatfs", 1, &layouts::kStatfs},
    {"getcpu", 0, &kId, true},
    {"getcpu", 1, &kId, true},
    {"getitimer", 1, &layouts::kItimerval},
    {"getresgid", 0, &kId},
    {"getresgid", 1, &kId},
    {"getresgid", 2, &kId},
    {"getresuid", 0, &kId},
    {"getresuid", 1, &kId},
    {"getresuid", 2, &kId},
    {"getrlimit", 1, &layouts::kRlimit},
    {"getrusage", 1, &layouts::kRusage},
    {"gettimeofday", 0, &layouts::kTimeval},
    {"gettimeofday", 1, &layouts::kTimezone, true},
    {"io_uring_setup", 1, &layouts::kIoUringParams, true},
    {"landlock_create_ruleset", 0, &layouts::kLandlockRulesetAttr, true},
    {"mount_setattr", 3, &layouts::kMountAttr, true},
    {"mq_getsetattr", 1, &layouts::kMqAttr},
    {"mq_getsetattr", 2, &layouts::kMqAttr},
    {"mq_open", 3, &layouts::kMqAttr},
    {"open_tree_attr", 3, &layouts::kMountAttr, true},
    {"openat2", 2, &layouts::kOpenHow, true},
    {"ppoll", 3, &kSigset, true},
    {"prlimit64", 2, &layouts::kRlimit64, true},
    {"prlimit64", 3, &layouts::kRlimit64, true},
    {"rt_sigaction", 1, &layouts::kSigaction},
    {"rt_sigaction", 2, &layouts::kSigaction},
    {"rt_sigpending", 0, &kSigset, true},
    {"rt_sigprocmask", 1, &kSigset, true},
    {"rt_sigprocmask", 2, &kSigset, true},
    {"rt_sigsuspend", 0, &kSigset, true},
    {"rt_sigtimedwait", 0, &kSigset, true},
    {"sched_getattr", 1, &layouts::kSchedAttr, true},
    {"sched_getparam", 1, &kSchedParam, true},
    {"sched_setattr", 1, &layouts::kSchedAttr, true},
    {"sched_setparam", 1, &kSchedParam, true},
    {"sched_setscheduler", 2, &kSchedParam, true},
    {"sendfile", 2, &kOffset},
    {"setitimer", 1, &layouts::kItimerval},
    {"setitimer", 2, &layouts::kItimerval},
    {"setrlimit", 1, &layouts::kRlimit},
    {"settimeofday", 0, &layouts::kTimeval},
    {"settimeofday", 1, &layouts::kTimezone, true},
    {"sigaltstack", 0, &layouts::kSigaltstack},
    {"sigaltstack", 1, &layouts::kSigaltstack},
    {"signalfd", 1, &kSigset, true},
    {"signalfd4", 1, &kSigset, true},
    {"splice", 1, &kOffset, true},
    {"splice", 3, &kOffset, true},
    {"statfs", 1, &layouts::kStatfs},
    {"sysinfo", 0, &layouts::kSysinfo},
    {"timer_create", 2, &kInt, true},
    {"timer_gettime", 1, &layouts::kItimerspec},
    {"timer_settime", 3, &layouts::kItimerspec},
    {"timerfd_gettime", 1, &layouts::kItimerspec},
    {"timerfd_settime", 3, &layouts::kItimerspec},
    {"times", 0, &layouts::kTms},
    {"uname", 0, &layouts::kUtsname, true},
    {"utime", 1, &layouts::kUtimbuf},
    {"utimes", 1, &kTimevals},
    {"futimesat", 2, &kTimevals},
    {"wait4", 3, &layouts::kRusage},
};

struct Field {
  std::string_view layout;
  std::string_view field;
  FieldMeaning meaning;
};

constexpr FlagSet kLockTypes = one_of(kernel::kLockType);
constexpr FlagSet kCloneArgsFlags = any_of(kernel::kClone3);
constexpr FlagSet kResolve = any_of(kernel::kResolve);
constexpr FlagSet kSigActionFlags = any_of(kernel::kSigAction);
constexpr FlagSet kSigStackFlags{~std::uint64_t{0x80000000}, kernel::kSigStack, kernel::kSigStackFlag};
constexpr FlagSet kSchedFlags = any_of(kernel::kSchedFlag);
constexpr FlagSet kLandlockFs = any_of(kernel::kLandlockFs);
constexpr FlagSet kLandlockNet = any_of(kernel::kLandlockNet);
constexpr FlagSet kLandlockScope = any_of(kernel::kLandlockScope);
constexpr FlagName kInfinities[] = {{~std::uint64_t{0}, "RLIM64_INFINITY"}};
constexpr FlagSet kInfinity = one_of(kInfinities);

constexpr Field kFields[] = {
    {"flock", "l_type", {&kLockTypes}},
    {"flock", "l_whence", {&kWhence}},
    {"clone_args", "flags", {&kCloneArgsFlags}},
    {"clone_args", "exit_signal", {nullptr, FieldForm::kSignal}},
    {"clone_args", "pidfd", {nullptr, FieldForm::kHex}},
    {"clone_args", "child_tid", {nullptr, FieldForm::kHex}},
    {"clone_args", "parent_tid", {nullptr, FieldForm::kHex}},
    {"clone_args", "stack", {nullptr, FieldForm::kHex}},
    {"clone_args", "stack_size", {nullptr, FieldForm::kHex}},
    {"clone_args", "tls", {nullptr, FieldForm::kHex}},
    {"clone_args", "set_tid", {nullptr, FieldForm::kHex}},
    {"open_how", "flags", {&kOpen}},
    {"open_how", "mode", {nullptr, FieldForm::kOctal}},
    {"open_how", "resolve", {&kResolve}},
    {"sigaction", "sa_handler", {nullptr, FieldForm::kHandler}},
    {"sigaction", "sa_flags", {&kSigActionFlags}},
    {"sigaltstack", "ss_flags", {&kSigStackFlags}},
    {"rlimit", "rlim_cur", {&kInfinity}},
    {"rlimit", "rlim_max", {&kInfinity}},
    {"rlimit64", "rlim_cur", {&kInfinity}},
    {"rlimit64", "rlim_max", {&kInfinity}},
    {"statfs", "f_type", {nullptr, FieldForm::kHex}},
    {"statfs", "f_flags", {nullptr, FieldForm::kHex}},
    {"sched_attr", "sched_policy", {&kPolicy}},
    {"sched_attr", "sched_flags", {&kSchedFlags}},
    {"mount_attr", "attr_set", {&kMountAttr}},
    {"mount_attr", "attr_clr", {&kMountAttr}},
    {"mount_attr", "propagation", {&kMount}},
    {"landlock_ruleset_attr", "handled_access_fs", {&kLandlockFs}},
    {"landlock_ruleset_attr", "handled_access_net", {&kLandlockNet}},
    {"landlock_ruleset_attr", "scoped", {&kLandlockScope}},
    {"cap_header_struct", "version", {nullptr, FieldForm::kHex}},
    {"cap_data_struct", "effective", {nullptr, FieldForm::kHex}},
    {"cap_data_struct", "permitted", {nullptr, FieldForm::kHex}},
    {"cap_data_struct", "inheritable", {nullptr, FieldForm::kHex}},
    {"io_uring_params", "flags", {nullptr, FieldForm::kHex}},
    {"io_uring_params", "features", {nullptr, FieldForm::kHex}},
};

const Structure* entry_of(std::string_view call, std::size_t arg) {
  const auto* const at = std::find_if(std::begin(kStructures), std::end(kStructures),
                                      [&](const Structure& one) { return one.call == call && one.arg == arg; });
  return at == std::end(kStructures) ? nullptr : at;
}

}  // namespace

const Layout* structure_of(std::string_view call, std::size_t arg) {
  const Structure* const entry = entry_of(call, arg);
  return entry == nullptr ? nullptr : entry->layout;
}

const Layout* option_structure(std::uint64_t level, std::uint64_t option) {
  struct Option {
    std::uint64_t level;
    std::string_view name;
    const Layout* layout;
  };
  constexpr std::uint64_t kTcp = 6;
  constexpr Option kOptions[] = {{SOL_SOCKET, "SO_LINGER", &kLinger},
                                 {SOL_SOCKET, "SO_RCVTIMEO_OLD", &layouts::kTimeval},
                                 {SOL_SOCKET, "SO_SNDTIMEO_OLD", &layouts::kTimeval},
                                 {SOL_SOCKET, "SO_RCVTIMEO_NEW", &layouts::kTimeval},
                                 {SOL_SOCKET, "SO_SNDTIMEO_NEW", &layouts::kTimeval},
                                 {SOL_SOCKET, "SO_PEERCRED", &kUcred},
                                 {SOL_SOCKET, "SO_BINDTODEVICE", &kName},
                                 {SOL_SOCKET, "SO_COOKIE", &kOffset},
                                 {kTcp, "TCP_CONGESTION", &kName},
                                 {kTcp, "TCP_ULP", &kName}};
  for (const Option& one : kOptions) {
    const FlagSet* const set = flags_of_option(one.level, option, false);
    if (one.level == level && flag_value(*set, one.name) == option) return one.layout;
  }
  return nullptr;
}

std::uint64_t syscall_structures(usc_abi abi, std::uint32_t nr) {
  const std::string name = syscall_name(abi, nr);
  const std::string_view call = syscall_wide_name(abi, name);
  std::uint64_t slots = 0;
  for (const Structure& one : kStructures)
    if (one.call == call && (abi != USC_ABI_I386 || (one.is_same_in_i386 && call == name)))
      slots |= usc_structure_slot(static_cast<std::uint32_t>(one.arg), one.layout->bytes);
  return slots;
}

FieldMeaning field_meaning(const Layout& layout, std::string_view field) {
  const auto* const at = std::find_if(std::begin(kFields), std::end(kFields), [&](const Field& one) {
    return one.layout == layout.name && one.field == field;
  });
  return at == std::end(kFields) ? FieldMeaning{} : at->meaning;
}

}  // namespace uscope::syscalls
