// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// Structures of the UAPI headers of linux-libc-dev 7.2.13-1. Made by scripts/kernel-names.py; do not edit.
#pragma once

#include "syscalls/layout.h"

// clang-format off
namespace uscope::syscalls::layouts {

inline constexpr LayoutField kCloneArgsFields[] = {
    {"flags", 0, 8, 1, LayoutField::kUnsigned, nullptr},
    {"pidfd", 8, 8, 1, LayoutField::kUnsigned, nullptr},
    {"child_tid", 16, 8, 1, LayoutField::kUnsigned, nullptr},
    {"parent_tid", 24, 8, 1, LayoutField::kUnsigned, nullptr},
    {"exit_signal", 32, 8, 1, LayoutField::kUnsigned, nullptr},
    {"stack", 40, 8, 1, LayoutField::kUnsigned, nullptr},
    {"stack_size", 48, 8, 1, LayoutField::kUnsigned, nullptr},
    {"tls", 56, 8, 1, LayoutField::kUnsigned, nullptr},
    {"set_tid", 64, 8, 1, LayoutField::kUnsigned, nullptr},
    {"set_tid_size", 72, 8, 1, LayoutField::kUnsigned, nullptr},
    {"cgroup", 80, 8, 1, LayoutField::kUnsigned, nullptr},
};
inline constexpr Layout kCloneArgs{"clone_args", 88, kCloneArgsFields};
inline constexpr LayoutField kOpenHowFields[] = {
    {"flags", 0, 8, 1, LayoutField::kUnsigned, nullptr},
    {"mode", 8, 8, 1, LayoutField::kUnsigned, nullptr},
    {"resolve", 16, 8, 1, LayoutField::kUnsigned, nullptr},
};
inline constexpr Layout kOpenHow{"open_how", 24, kOpenHowFields};
inline constexpr LayoutField kFlockFields[] = {
    {"l_type", 0, 2, 1, LayoutField::kSigned, nullptr},
    {"l_whence", 2, 2, 1, LayoutField::kSigned, nullptr},
    {"l_start", 8, 8, 1, LayoutField::kSigned, nullptr},
    {"l_len", 16, 8, 1, LayoutField::kSigned, nullptr},
    {"l_pid", 24, 4, 1, LayoutField::kSigned, nullptr},
};
inline constexpr Layout kFlock{"flock", 32, kFlockFields};
inline constexpr LayoutField kDelegationFields[] = {
    {"d_flags", 0, 4, 1, LayoutField::kUnsigned, nullptr},
    {"d_type", 4, 2, 1, LayoutField::kUnsigned, nullptr},
};
inline constexpr Layout kDelegation{"delegation", 8, kDelegationFields};
inline constexpr LayoutField kFOwnerExFields[] = {
    {"type", 0, 4, 1, LayoutField::kSigned, nullptr},
    {"pid", 4, 4, 1, LayoutField::kSigned, nullptr},
};
inline constexpr Layout kFOwnerEx{"f_owner_ex", 8, kFOwnerExFields};
inline constexpr LayoutField kSigactionFields[] = {
    {"sa_handler", 0, 8, 1, LayoutField::kPointer, nullptr},
    {"sa_flags", 8, 8, 1, LayoutField::kUnsigned, nullptr},
    {"sa_restorer", 16, 8, 1, LayoutField::kPointer, nullptr},
    {"sa_mask", 24, 8, 1, LayoutField::kUnsigned, nullptr},
};
inline constexpr Layout kSigaction{"sigaction", 32, kSigactionFields};
inline constexpr LayoutField kSigaltstackFields[] = {
    {"ss_sp", 0, 8, 1, LayoutField::kPointer, nullptr},
    {"ss_flags", 8, 4, 1, LayoutField::kSigned, nullptr},
    {"ss_size", 16, 8, 1, LayoutField::kUnsigned, nullptr},
};
inline constexpr Layout kSigaltstack{"sigaltstack", 24, kSigaltstackFields};
inline constexpr LayoutField kRlimitFields[] = {
    {"rlim_cur", 0, 8, 1, LayoutField::kUnsigned, nullptr},
    {"rlim_max", 8, 8, 1, LayoutField::kUnsigned, nullptr},
};
inline constexpr Layout kRlimit{"rlimit", 16, kRlimitFields};
inline constexpr LayoutField kRlimit64Fields[] = {
    {"rlim_cur", 0, 8, 1, LayoutField::kUnsigned, nullptr},
    {"rlim_max", 8, 8, 1, LayoutField::kUnsigned, nullptr},
};
inline constexpr Layout kRlimit64{"rlimit64", 16, kRlimit64Fields};
inline constexpr LayoutField kTimevalFields[] = {
    {"tv_sec", 0, 8, 1, LayoutField::kSigned, nullptr},
    {"tv_usec", 8, 8, 1, LayoutField::kSigned, nullptr},
};
inline constexpr Layout kTimeval{"timeval", 16, kTimevalFields};
inline constexpr LayoutField kRusageFields[] = {
    {"ru_utime", 0, 16, 1, LayoutField::kLayout, &kTimeval},
    {"ru_stime", 16, 16, 1, LayoutField::kLayout, &kTimeval},
    {"ru_maxrss", 32, 8, 1, LayoutField::kSigned, nullptr},
    {"ru_ixrss", 40, 8, 1, LayoutField::kSigned, nullptr},
    {"ru_idrss", 48, 8, 1, LayoutField::kSigned, nullptr},
    {"ru_isrss", 56, 8, 1, LayoutField::kSigned, nullptr},
    {"ru_minflt", 64, 8, 1, LayoutField::kSigned, nullptr},
    {"ru_majflt", 72, 8, 1, LayoutField::kSigned, nullptr},
    {"ru_nswap", 80, 8, 1, LayoutField::kSigned, nullptr},
    {"ru_inblock", 88, 8, 1, LayoutField::kSigned, nullptr},
    {"ru_oublock", 96, 8, 1, LayoutField::kSigned, nullptr},
    {"ru_msgsnd", 104, 8, 1, LayoutField::kSigned, nullptr},
    {"ru_msgrcv", 112, 8, 1, LayoutField::kSigned, nullptr},
    {"ru_nsignals", 120, 8, 1, LayoutField::kSigned, nullptr},
    {"ru_nvcsw", 128, 8, 1, LayoutField::kSigned, nullptr},
    {"ru_nivcsw", 136, 8, 1, LayoutField::kSigned, nullptr},
};
inline constexpr Layout kRusage{"rusage", 144, kRusageFields};
inline constexpr LayoutField kStatfsFields[] = {
    {"f_type", 0, 8, 1, LayoutField::kSigned, nullptr},
    {"f_bsize", 8, 8, 1, LayoutField::kSigned, nullptr},
    {"f_blocks", 16, 8, 1, LayoutField::kSigned, nullptr},
    {"f_bfree", 24, 8, 1, LayoutField::kSigned, nullptr},
    {"f_bavail", 32, 8, 1, LayoutField::kSigned, nullptr},
    {"f_files", 40, 8, 1, LayoutField::kSigned, nullptr},
    {"f_ffree", 48, 8, 1, LayoutField::kSigned, nullptr},
    {"f_fsid", 56, 4, 2, LayoutField::kSigned, nullptr},
    {"f_namelen", 64, 8, 1, LayoutField::kSigned, nullptr},
    {"f_frsize", 72, 8, 1, LayoutField::kSigned, nullptr},
    {"f_flags", 80, 8, 1, LayoutField::kSigned, nullptr},
};
inline constexpr Layout kStatfs{"statfs", 120, kStatfsFields};
inline constexpr LayoutField kItimervalFields[] = {
    {"it_interval", 0, 16, 1, LayoutField::kLayout, &kTimeval},
    {"it_value", 16, 16, 1, LayoutField::kLayout, &kTimeval},
};
inline constexpr Layout kItimerval{"itimerval", 32, kItimervalFields};
inline constexpr LayoutField kTimespecFields[] = {
    {"tv_sec", 0, 8, 1, LayoutField::kSigned, nullptr},
    {"tv_nsec", 8, 8, 1, LayoutField::kSigned, nullptr},
};
inline constexpr Layout kTimespec{"timespec", 16, kTimespecFields};
inline constexpr LayoutField kItimerspecFields[] = {
    {"it_interval", 0, 16, 1, LayoutField::kLayout, &kTimespec},
    {"it_value", 16, 16, 1, LayoutField::kLayout, &kTimespec},
};
inline constexpr Layout kItimerspec{"itimerspec", 32, kItimerspecFields};
inline constexpr LayoutField kTimezoneFields[] = {
    {"tz_minuteswest", 0, 4, 1, LayoutField::kSigned, nullptr},
    {"tz_dsttime", 4, 4, 1, LayoutField::kSigned, nullptr},
};
inline constexpr Layout kTimezone{"timezone", 8, kTimezoneFields};
inline constexpr LayoutField kSchedAttrFields[] = {
    {"size", 0, 4, 1, LayoutField::kUnsigned, nullptr},
    {"sched_policy", 4, 4, 1, LayoutField::kUnsigned, nullptr},
    {"sched_flags", 8, 8, 1, LayoutField::kUnsigned, nullptr},
    {"sched_nice", 16, 4, 1, LayoutField::kSigned, nullptr},
    {"sched_priority", 20, 4, 1, LayoutField::kUnsigned, nullptr},
    {"sched_runtime", 24, 8, 1, LayoutField::kUnsigned, nullptr},
    {"sched_deadline", 32, 8, 1, LayoutField::kUnsigned, nullptr},
    {"sched_period", 40, 8, 1, LayoutField::kUnsigned, nullptr},
    {"sched_util_min", 48, 4, 1, LayoutField::kUnsigned, nullptr},
    {"sched_util_max", 52, 4, 1, LayoutField::kUnsigned, nullptr},
};
inline constexpr Layout kSchedAttr{"sched_attr", 56, kSchedAttrFields};
inline constexpr LayoutField kMountAttrFields[] = {
    {"attr_set", 0, 8, 1, LayoutField::kUnsigned, nullptr},
    {"attr_clr", 8, 8, 1, LayoutField::kUnsigned, nullptr},
    {"propagation", 16, 8, 1, LayoutField::kUnsigned, nullptr},
    {"userns_fd", 24, 8, 1, LayoutField::kUnsigned, nullptr},
};
inline constexpr Layout kMountAttr{"mount_attr", 32, kMountAttrFields};
inline constexpr LayoutField kLandlockRulesetAttrFields[] = {
    {"handled_access_fs", 0, 8, 1, LayoutField::kUnsigned, nullptr},
    {"handled_access_net", 8, 8, 1, LayoutField::kUnsigned, nullptr},
    {"scoped", 16, 8, 1, LayoutField::kUnsigned, nullptr},
    {"quiet_access_fs", 24, 8, 1, LayoutField::kUnsigned, nullptr},
    {"quiet_access_net", 32, 8, 1, LayoutField::kUnsigned, nullptr},
    {"quiet_scoped", 40, 8, 1, LayoutField::kUnsigned, nullptr},
};
inline constexpr Layout kLandlockRulesetAttr{"landlock_ruleset_attr", 48, kLandlockRulesetAttrFields};
inline constexpr LayoutField kLandlockPathBeneathAttrFields[] = {
    {"allowed_access", 0, 8, 1, LayoutField::kUnsigned, nullptr},
    {"parent_fd", 8, 4, 1, LayoutField::kSigned, nullptr},
};
inline constexpr Layout kLandlockPathBeneathAttr{"landlock_path_beneath_attr", 12, kLandlockPathBeneathAttrFields};
inline constexpr LayoutField kLandlockNetPortAttrFields[] = {
    {"allowed_access", 0, 8, 1, LayoutField::kUnsigned, nullptr},
    {"port", 8, 8, 1, LayoutField::kUnsigned, nullptr},
};
inline constexpr Layout kLandlockNetPortAttr{"landlock_net_port_attr", 16, kLandlockNetPortAttrFields};
inline constexpr LayoutField kSysinfoFields[] = {
    {"uptime", 0, 8, 1, LayoutField::kSigned, nullptr},
    {"loads", 8, 8, 3, LayoutField::kUnsigned, nullptr},
    {"totalram", 32, 8, 1, LayoutField::kUnsigned, nullptr},
    {"freeram", 40, 8, 1, LayoutField::kUnsigned, nullptr},
    {"sharedram", 48, 8, 1, LayoutField::kUnsigned, nullptr},
    {"bufferram", 56, 8, 1, LayoutField::kUnsigned, nullptr},
    {"totalswap", 64, 8, 1, LayoutField::kUnsigned, nullptr},
    {"freeswap", 72, 8, 1, LayoutField::kUnsigned, nullptr},
    {"procs", 80, 2, 1, LayoutField::kUnsigned, nullptr},
    {"totalhigh", 88, 8, 1, LayoutField::kUnsigned, nullptr},
    {"freehigh", 96, 8, 1, LayoutField::kUnsigned, nullptr},
    {"mem_unit", 104, 4, 1, LayoutField::kUnsigned, nullptr},
};
inline constexpr Layout kSysinfo{"sysinfo", 112, kSysinfoFields};
inline constexpr LayoutField kUtsnameFields[] = {
    {"sysname", 0, 1, 65, LayoutField::kText, nullptr},
    {"nodename", 65, 1, 65, LayoutField::kText, nullptr},
    {"release", 130, 1, 65, LayoutField::kText, nullptr},
    {"version", 195, 1, 65, LayoutField::kText, nullptr},
    {"machine", 260, 1, 65, LayoutField::kText, nullptr},
    {"domainname", 325, 1, 65, LayoutField::kText, nullptr},
};
inline constexpr Layout kUtsname{"utsname", 390, kUtsnameFields};
inline constexpr LayoutField kTmsFields[] = {
    {"tms_utime", 0, 8, 1, LayoutField::kSigned, nullptr},
    {"tms_stime", 8, 8, 1, LayoutField::kSigned, nullptr},
    {"tms_cutime", 16, 8, 1, LayoutField::kSigned, nullptr},
    {"tms_cstime", 24, 8, 1, LayoutField::kSigned, nullptr},
};
inline constexpr Layout kTms{"tms", 32, kTmsFields};
inline constexpr LayoutField kUtimbufFields[] = {
    {"actime", 0, 8, 1, LayoutField::kSigned, nullptr},
    {"modtime", 8, 8, 1, LayoutField::kSigned, nullptr},
};
inline constexpr Layout kUtimbuf{"utimbuf", 16, kUtimbufFields};
inline constexpr LayoutField kCachestatFields[] = {
    {"nr_cache", 0, 8, 1, LayoutField::kUnsigned, nullptr},
    {"nr_dirty", 8, 8, 1, LayoutField::kUnsigned, nullptr},
    {"nr_writeback", 16, 8, 1, LayoutField::kUnsigned, nullptr},
    {"nr_evicted", 24, 8, 1, LayoutField::kUnsigned, nullptr},
    {"nr_recently_evicted", 32, 8, 1, LayoutField::kUnsigned, nullptr},
};
inline constexpr Layout kCachestat{"cachestat", 40, kCachestatFields};
inline constexpr LayoutField kCachestatRangeFields[] = {
    {"off", 0, 8, 1, LayoutField::kUnsigned, nullptr},
    {"len", 8, 8, 1, LayoutField::kUnsigned, nullptr},
};
inline constexpr Layout kCachestatRange{"cachestat_range", 16, kCachestatRangeFields};
inline constexpr LayoutField kMqAttrFields[] = {
    {"mq_flags", 0, 8, 1, LayoutField::kSigned, nullptr},
    {"mq_maxmsg", 8, 8, 1, LayoutField::kSigned, nullptr},
    {"mq_msgsize", 16, 8, 1, LayoutField::kSigned, nullptr},
    {"mq_curmsgs", 24, 8, 1, LayoutField::kSigned, nullptr},
};
inline constexpr Layout kMqAttr{"mq_attr", 64, kMqAttrFields};
inline constexpr LayoutField kFileAttrFields[] = {
    {"fa_xflags", 0, 8, 1, LayoutField::kUnsigned, nullptr},
    {"fa_extsize", 8, 4, 1, LayoutField::kUnsigned, nullptr},
    {"fa_nextents", 12, 4, 1, LayoutField::kUnsigned, nullptr},
    {"fa_projid", 16, 4, 1, LayoutField::kUnsigned, nullptr},
    {"fa_cowextsize", 20, 4, 1, LayoutField::kUnsigned, nullptr},
};
inline constexpr Layout kFileAttr{"file_attr", 24, kFileAttrFields};
inline constexpr LayoutField kCapHeaderStructFields[] = {
    {"version", 0, 4, 1, LayoutField::kUnsigned, nullptr},
    {"pid", 4, 4, 1, LayoutField::kSigned, nullptr},
};
inline constexpr Layout kCapHeaderStruct{"cap_header_struct", 8, kCapHeaderStructFields};
inline constexpr LayoutField kCapDataStructFields[] = {
    {"effective", 0, 4, 1, LayoutField::kUnsigned, nullptr},
    {"permitted", 4, 4, 1, LayoutField::kUnsigned, nullptr},
    {"inheritable", 8, 4, 1, LayoutField::kUnsigned, nullptr},
};
inline constexpr Layout kCapDataStruct{"cap_data_struct", 12, kCapDataStructFields};
inline constexpr LayoutField kTimexTimevalFields[] = {
    {"tv_sec", 0, 8, 1, LayoutField::kSigned, nullptr},
    {"tv_usec", 8, 8, 1, LayoutField::kSigned, nullptr},
};
inline constexpr Layout kTimexTimeval{"timex_timeval", 16, kTimexTimevalFields};
inline constexpr LayoutField kTimexFields[] = {
    {"modes", 0, 4, 1, LayoutField::kUnsigned, nullptr},
    {"offset", 8, 8, 1, LayoutField::kSigned, nullptr},
    {"freq", 16, 8, 1, LayoutField::kSigned, nullptr},
    {"maxerror", 24, 8, 1, LayoutField::kSigned, nullptr},
    {"esterror", 32, 8, 1, LayoutField::kSigned, nullptr},
    {"status", 40, 4, 1, LayoutField::kSigned, nullptr},
    {"constant", 48, 8, 1, LayoutField::kSigned, nullptr},
    {"precision", 56, 8, 1, LayoutField::kSigned, nullptr},
    {"tolerance", 64, 8, 1, LayoutField::kSigned, nullptr},
    {"time", 72, 16, 1, LayoutField::kLayout, &kTimexTimeval},
    {"tick", 88, 8, 1, LayoutField::kSigned, nullptr},
    {"ppsfreq", 96, 8, 1, LayoutField::kSigned, nullptr},
    {"jitter", 104, 8, 1, LayoutField::kSigned, nullptr},
    {"shift", 112, 4, 1, LayoutField::kSigned, nullptr},
    {"stabil", 120, 8, 1, LayoutField::kSigned, nullptr},
    {"jitcnt", 128, 8, 1, LayoutField::kSigned, nullptr},
    {"calcnt", 136, 8, 1, LayoutField::kSigned, nullptr},
    {"errcnt", 144, 8, 1, LayoutField::kSigned, nullptr},
    {"stbcnt", 152, 8, 1, LayoutField::kSigned, nullptr},
    {"tai", 160, 4, 1, LayoutField::kSigned, nullptr},
};
inline constexpr Layout kTimex{"timex", 208, kTimexFields};
inline constexpr LayoutField kIoSqringOffsetsFields[] = {
    {"head", 0, 4, 1, LayoutField::kUnsigned, nullptr},
    {"tail", 4, 4, 1, LayoutField::kUnsigned, nullptr},
    {"ring_mask", 8, 4, 1, LayoutField::kUnsigned, nullptr},
    {"ring_entries", 12, 4, 1, LayoutField::kUnsigned, nullptr},
    {"flags", 16, 4, 1, LayoutField::kUnsigned, nullptr},
    {"dropped", 20, 4, 1, LayoutField::kUnsigned, nullptr},
    {"array", 24, 4, 1, LayoutField::kUnsigned, nullptr},
    {"user_addr", 32, 8, 1, LayoutField::kUnsigned, nullptr},
};
inline constexpr Layout kIoSqringOffsets{"io_sqring_offsets", 40, kIoSqringOffsetsFields};
inline constexpr LayoutField kIoCqringOffsetsFields[] = {
    {"head", 0, 4, 1, LayoutField::kUnsigned, nullptr},
    {"tail", 4, 4, 1, LayoutField::kUnsigned, nullptr},
    {"ring_mask", 8, 4, 1, LayoutField::kUnsigned, nullptr},
    {"ring_entries", 12, 4, 1, LayoutField::kUnsigned, nullptr},
    {"overflow", 16, 4, 1, LayoutField::kUnsigned, nullptr},
    {"cqes", 20, 4, 1, LayoutField::kUnsigned, nullptr},
    {"flags", 24, 4, 1, LayoutField::kUnsigned, nullptr},
    {"user_addr", 32, 8, 1, LayoutField::kUnsigned, nullptr},
};
inline constexpr Layout kIoCqringOffsets{"io_cqring_offsets", 40, kIoCqringOffsetsFields};
inline constexpr LayoutField kIoUringParamsFields[] = {
    {"sq_entries", 0, 4, 1, LayoutField::kUnsigned, nullptr},
    {"cq_entries", 4, 4, 1, LayoutField::kUnsigned, nullptr},
    {"flags", 8, 4, 1, LayoutField::kUnsigned, nullptr},
    {"sq_thread_cpu", 12, 4, 1, LayoutField::kUnsigned, nullptr},
    {"sq_thread_idle", 16, 4, 1, LayoutField::kUnsigned, nullptr},
    {"features", 20, 4, 1, LayoutField::kUnsigned, nullptr},
    {"wq_fd", 24, 4, 1, LayoutField::kUnsigned, nullptr},
    {"sq_off", 40, 40, 1, LayoutField::kLayout, &kIoSqringOffsets},
    {"cq_off", 80, 40, 1, LayoutField::kLayout, &kIoCqringOffsets},
};
inline constexpr Layout kIoUringParams{"io_uring_params", 120, kIoUringParamsFields};
inline constexpr LayoutField kBpfAttrMapTypeFields[] = {
    {"map_type", 0, 4, 1, LayoutField::kUnsigned, nullptr},
    {"key_size", 4, 4, 1, LayoutField::kUnsigned, nullptr},
    {"value_size", 8, 4, 1, LayoutField::kUnsigned, nullptr},
    {"max_entries", 12, 4, 1, LayoutField::kUnsigned, nullptr},
    {"map_flags", 16, 4, 1, LayoutField::kUnsigned, nullptr},
    {"inner_map_fd", 20, 4, 1, LayoutField::kUnsigned, nullptr},
    {"numa_node", 24, 4, 1, LayoutField::kUnsigned, nullptr},
    {"map_name", 28, 1, 16, LayoutField::kText, nullptr},
    {"map_ifindex", 44, 4, 1, LayoutField::kUnsigned, nullptr},
    {"btf_fd", 48, 4, 1, LayoutField::kUnsigned, nullptr},
    {"btf_key_type_id", 52, 4, 1, LayoutField::kUnsigned, nullptr},
    {"btf_value_type_id", 56, 4, 1, LayoutField::kUnsigned, nullptr},
    {"btf_vmlinux_value_type_id", 60, 4, 1, LayoutField::kUnsigned, nullptr},
    {"map_extra", 64, 8, 1, LayoutField::kUnsigned, nullptr},
    {"value_type_btf_obj_fd", 72, 4, 1, LayoutField::kSigned, nullptr},
    {"map_token_fd", 76, 4, 1, LayoutField::kSigned, nullptr},
    {"excl_prog_hash", 80, 8, 1, LayoutField::kPointer, nullptr},
    {"excl_prog_hash_size", 88, 4, 1, LayoutField::kUnsigned, nullptr},
};
inline constexpr Layout kBpfAttrMapType{"bpf_attr_map_type", 96, kBpfAttrMapTypeFields};
inline constexpr LayoutField kBpfAttrMapFdFields[] = {
    {"map_fd", 0, 4, 1, LayoutField::kUnsigned, nullptr},
    {"key", 8, 8, 1, LayoutField::kPointer, nullptr},
    {"value", 16, 8, 1, LayoutField::kPointer, nullptr},
    {"flags", 24, 8, 1, LayoutField::kUnsigned, nullptr},
};
inline constexpr Layout kBpfAttrMapFd{"bpf_attr_map_fd", 32, kBpfAttrMapFdFields};
inline constexpr LayoutField kBpfAttrBatchFields[] = {
    {"in_batch", 0, 8, 1, LayoutField::kPointer, nullptr},
    {"out_batch", 8, 8, 1, LayoutField::kPointer, nullptr},
    {"keys", 16, 8, 1, LayoutField::kPointer, nullptr},
    {"values", 24, 8, 1, LayoutField::kPointer, nullptr},
    {"count", 32, 4, 1, LayoutField::kUnsigned, nullptr},
    {"map_fd", 36, 4, 1, LayoutField::kUnsigned, nullptr},
    {"elem_flags", 40, 8, 1, LayoutField::kUnsigned, nullptr},
    {"flags", 48, 8, 1, LayoutField::kUnsigned, nullptr},
};
inline constexpr Layout kBpfAttrBatch{"bpf_attr_batch", 56, kBpfAttrBatchFields};
inline constexpr LayoutField kBpfAttrProgTypeFields[] = {
    {"prog_type", 0, 4, 1, LayoutField::kUnsigned, nullptr},
    {"insn_cnt", 4, 4, 1, LayoutField::kUnsigned, nullptr},
    {"insns", 8, 8, 1, LayoutField::kPointer, nullptr},
    {"license", 16, 8, 1, LayoutField::kPointer, nullptr},
    {"log_level", 24, 4, 1, LayoutField::kUnsigned, nullptr},
    {"log_size", 28, 4, 1, LayoutField::kUnsigned, nullptr},
    {"log_buf", 32, 8, 1, LayoutField::kPointer, nullptr},
    {"kern_version", 40, 4, 1, LayoutField::kUnsigned, nullptr},
    {"prog_flags", 44, 4, 1, LayoutField::kUnsigned, nullptr},
    {"prog_name", 48, 1, 16, LayoutField::kText, nullptr},
    {"prog_ifindex", 64, 4, 1, LayoutField::kUnsigned, nullptr},
    {"expected_attach_type", 68, 4, 1, LayoutField::kUnsigned, nullptr},
    {"prog_btf_fd", 72, 4, 1, LayoutField::kUnsigned, nullptr},
    {"func_info_rec_size", 76, 4, 1, LayoutField::kUnsigned, nullptr},
    {"func_info", 80, 8, 1, LayoutField::kPointer, nullptr},
    {"func_info_cnt", 88, 4, 1, LayoutField::kUnsigned, nullptr},
    {"line_info_rec_size", 92, 4, 1, LayoutField::kUnsigned, nullptr},
    {"line_info", 96, 8, 1, LayoutField::kPointer, nullptr},
    {"line_info_cnt", 104, 4, 1, LayoutField::kUnsigned, nullptr},
    {"attach_btf_id", 108, 4, 1, LayoutField::kUnsigned, nullptr},
    {"attach_prog_fd", 112, 4, 1, LayoutField::kUnsigned, nullptr},
    {"core_relo_cnt", 116, 4, 1, LayoutField::kUnsigned, nullptr},
    {"fd_array", 120, 8, 1, LayoutField::kPointer, nullptr},
    {"core_relos", 128, 8, 1, LayoutField::kPointer, nullptr},
    {"core_relo_rec_size", 136, 4, 1, LayoutField::kUnsigned, nullptr},
    {"log_true_size", 140, 4, 1, LayoutField::kUnsigned, nullptr},
    {"prog_token_fd", 144, 4, 1, LayoutField::kSigned, nullptr},
    {"fd_array_cnt", 148, 4, 1, LayoutField::kUnsigned, nullptr},
    {"signature", 152, 8, 1, LayoutField::kPointer, nullptr},
    {"signature_size", 160, 4, 1, LayoutField::kUnsigned, nullptr},
    {"keyring_id", 164, 4, 1, LayoutField::kSigned, nullptr},
};
inline constexpr Layout kBpfAttrProgType{"bpf_attr_prog_type", 168, kBpfAttrProgTypeFields};
inline constexpr LayoutField kBpfAttrPathnameFields[] = {
    {"pathname", 0, 8, 1, LayoutField::kPointer, nullptr},
    {"bpf_fd", 8, 4, 1, LayoutField::kUnsigned, nullptr},
    {"file_flags", 12, 4, 1, LayoutField::kUnsigned, nullptr},
    {"path_fd", 16, 4, 1, LayoutField::kSigned, nullptr},
};
inline constexpr Layout kBpfAttrPathname{"bpf_attr_pathname", 24, kBpfAttrPathnameFields};
inline constexpr LayoutField kBpfAttrTargetFdFields[] = {
    {"target_fd", 0, 4, 1, LayoutField::kUnsigned, nullptr},
    {"attach_bpf_fd", 4, 4, 1, LayoutField::kUnsigned, nullptr},
    {"attach_type", 8, 4, 1, LayoutField::kUnsigned, nullptr},
    {"attach_flags", 12, 4, 1, LayoutField::kUnsigned, nullptr},
    {"replace_bpf_fd", 16, 4, 1, LayoutField::kUnsigned, nullptr},
    {"relative_fd", 20, 4, 1, LayoutField::kUnsigned, nullptr},
    {"expected_revision", 24, 8, 1, LayoutField::kUnsigned, nullptr},
};
inline constexpr Layout kBpfAttrTargetFd{"bpf_attr_target_fd", 32, kBpfAttrTargetFdFields};
inline constexpr LayoutField kBpfAttrTestFields[] = {
    {"prog_fd", 0, 4, 1, LayoutField::kUnsigned, nullptr},
    {"retval", 4, 4, 1, LayoutField::kUnsigned, nullptr},
    {"data_size_in", 8, 4, 1, LayoutField::kUnsigned, nullptr},
    {"data_size_out", 12, 4, 1, LayoutField::kUnsigned, nullptr},
    {"data_in", 16, 8, 1, LayoutField::kPointer, nullptr},
    {"data_out", 24, 8, 1, LayoutField::kPointer, nullptr},
    {"repeat", 32, 4, 1, LayoutField::kUnsigned, nullptr},
    {"duration", 36, 4, 1, LayoutField::kUnsigned, nullptr},
    {"ctx_size_in", 40, 4, 1, LayoutField::kUnsigned, nullptr},
    {"ctx_size_out", 44, 4, 1, LayoutField::kUnsigned, nullptr},
    {"ctx_in", 48, 8, 1, LayoutField::kPointer, nullptr},
    {"ctx_out", 56, 8, 1, LayoutField::kPointer, nullptr},
    {"flags", 64, 4, 1, LayoutField::kUnsigned, nullptr},
    {"cpu", 68, 4, 1, LayoutField::kUnsigned, nullptr},
    {"batch_size", 72, 4, 1, LayoutField::kUnsigned, nullptr},
};
inline constexpr Layout kBpfAttrTest{"bpf_attr_test", 80, kBpfAttrTestFields};
inline constexpr LayoutField kBpfAttrStartIdFields[] = {
    {"start_id", 0, 4, 1, LayoutField::kUnsigned, nullptr},
    {"next_id", 4, 4, 1, LayoutField::kUnsigned, nullptr},
    {"open_flags", 8, 4, 1, LayoutField::kUnsigned, nullptr},
    {"fd_by_id_token_fd", 12, 4, 1, LayoutField::kSigned, nullptr},
};
inline constexpr Layout kBpfAttrStartId{"bpf_attr_start_id", 16, kBpfAttrStartIdFields};
inline constexpr LayoutField kBpfAttrInfoFields[] = {
    {"bpf_fd", 0, 4, 1, LayoutField::kUnsigned, nullptr},
    {"info_len", 4, 4, 1, LayoutField::kUnsigned, nullptr},
    {"info", 8, 8, 1, LayoutField::kPointer, nullptr},
};
inline constexpr Layout kBpfAttrInfo{"bpf_attr_info", 16, kBpfAttrInfoFields};
inline constexpr LayoutField kBpfAttrQueryFields[] = {
    {"target_fd", 0, 4, 1, LayoutField::kUnsigned, nullptr},
    {"attach_type", 4, 4, 1, LayoutField::kUnsigned, nullptr},
    {"query_flags", 8, 4, 1, LayoutField::kUnsigned, nullptr},
    {"attach_flags", 12, 4, 1, LayoutField::kUnsigned, nullptr},
    {"prog_ids", 16, 8, 1, LayoutField::kPointer, nullptr},
    {"prog_cnt", 24, 4, 1, LayoutField::kUnsigned, nullptr},
    {"prog_attach_flags", 32, 8, 1, LayoutField::kPointer, nullptr},
    {"link_ids", 40, 8, 1, LayoutField::kPointer, nullptr},
    {"link_attach_flags", 48, 8, 1, LayoutField::kPointer, nullptr},
    {"revision", 56, 8, 1, LayoutField::kUnsigned, nullptr},
};
inline constexpr Layout kBpfAttrQuery{"bpf_attr_query", 64, kBpfAttrQueryFields};
inline constexpr LayoutField kBpfAttrRawTracepointFields[] = {
    {"name", 0, 8, 1, LayoutField::kPointer, nullptr},
    {"prog_fd", 8, 4, 1, LayoutField::kUnsigned, nullptr},
    {"cookie", 16, 8, 1, LayoutField::kUnsigned, nullptr},
};
inline constexpr Layout kBpfAttrRawTracepoint{"bpf_attr_raw_tracepoint", 24, kBpfAttrRawTracepointFields};
inline constexpr LayoutField kBpfAttrBtfFields[] = {
    {"btf", 0, 8, 1, LayoutField::kPointer, nullptr},
    {"btf_log_buf", 8, 8, 1, LayoutField::kPointer, nullptr},
    {"btf_size", 16, 4, 1, LayoutField::kUnsigned, nullptr},
    {"btf_log_size", 20, 4, 1, LayoutField::kUnsigned, nullptr},
    {"btf_log_level", 24, 4, 1, LayoutField::kUnsigned, nullptr},
    {"btf_log_true_size", 28, 4, 1, LayoutField::kUnsigned, nullptr},
    {"btf_flags", 32, 4, 1, LayoutField::kUnsigned, nullptr},
    {"btf_token_fd", 36, 4, 1, LayoutField::kSigned, nullptr},
};
inline constexpr Layout kBpfAttrBtf{"bpf_attr_btf", 40, kBpfAttrBtfFields};
inline constexpr LayoutField kBpfAttrTaskFdQueryFields[] = {
    {"pid", 0, 4, 1, LayoutField::kUnsigned, nullptr},
    {"fd", 4, 4, 1, LayoutField::kUnsigned, nullptr},
    {"flags", 8, 4, 1, LayoutField::kUnsigned, nullptr},
    {"buf_len", 12, 4, 1, LayoutField::kUnsigned, nullptr},
    {"buf", 16, 8, 1, LayoutField::kPointer, nullptr},
    {"prog_id", 24, 4, 1, LayoutField::kUnsigned, nullptr},
    {"fd_type", 28, 4, 1, LayoutField::kUnsigned, nullptr},
    {"probe_offset", 32, 8, 1, LayoutField::kUnsigned, nullptr},
    {"probe_addr", 40, 8, 1, LayoutField::kUnsigned, nullptr},
};
inline constexpr Layout kBpfAttrTaskFdQuery{"bpf_attr_task_fd_query", 48, kBpfAttrTaskFdQueryFields};
inline constexpr LayoutField kBpfAttrLinkCreateFields[] = {
    {"prog_fd", 0, 4, 1, LayoutField::kUnsigned, nullptr},
    {"target_fd", 4, 4, 1, LayoutField::kUnsigned, nullptr},
    {"attach_type", 8, 4, 1, LayoutField::kUnsigned, nullptr},
    {"flags", 12, 4, 1, LayoutField::kUnsigned, nullptr},
    {"target_btf_id", 16, 4, 1, LayoutField::kUnsigned, nullptr},
};
inline constexpr Layout kBpfAttrLinkCreate{"bpf_attr_link_create", 64, kBpfAttrLinkCreateFields};
inline constexpr LayoutField kBpfAttrLinkUpdateFields[] = {
    {"link_fd", 0, 4, 1, LayoutField::kUnsigned, nullptr},
    {"new_prog_fd", 4, 4, 1, LayoutField::kUnsigned, nullptr},
    {"flags", 8, 4, 1, LayoutField::kUnsigned, nullptr},
    {"old_prog_fd", 12, 4, 1, LayoutField::kUnsigned, nullptr},
};
inline constexpr Layout kBpfAttrLinkUpdate{"bpf_attr_link_update", 16, kBpfAttrLinkUpdateFields};
inline constexpr LayoutField kBpfAttrLinkDetachFields[] = {
    {"link_fd", 0, 4, 1, LayoutField::kUnsigned, nullptr},
};
inline constexpr Layout kBpfAttrLinkDetach{"bpf_attr_link_detach", 4, kBpfAttrLinkDetachFields};
inline constexpr LayoutField kBpfAttrEnableStatsFields[] = {
    {"type", 0, 4, 1, LayoutField::kUnsigned, nullptr},
};
inline constexpr Layout kBpfAttrEnableStats{"bpf_attr_enable_stats", 4, kBpfAttrEnableStatsFields};
inline constexpr LayoutField kBpfAttrIterCreateFields[] = {
    {"link_fd", 0, 4, 1, LayoutField::kUnsigned, nullptr},
    {"flags", 4, 4, 1, LayoutField::kUnsigned, nullptr},
};
inline constexpr Layout kBpfAttrIterCreate{"bpf_attr_iter_create", 8, kBpfAttrIterCreateFields};
inline constexpr LayoutField kBpfAttrProgBindMapFields[] = {
    {"prog_fd", 0, 4, 1, LayoutField::kUnsigned, nullptr},
    {"map_fd", 4, 4, 1, LayoutField::kUnsigned, nullptr},
    {"flags", 8, 4, 1, LayoutField::kUnsigned, nullptr},
};
inline constexpr Layout kBpfAttrProgBindMap{"bpf_attr_prog_bind_map", 12, kBpfAttrProgBindMapFields};
inline constexpr LayoutField kBpfAttrTokenCreateFields[] = {
    {"flags", 0, 4, 1, LayoutField::kUnsigned, nullptr},
    {"bpffs_fd", 4, 4, 1, LayoutField::kUnsigned, nullptr},
};
inline constexpr Layout kBpfAttrTokenCreate{"bpf_attr_token_create", 8, kBpfAttrTokenCreateFields};
inline constexpr LayoutField kBpfAttrProgStreamReadFields[] = {
    {"stream_buf", 0, 8, 1, LayoutField::kPointer, nullptr},
    {"stream_buf_len", 8, 4, 1, LayoutField::kUnsigned, nullptr},
    {"stream_id", 12, 4, 1, LayoutField::kUnsigned, nullptr},
    {"prog_fd", 16, 4, 1, LayoutField::kUnsigned, nullptr},
};
inline constexpr Layout kBpfAttrProgStreamRead{"bpf_attr_prog_stream_read", 24, kBpfAttrProgStreamReadFields};
inline constexpr LayoutField kBpfAttrProgAssocStructOpsFields[] = {
    {"map_fd", 0, 4, 1, LayoutField::kUnsigned, nullptr},
    {"prog_fd", 4, 4, 1, LayoutField::kUnsigned, nullptr},
    {"flags", 8, 4, 1, LayoutField::kUnsigned, nullptr},
};
inline constexpr Layout kBpfAttrProgAssocStructOps{"bpf_attr_prog_assoc_struct_ops", 12, kBpfAttrProgAssocStructOpsFields};

}  // namespace uscope::syscalls::layouts
