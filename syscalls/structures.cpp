// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "syscalls/structures.h"

#include <algorithm>
#include <iterator>

#include "syscalls/flag_tables.h"
#include "syscalls/kernel_layouts.h"
#include "syscalls/syscall_table.h"
#include "uscope/descriptor_calls.h"

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

constexpr LayoutField kAddressFields[] = {{"", 0, 8, 1, LayoutField::kPointer, nullptr}};
constexpr Layout kAddress{"address", 8, kAddressFields};
constexpr LayoutField kMemoryPolicyFields[] = {{"", 0, 4, 1, LayoutField::kUnsigned, nullptr}};
constexpr Layout kMemoryPolicy{"memory_policy", 4, kMemoryPolicyFields};
constexpr LayoutField kOwnerIdsFields[] = {{"", 0, 4, 2, LayoutField::kUnsigned, nullptr}};
constexpr Layout kOwnerIds{"owner_ids", 8, kOwnerIdsFields};
constexpr LayoutField kHintFields[] = {{"", 0, 8, 1, LayoutField::kUnsigned, nullptr}};
constexpr Layout kHint{"hint", 8, kHintFields};
// The bytes of the handle follow.
constexpr LayoutField kFileHandleFields[] = {{"handle_bytes", 0, 4, 1, LayoutField::kUnsigned, nullptr},
                                             {"handle_type", 4, 4, 1, LayoutField::kSigned, nullptr}};
constexpr Layout kFileHandle{"file_handle", 8, kFileHandleFields};

// What bpf() takes to look an object up by its number, which has another name for each kind of object.
#define USC_BPF_ID(identifier, id)                                                                            \
  constexpr LayoutField k##identifier##Fields[] = {{id, 0, 4, 1, LayoutField::kUnsigned, nullptr},            \
                                                   {"next_id", 4, 4, 1, LayoutField::kUnsigned, nullptr},     \
                                                   {"open_flags", 8, 4, 1, LayoutField::kUnsigned, nullptr}}; \
  constexpr Layout k##identifier {                                                                            \
    "bpf_id", 12, k##identifier##Fields                                                                       \
  }
USC_BPF_ID(BpfProgramId, "prog_id");
USC_BPF_ID(BpfMapId, "map_id");
USC_BPF_ID(BpfBtfId, "btf_id");
USC_BPF_ID(BpfLinkId, "link_id");
#undef USC_BPF_ID
constexpr LayoutField kBpfNextKeyFields[] = {{"map_fd", 0, 4, 1, LayoutField::kUnsigned, nullptr},
                                             {"key", 8, 8, 1, LayoutField::kPointer, nullptr},
                                             {"next_key", 16, 8, 1, LayoutField::kPointer, nullptr}};
constexpr Layout kBpfNextKey{"bpf_next_key", 24, kBpfNextKeyFields};

struct BpfCommand {
  std::string_view name;
  const Layout* layout;
};

constexpr BpfCommand kBpfCommands[] = {
    {"BPF_MAP_CREATE", &layouts::kBpfAttrMapType},
    {"BPF_MAP_LOOKUP_ELEM", &layouts::kBpfAttrMapFd},
    {"BPF_MAP_UPDATE_ELEM", &layouts::kBpfAttrMapFd},
    {"BPF_MAP_DELETE_ELEM", &layouts::kBpfAttrMapFd},
    {"BPF_MAP_LOOKUP_AND_DELETE_ELEM", &layouts::kBpfAttrMapFd},
    {"BPF_MAP_GET_NEXT_KEY", &kBpfNextKey},
    {"BPF_MAP_FREEZE", &layouts::kBpfAttrMapFd},
    {"BPF_PROG_LOAD", &layouts::kBpfAttrProgType},
    {"BPF_OBJ_PIN", &layouts::kBpfAttrPathname},
    {"BPF_OBJ_GET", &layouts::kBpfAttrPathname},
    {"BPF_PROG_ATTACH", &layouts::kBpfAttrTargetFd},
    {"BPF_PROG_DETACH", &layouts::kBpfAttrTargetFd},
    {"BPF_PROG_TEST_RUN", &layouts::kBpfAttrTest},
    {"BPF_PROG_GET_NEXT_ID", &layouts::kBpfAttrStartId},
    {"BPF_MAP_GET_NEXT_ID", &layouts::kBpfAttrStartId},
    {"BPF_BTF_GET_NEXT_ID", &layouts::kBpfAttrStartId},
    {"BPF_LINK_GET_NEXT_ID", &layouts::kBpfAttrStartId},
    {"BPF_PROG_GET_FD_BY_ID", &kBpfProgramId},
    {"BPF_MAP_GET_FD_BY_ID", &kBpfMapId},
    {"BPF_BTF_GET_FD_BY_ID", &kBpfBtfId},
    {"BPF_LINK_GET_FD_BY_ID", &kBpfLinkId},
    {"BPF_OBJ_GET_INFO_BY_FD", &layouts::kBpfAttrInfo},
    {"BPF_PROG_QUERY", &layouts::kBpfAttrQuery},
    {"BPF_RAW_TRACEPOINT_OPEN", &layouts::kBpfAttrRawTracepoint},
    {"BPF_BTF_LOAD", &layouts::kBpfAttrBtf},
    {"BPF_TASK_FD_QUERY", &layouts::kBpfAttrTaskFdQuery},
    {"BPF_MAP_LOOKUP_BATCH", &layouts::kBpfAttrBatch},
    {"BPF_MAP_LOOKUP_AND_DELETE_BATCH", &layouts::kBpfAttrBatch},
    {"BPF_MAP_UPDATE_BATCH", &layouts::kBpfAttrBatch},
    {"BPF_MAP_DELETE_BATCH", &layouts::kBpfAttrBatch},
    {"BPF_LINK_CREATE", &layouts::kBpfAttrLinkCreate},
    {"BPF_LINK_UPDATE", &layouts::kBpfAttrLinkUpdate},
    {"BPF_LINK_DETACH", &layouts::kBpfAttrLinkDetach},
    {"BPF_ENABLE_STATS", &layouts::kBpfAttrEnableStats},
    {"BPF_ITER_CREATE", &layouts::kBpfAttrIterCreate},
    {"BPF_PROG_BIND_MAP", &layouts::kBpfAttrProgBindMap},
    {"BPF_TOKEN_CREATE", &layouts::kBpfAttrTokenCreate},
    {"BPF_PROG_STREAM_READ_BY_FD", &layouts::kBpfAttrProgStreamRead},
    {"BPF_PROG_ASSOC_STRUCT_OPS", &layouts::kBpfAttrProgAssocStructOps},
};

struct Structure {
  std::string_view call;
  std::size_t arg;
  const Layout* layout;
  bool is_same_in_i386 = false;
};

constexpr Structure kStructures[] = {
    {"adjtimex", 0, &layouts::kTimex},
    {"arch_prctl", 1, &kAddress},
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
    {"get_mempolicy", 0, &kMemoryPolicy, true},
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
    {"name_to_handle_at", 2, &kFileHandle, true},
    {"name_to_handle_at", 3, &kInt, true},
    {"open_by_handle_at", 1, &kFileHandle, true},
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
constexpr FlagSet kBpfMapTypes = one_of(kernel::kBpfMapType);
constexpr FlagSet kBpfMapFlags = any_of(kernel::kBpfMapFlag);
constexpr FlagSet kBpfProgramTypes = one_of(kernel::kBpfProgramType);
constexpr FlagSet kBpfAttachTypes = one_of(kernel::kBpfAttachType);
constexpr FlagSet kOwnerTypes = one_of(kernel::kOwnerType);
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
    {"memory_policy", "", {&kMpol}},
    {"hint", "", {&kWriteHint}},
    {"f_owner_ex", "type", {&kOwnerTypes}},
    {"bpf_attr_map_type", "map_type", {&kBpfMapTypes}},
    {"bpf_attr_map_type", "map_flags", {&kBpfMapFlags}},
    {"bpf_attr_prog_type", "prog_type", {&kBpfProgramTypes}},
    {"bpf_attr_prog_type", "expected_attach_type", {&kBpfAttachTypes}},
    {"bpf_attr_target_fd", "attach_type", {&kBpfAttachTypes}},
    {"bpf_attr_query", "attach_type", {&kBpfAttachTypes}},
    {"bpf_attr_link_create", "attach_type", {&kBpfAttachTypes}},
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

const Layout* fcntl_structure(std::uint32_t command) {
  const auto is = [command](std::string_view name) { return flag_value(kFcntl, name) == command; };
  if (usc_fcntl_takes_lock(command) != 0) return &layouts::kFlock;
  if (is("F_GETOWNER_UIDS")) return &kOwnerIds;
  if (is("F_GETOWN_EX") || is("F_SETOWN_EX")) return &layouts::kFOwnerEx;
  if (is("F_GETDELEG") || is("F_SETDELEG")) return &layouts::kDelegation;
  return usc_fcntl_structure(command) != 0 ? &kHint : nullptr;
}

const Layout* bpf_structure(std::uint32_t command) {
  const auto* const at = std::find_if(std::begin(kBpfCommands), std::end(kBpfCommands), [&](const BpfCommand& one) {
    return flag_value(kBpfCommand, one.name) == command;
  });
  return at == std::end(kBpfCommands) ? nullptr : at->layout;
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
