// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "syscalls/structures.h"

#include <algorithm>
#include <array>
#include <cstring>
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
constexpr std::size_t kHandleHead = 8;
constexpr LayoutField kFileHandleFields[] = {{"handle_bytes", 0, 4, 1, LayoutField::kUnsigned, nullptr},
                                             {"handle_type", 4, 4, 1, LayoutField::kSigned, nullptr},
                                             {"f_handle", kHandleHead, 1, 128, LayoutField::kBytes, nullptr}};
constexpr Layout kFileHandle{"file_handle", 136, kFileHandleFields};
constexpr LayoutField kWaitersFields[] = {{"", 0, 24, 2, LayoutField::kLayout, &layouts::kFutexWaitv}};
constexpr Layout kWaiters{"waiters", 48, kWaitersFields};
constexpr LayoutField kActionFields[] = {{"", 0, 4, 1, LayoutField::kUnsigned, nullptr}};
constexpr Layout kAction{"seccomp_action", 4, kActionFields};
constexpr LayoutField kSigvalFields[] = {{"sival_int", 0, 4, 1, LayoutField::kSigned, nullptr},
                                         {"sival_ptr", 0, 8, 1, LayoutField::kPointer, nullptr}};
constexpr Layout kSigval{"sigval", 8, kSigvalFields};
constexpr LayoutField kSigeventFields[] = {{"sigev_value", 0, 8, 1, LayoutField::kLayout, &kSigval},
                                           {"sigev_signo", 8, 4, 1, LayoutField::kSigned, nullptr},
                                           {"sigev_notify", 12, 4, 1, LayoutField::kSigned, nullptr}};
constexpr Layout kSigevent{"sigevent", 64, kSigeventFields};
// Of interfaces: a union of all that commands may ask for follows.
constexpr LayoutField kIfreqFields[] = {{"ifr_name", 0, 1, 16, LayoutField::kText, nullptr}};
constexpr Layout kIfreq{"ifreq", 40, kIfreqFields};
constexpr LayoutField kIfreqNumberFields[] = {{"ifr_name", 0, 1, 16, LayoutField::kText, nullptr},
                                              {"ifr_ifindex", 16, 4, 1, LayoutField::kSigned, nullptr}};
constexpr Layout kIfreqNumber{"ifreq", 40, kIfreqNumberFields};
// A rule of landlock is one of two structures; both begin alike.
constexpr LayoutField kLandlockRuleFields[] = {{"allowed_access", 0, 8, 1, LayoutField::kUnsigned, nullptr}};
constexpr Layout kLandlockRule{"landlock_rule", 16, kLandlockRuleFields};

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
  bool is_same_in_compat = false;
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
    {"futex_requeue", 0, &kWaiters, true},
    {"futex_waitv", 0, &layouts::kFutexWaitv, true},
    {"getcpu", 0, &kId, true},
    {"getcpu", 1, &kId, true},
    {"get_mempolicy", 0, &kMemoryPolicy, true},
    {"getgroups", 1, &kId},
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
    {"getxattrat", 4, &layouts::kXattrArgs, true},
    {"kexec_load", 2, &layouts::kKexecSegment},
    {"landlock_add_rule", 2, &kLandlockRule, true},
    {"landlock_create_ruleset", 0, &layouts::kLandlockRulesetAttr, true},
    {"listmount", 0, &layouts::kMntIdReq, true},
    {"listns", 0, &layouts::kNsIdReq, true},
    {"mount_setattr", 3, &layouts::kMountAttr, true},
    {"move_pages", 2, &kAddress},
    {"mq_getsetattr", 1, &layouts::kMqAttr},
    {"mq_getsetattr", 2, &layouts::kMqAttr},
    {"mq_notify", 1, &kSigevent},
    {"mq_open", 3, &layouts::kMqAttr},
    {"name_to_handle_at", 2, &kFileHandle, true},
    {"name_to_handle_at", 3, &kInt, true},
    {"open_by_handle_at", 1, &kFileHandle, true},
    {"open_tree_attr", 3, &layouts::kMountAttr, true},
    {"openat2", 2, &layouts::kOpenHow, true},
    {"perf_event_open", 0, &layouts::kPerfEventAttr, true},
    {"ppoll", 3, &kSigset, true},
    {"prlimit64", 2, &layouts::kRlimit64, true},
    {"prlimit64", 3, &layouts::kRlimit64, true},
    {"process_madvise", 1, &layouts::kIovec},
    {"process_vm_readv", 1, &layouts::kIovec},
    {"process_vm_readv", 3, &layouts::kIovec},
    {"process_vm_writev", 1, &layouts::kIovec},
    {"process_vm_writev", 3, &layouts::kIovec},
    {"rseq", 0, &layouts::kRseq, true},
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
    {"seccomp", 2, &layouts::kSockFprog},
    {"semop", 1, &layouts::kSembuf, true},
    {"semtimedop", 1, &layouts::kSembuf, true},
    {"sendfile", 2, &kOffset},
    {"setgroups", 1, &kId},
    {"setitimer", 1, &layouts::kItimerval},
    {"setitimer", 2, &layouts::kItimerval},
    {"setrlimit", 1, &layouts::kRlimit},
    {"setxattrat", 4, &layouts::kXattrArgs, true},
    {"settimeofday", 0, &layouts::kTimeval},
    {"settimeofday", 1, &layouts::kTimezone, true},
    {"sigaltstack", 0, &layouts::kSigaltstack},
    {"sigaltstack", 1, &layouts::kSigaltstack},
    {"signalfd", 1, &kSigset, true},
    {"signalfd4", 1, &kSigset, true},
    {"splice", 1, &kOffset, true},
    {"splice", 3, &kOffset, true},
    {"statfs", 1, &layouts::kStatfs},
    {"statmount", 0, &layouts::kMntIdReq, true},
    {"sysinfo", 0, &layouts::kSysinfo},
    {"timer_create", 1, &kSigevent},
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
    {"waitid", 4, &layouts::kRusage},
};

struct Field {
  std::string_view layout;
  std::string_view field;
  FieldMeaning meaning;
};

constexpr FlagSet kLockTypes = one_of(kernel::kLockType);
constexpr FlagSet kBpfMapTypes = one_of(kernel::kBpfMapType);
constexpr FlagSet kBpfMapFlags = any_of(kernel::kBpfMapFlag);
constexpr FlagSet kNamespaceTypes = any_of(kernel::kNamespaceType);
constexpr FlagSet kLandlockRules = one_of(kernel::kLandlockRule);
constexpr FlagSet kSigevNotify = one_of(kernel::kSigEvent);
constexpr FlagSet kSeccompAction = one_of(kernel::kSeccompAction);
constexpr FlagSet kBpfElement = any_of(kernel::kBpfElement);
constexpr FlagSet kBpfProgramFlags = any_of(kernel::kBpfProgramFlag);
constexpr FlagSet kIoUringSetup = any_of(kernel::kIoUringSetup);
constexpr FlagSet kIoUringFeature = any_of(kernel::kIoUringFeature);
// The flags of an open, and above them those of openat2 alone.
constexpr auto kOpenHowFlags = [] {
  std::array<FlagName, std::size(kernel::kOpenFlag) + std::size(kernel::kOpenHow)> all{};
  std::copy(std::begin(kernel::kOpenHow), std::end(kernel::kOpenHow),
            std::copy(std::begin(kernel::kOpenFlag), std::end(kernel::kOpenFlag), all.begin()));
  return all;
}();
constexpr FlagSet kOpenHow{O_ACCMODE, kernel::kOpenMode, kOpenHowFlags};
constexpr FlagName kSemaphoreFlagNames[] = {{0x1000, "SEM_UNDO"}, {0x800, "IPC_NOWAIT"}};
constexpr FlagSet kSemaphoreFlags = any_of(kSemaphoreFlagNames);
constexpr FlagSet kPerfTypes = one_of(kernel::kPerfType);
constexpr FlagSet kPerfSamples = any_of(kernel::kPerfSample);
constexpr FlagSet kPerfReads = any_of(kernel::kPerfRead);
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
    {"futex_waitv", "val", {nullptr, FieldForm::kHex}},
    {"futex_waitv", "uaddr", {nullptr, FieldForm::kAddress}},
    {"futex_waitv", "flags", {&kFutex2}},
    {"sembuf", "sem_flg", {&kSemaphoreFlags}},
    {"seccomp_action", "", {&kSeccompAction}},
    {"sigevent", "sigev_signo", {nullptr, FieldForm::kSignal}},
    {"sigevent", "sigev_notify", {&kSigevNotify}},
    {"landlock_path_beneath_attr", "allowed_access", {&kLandlockFs}},
    {"landlock_net_port_attr", "allowed_access", {&kLandlockNet}},
    {"xattr_args", "value", {nullptr, FieldForm::kAddress}},
    {"xattr_args", "flags", {&kXattr}},
    {"mnt_id_req", "mnt_id", {nullptr, FieldForm::kHex}},
    {"mnt_id_req", "param", {nullptr, FieldForm::kHex}},
    {"mnt_id_req", "mnt_ns_id", {nullptr, FieldForm::kHex}},
    {"ns_id_req", "ns_id", {nullptr, FieldForm::kHex}},
    {"ns_id_req", "ns_type", {&kNamespaceTypes}},
    {"rseq", "rseq_cs", {nullptr, FieldForm::kAddress}},
    {"termios", "c_iflag", {nullptr, FieldForm::kHex}},
    {"termios", "c_oflag", {nullptr, FieldForm::kHex}},
    {"termios", "c_cflag", {nullptr, FieldForm::kHex}},
    {"termios", "c_lflag", {nullptr, FieldForm::kHex}},
    {"perf_event_attr", "type", {&kPerfTypes}},
    {"perf_event_attr", "sample_type", {&kPerfSamples}},
    {"perf_event_attr", "read_format", {&kPerfReads}},
    {"flock", "l_type", {&kLockTypes}},
    {"delegation", "d_type", {&kLockTypes}},
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
    {"bpf_attr_map_fd", "flags", {&kBpfElement}},
    {"bpf_attr_prog_type", "prog_flags", {&kBpfProgramFlags}},
    {"bpf_attr_prog_type", "prog_type", {&kBpfProgramTypes}},
    {"bpf_attr_prog_type", "expected_attach_type", {&kBpfAttachTypes}},
    {"bpf_attr_target_fd", "attach_type", {&kBpfAttachTypes}},
    {"bpf_attr_query", "attach_type", {&kBpfAttachTypes}},
    {"bpf_attr_link_create", "attach_type", {&kBpfAttachTypes}},
    {"open_how", "flags", {&kOpenHow}},
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
    {"landlock_ruleset_attr", "quiet_access_fs", {&kLandlockFs}},
    {"landlock_ruleset_attr", "quiet_access_net", {&kLandlockNet}},
    {"landlock_ruleset_attr", "quiet_scoped", {&kLandlockScope}},
    {"cap_header_struct", "version", {nullptr, FieldForm::kHex}},
    {"cap_data_struct", "effective", {nullptr, FieldForm::kHex}},
    {"cap_data_struct", "permitted", {nullptr, FieldForm::kHex}},
    {"cap_data_struct", "inheritable", {nullptr, FieldForm::kHex}},
    {"io_uring_params", "flags", {&kIoUringSetup}},
    {"io_uring_params", "features", {&kIoUringFeature}},
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

const Layout* ioctl_structure(std::uint32_t command) {
  constexpr std::uint32_t kInterfaceFirst = 0x8913;
  constexpr std::uint32_t kInterfaceLast = 0x8948;
  const std::uint32_t bytes = usc_ioctl_bytes(command);
  const bool is_terminal = command >> 8U == 'T';
  if (is_terminal && bytes == layouts::kTermios.bytes) return &layouts::kTermios;
  if (is_terminal && bytes == layouts::kWinsize.bytes) return &layouts::kWinsize;
  if (is_terminal && bytes == kInt.bytes) return &kInt;
  if (command == flag_value(kIoctl, "SIOCGIFINDEX") || command == flag_value(kIoctl, "SIOCGIFNAME") ||
      command == flag_value(kIoctl, "SIOCGIFMTU"))
    return &kIfreqNumber;
  if (command >= kInterfaceFirst && command <= kInterfaceLast) return &kIfreq;
  const auto* const at =
      std::lower_bound(std::begin(layouts::kIoctls), std::end(layouts::kIoctls), command,
                       [](const CommandLayout& one, std::uint32_t wanted) { return one.command < wanted; });
  return at == std::end(layouts::kIoctls) || at->command != command ? nullptr : at->layout;
}

const Layout* landlock_structure(std::uint32_t rule) {
  if (rule == flag_value(kLandlockRules, "LANDLOCK_RULE_PATH_BENEATH")) return &layouts::kLandlockPathBeneathAttr;
  return rule == flag_value(kLandlockRules, "LANDLOCK_RULE_NET_PORT") ? &layouts::kLandlockNetPortAttr : nullptr;
}

const Layout* seccomp_structure(std::uint32_t operation) {
  if (operation == flag_value(kSeccomp, "SECCOMP_SET_MODE_FILTER")) return &layouts::kSockFprog;
  return operation == flag_value(kSeccomp, "SECCOMP_GET_ACTION_AVAIL") ? &kAction : nullptr;
}

std::optional<std::size_t> length_in(const Layout& layout, std::string_view bytes) {
  const auto number_at = [&](std::size_t at) -> std::optional<std::uint32_t> {
    std::uint32_t number = 0;
    if (bytes.size() < at + sizeof(number)) return std::nullopt;
    std::memcpy(&number, bytes.data() + at, sizeof(number));
    return number;
  };
  constexpr std::size_t kPerfSize = 4;
  if (&layout == &kFileHandle) {
    const auto handle = number_at(0);
    return handle ? std::optional(kHandleHead + std::min<std::size_t>(*handle, layout.bytes - kHandleHead))
                  : std::nullopt;
  }
  if (&layout == &layouts::kPerfEventAttr) {
    // An attribute without a size is of the first version (PERF_ATTR_SIZE_VER0).
    constexpr std::size_t kFirstVersion = 64;
    const auto size = number_at(kPerfSize);
    if (!size) return std::nullopt;
    return *size == 0 ? kFirstVersion : std::min<std::size_t>(*size, layout.bytes);
  }
  if (&layout == &layouts::kMntIdReq || &layout == &layouts::kNsIdReq || &layout == &layouts::kSchedAttr)
    if (const auto size = number_at(0)) return std::min<std::size_t>(*size, layout.bytes);
  return std::nullopt;
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
    if (one.call == call && (abi != USC_ABI_COMPAT || (one.is_same_in_compat && call == name)))
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
