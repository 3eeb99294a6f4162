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
inline constexpr LayoutField kFutexWaitvFields[] = {
    {"val", 0, 8, 1, LayoutField::kUnsigned, nullptr},
    {"uaddr", 8, 8, 1, LayoutField::kUnsigned, nullptr},
    {"flags", 16, 4, 1, LayoutField::kUnsigned, nullptr},
};
inline constexpr Layout kFutexWaitv{"futex_waitv", 24, kFutexWaitvFields};
inline constexpr LayoutField kSembufFields[] = {
    {"sem_num", 0, 2, 1, LayoutField::kUnsigned, nullptr},
    {"sem_op", 2, 2, 1, LayoutField::kSigned, nullptr},
    {"sem_flg", 4, 2, 1, LayoutField::kSigned, nullptr},
};
inline constexpr Layout kSembuf{"sembuf", 6, kSembufFields};
inline constexpr LayoutField kMntIdReqFields[] = {
    {"size", 0, 4, 1, LayoutField::kUnsigned, nullptr},
    {"mnt_ns_fd", 4, 4, 1, LayoutField::kUnsigned, nullptr},
    {"mnt_id", 8, 8, 1, LayoutField::kUnsigned, nullptr},
    {"param", 16, 8, 1, LayoutField::kUnsigned, nullptr},
    {"mnt_ns_id", 24, 8, 1, LayoutField::kUnsigned, nullptr},
};
inline constexpr Layout kMntIdReq{"mnt_id_req", 32, kMntIdReqFields};
inline constexpr LayoutField kNsIdReqFields[] = {
    {"size", 0, 4, 1, LayoutField::kUnsigned, nullptr},
    {"spare", 4, 4, 1, LayoutField::kUnsigned, nullptr},
    {"ns_id", 8, 8, 1, LayoutField::kUnsigned, nullptr},
    {"ns_type", 16, 4, 1, LayoutField::kUnsigned, nullptr},
    {"spare2", 20, 4, 1, LayoutField::kUnsigned, nullptr},
    {"user_ns_id", 24, 8, 1, LayoutField::kUnsigned, nullptr},
};
inline constexpr Layout kNsIdReq{"ns_id_req", 32, kNsIdReqFields};
inline constexpr LayoutField kXattrArgsFields[] = {
    {"value", 0, 8, 1, LayoutField::kUnsigned, nullptr},
    {"size", 8, 4, 1, LayoutField::kUnsigned, nullptr},
    {"flags", 12, 4, 1, LayoutField::kUnsigned, nullptr},
};
inline constexpr Layout kXattrArgs{"xattr_args", 16, kXattrArgsFields};
inline constexpr LayoutField kIovecFields[] = {
    {"iov_base", 0, 8, 1, LayoutField::kPointer, nullptr},
    {"iov_len", 8, 8, 1, LayoutField::kUnsigned, nullptr},
};
inline constexpr Layout kIovec{"iovec", 16, kIovecFields};
inline constexpr LayoutField kKexecSegmentFields[] = {
    {"buf", 0, 8, 1, LayoutField::kPointer, nullptr},
    {"bufsz", 8, 8, 1, LayoutField::kUnsigned, nullptr},
    {"mem", 16, 8, 1, LayoutField::kPointer, nullptr},
    {"memsz", 24, 8, 1, LayoutField::kUnsigned, nullptr},
};
inline constexpr Layout kKexecSegment{"kexec_segment", 32, kKexecSegmentFields};
inline constexpr LayoutField kPerfEventAttrFields[] = {
    {"type", 0, 4, 1, LayoutField::kUnsigned, nullptr},
    {"size", 4, 4, 1, LayoutField::kUnsigned, nullptr},
    {"config", 8, 8, 1, LayoutField::kUnsigned, nullptr},
    {"sample_period", 16, 8, 1, LayoutField::kUnsigned, nullptr},
    {"sample_type", 24, 8, 1, LayoutField::kUnsigned, nullptr},
    {"read_format", 32, 8, 1, LayoutField::kUnsigned, nullptr},
    {"disabled", 40, 8, 1, LayoutField::kBits, nullptr, 0, 1},
    {"inherit", 40, 8, 1, LayoutField::kBits, nullptr, 1, 1},
    {"pinned", 40, 8, 1, LayoutField::kBits, nullptr, 2, 1},
    {"exclusive", 40, 8, 1, LayoutField::kBits, nullptr, 3, 1},
    {"exclude_user", 40, 8, 1, LayoutField::kBits, nullptr, 4, 1},
    {"exclude_kernel", 40, 8, 1, LayoutField::kBits, nullptr, 5, 1},
    {"exclude_hv", 40, 8, 1, LayoutField::kBits, nullptr, 6, 1},
    {"exclude_idle", 40, 8, 1, LayoutField::kBits, nullptr, 7, 1},
    {"mmap", 40, 8, 1, LayoutField::kBits, nullptr, 8, 1},
    {"comm", 40, 8, 1, LayoutField::kBits, nullptr, 9, 1},
    {"freq", 40, 8, 1, LayoutField::kBits, nullptr, 10, 1},
    {"inherit_stat", 40, 8, 1, LayoutField::kBits, nullptr, 11, 1},
    {"enable_on_exec", 40, 8, 1, LayoutField::kBits, nullptr, 12, 1},
    {"task", 40, 8, 1, LayoutField::kBits, nullptr, 13, 1},
    {"watermark", 40, 8, 1, LayoutField::kBits, nullptr, 14, 1},
    {"precise_ip", 40, 8, 1, LayoutField::kBits, nullptr, 15, 2},
    {"mmap_data", 40, 8, 1, LayoutField::kBits, nullptr, 17, 1},
    {"sample_id_all", 40, 8, 1, LayoutField::kBits, nullptr, 18, 1},
    {"exclude_host", 40, 8, 1, LayoutField::kBits, nullptr, 19, 1},
    {"exclude_guest", 40, 8, 1, LayoutField::kBits, nullptr, 20, 1},
    {"exclude_callchain_kernel", 40, 8, 1, LayoutField::kBits, nullptr, 21, 1},
    {"exclude_callchain_user", 40, 8, 1, LayoutField::kBits, nullptr, 22, 1},
    {"mmap2", 40, 8, 1, LayoutField::kBits, nullptr, 23, 1},
    {"comm_exec", 40, 8, 1, LayoutField::kBits, nullptr, 24, 1},
    {"use_clockid", 40, 8, 1, LayoutField::kBits, nullptr, 25, 1},
    {"context_switch", 40, 8, 1, LayoutField::kBits, nullptr, 26, 1},
    {"write_backward", 40, 8, 1, LayoutField::kBits, nullptr, 27, 1},
    {"namespaces", 40, 8, 1, LayoutField::kBits, nullptr, 28, 1},
    {"ksymbol", 40, 8, 1, LayoutField::kBits, nullptr, 29, 1},
    {"bpf_event", 40, 8, 1, LayoutField::kBits, nullptr, 30, 1},
    {"aux_output", 40, 8, 1, LayoutField::kBits, nullptr, 31, 1},
    {"cgroup", 40, 8, 1, LayoutField::kBits, nullptr, 32, 1},
    {"text_poke", 40, 8, 1, LayoutField::kBits, nullptr, 33, 1},
    {"build_id", 40, 8, 1, LayoutField::kBits, nullptr, 34, 1},
    {"inherit_thread", 40, 8, 1, LayoutField::kBits, nullptr, 35, 1},
    {"remove_on_exec", 40, 8, 1, LayoutField::kBits, nullptr, 36, 1},
    {"sigtrap", 40, 8, 1, LayoutField::kBits, nullptr, 37, 1},
    {"defer_callchain", 40, 8, 1, LayoutField::kBits, nullptr, 38, 1},
    {"defer_output", 40, 8, 1, LayoutField::kBits, nullptr, 39, 1},
    {"wakeup_events", 48, 4, 1, LayoutField::kUnsigned, nullptr},
    {"bp_type", 52, 4, 1, LayoutField::kUnsigned, nullptr},
    {"bp_addr", 56, 8, 1, LayoutField::kUnsigned, nullptr},
    {"bp_len", 64, 8, 1, LayoutField::kUnsigned, nullptr},
    {"branch_sample_type", 72, 8, 1, LayoutField::kUnsigned, nullptr},
    {"sample_regs_user", 80, 8, 1, LayoutField::kUnsigned, nullptr},
    {"sample_stack_user", 88, 4, 1, LayoutField::kUnsigned, nullptr},
    {"clockid", 92, 4, 1, LayoutField::kSigned, nullptr},
    {"sample_regs_intr", 96, 8, 1, LayoutField::kUnsigned, nullptr},
    {"aux_watermark", 104, 4, 1, LayoutField::kUnsigned, nullptr},
    {"sample_max_stack", 108, 2, 1, LayoutField::kUnsigned, nullptr},
    {"aux_sample_size", 112, 4, 1, LayoutField::kUnsigned, nullptr},
    {"aux_action", 116, 4, 1, LayoutField::kUnsigned, nullptr},
    {"sig_data", 120, 8, 1, LayoutField::kUnsigned, nullptr},
    {"config3", 128, 8, 1, LayoutField::kUnsigned, nullptr},
    {"config4", 136, 8, 1, LayoutField::kUnsigned, nullptr},
};
inline constexpr Layout kPerfEventAttr{"perf_event_attr", 144, kPerfEventAttrFields};
inline constexpr LayoutField kRseqFields[] = {
    {"cpu_id_start", 0, 4, 1, LayoutField::kUnsigned, nullptr},
    {"cpu_id", 4, 4, 1, LayoutField::kUnsigned, nullptr},
    {"rseq_cs", 8, 8, 1, LayoutField::kUnsigned, nullptr},
    {"flags", 16, 4, 1, LayoutField::kUnsigned, nullptr},
    {"node_id", 20, 4, 1, LayoutField::kUnsigned, nullptr},
    {"mm_cid", 24, 4, 1, LayoutField::kUnsigned, nullptr},
};
inline constexpr Layout kRseq{"rseq", 64, kRseqFields};
inline constexpr LayoutField kTermiosFields[] = {
    {"c_iflag", 0, 4, 1, LayoutField::kUnsigned, nullptr},
    {"c_oflag", 4, 4, 1, LayoutField::kUnsigned, nullptr},
    {"c_cflag", 8, 4, 1, LayoutField::kUnsigned, nullptr},
    {"c_lflag", 12, 4, 1, LayoutField::kUnsigned, nullptr},
    {"c_line", 16, 1, 1, LayoutField::kUnsigned, nullptr},
    {"c_cc", 17, 1, 19, LayoutField::kText, nullptr},
};
inline constexpr Layout kTermios{"termios", 36, kTermiosFields};
inline constexpr LayoutField kWinsizeFields[] = {
    {"ws_row", 0, 2, 1, LayoutField::kUnsigned, nullptr},
    {"ws_col", 2, 2, 1, LayoutField::kUnsigned, nullptr},
    {"ws_xpixel", 4, 2, 1, LayoutField::kUnsigned, nullptr},
    {"ws_ypixel", 6, 2, 1, LayoutField::kUnsigned, nullptr},
};
inline constexpr Layout kWinsize{"winsize", 8, kWinsizeFields};
inline constexpr LayoutField kSockFprogFields[] = {
    {"len", 0, 2, 1, LayoutField::kUnsigned, nullptr},
    {"filter", 8, 8, 1, LayoutField::kPointer, nullptr},
};
inline constexpr Layout kSockFprog{"sock_fprog", 16, kSockFprogFields};
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
inline constexpr LayoutField kUnsigned32Fields[] = {
    {"", 0, 4, 1, LayoutField::kUnsigned, nullptr},
};
inline constexpr Layout kUnsigned32{"unsigned_32", 4, kUnsigned32Fields};
inline constexpr LayoutField kSigned32Fields[] = {
    {"", 0, 4, 1, LayoutField::kSigned, nullptr},
};
inline constexpr Layout kSigned32{"signed_32", 4, kSigned32Fields};
inline constexpr LayoutField kUnsigned64Fields[] = {
    {"", 0, 8, 1, LayoutField::kUnsigned, nullptr},
};
inline constexpr Layout kUnsigned64{"unsigned_64", 8, kUnsigned64Fields};
inline constexpr LayoutField kUnsigned16Fields[] = {
    {"", 0, 2, 1, LayoutField::kUnsigned, nullptr},
};
inline constexpr Layout kUnsigned16{"unsigned_16", 2, kUnsigned16Fields};
inline constexpr LayoutField kEpollParamsFields[] = {
    {"busy_poll_usecs", 0, 4, 1, LayoutField::kUnsigned, nullptr},
    {"busy_poll_budget", 4, 2, 1, LayoutField::kUnsigned, nullptr},
    {"prefer_busy_poll", 6, 1, 1, LayoutField::kUnsigned, nullptr},
};
inline constexpr Layout kEpollParams{"epoll_params", 8, kEpollParamsFields};
inline constexpr LayoutField kSigned64Fields[] = {
    {"", 0, 8, 1, LayoutField::kSigned, nullptr},
};
inline constexpr Layout kSigned64{"signed_64", 8, kSigned64Fields};
inline constexpr LayoutField kFstrimRangeFields[] = {
    {"start", 0, 8, 1, LayoutField::kUnsigned, nullptr},
    {"len", 8, 8, 1, LayoutField::kUnsigned, nullptr},
    {"minlen", 16, 8, 1, LayoutField::kUnsigned, nullptr},
};
inline constexpr Layout kFstrimRange{"fstrim_range", 24, kFstrimRangeFields};
inline constexpr LayoutField kFileCloneRangeFields[] = {
    {"src_fd", 0, 8, 1, LayoutField::kSigned, nullptr},
    {"src_offset", 8, 8, 1, LayoutField::kUnsigned, nullptr},
    {"src_length", 16, 8, 1, LayoutField::kUnsigned, nullptr},
    {"dest_offset", 24, 8, 1, LayoutField::kUnsigned, nullptr},
};
inline constexpr Layout kFileCloneRange{"file_clone_range", 32, kFileCloneRangeFields};
inline constexpr LayoutField kFileDedupeRangeFields[] = {
    {"src_offset", 0, 8, 1, LayoutField::kUnsigned, nullptr},
    {"src_length", 8, 8, 1, LayoutField::kUnsigned, nullptr},
    {"dest_count", 16, 2, 1, LayoutField::kUnsigned, nullptr},
};
inline constexpr Layout kFileDedupeRange{"file_dedupe_range", 24, kFileDedupeRangeFields};
inline constexpr LayoutField kFsxattrFields[] = {
    {"fsx_xflags", 0, 4, 1, LayoutField::kUnsigned, nullptr},
    {"fsx_extsize", 4, 4, 1, LayoutField::kUnsigned, nullptr},
    {"fsx_nextents", 8, 4, 1, LayoutField::kUnsigned, nullptr},
    {"fsx_projid", 12, 4, 1, LayoutField::kUnsigned, nullptr},
    {"fsx_cowextsize", 16, 4, 1, LayoutField::kUnsigned, nullptr},
    {"fsx_pad", 20, 1, 8, LayoutField::kText, nullptr},
};
inline constexpr Layout kFsxattr{"fsxattr", 28, kFsxattrFields};
inline constexpr LayoutField kFsuuid2Fields[] = {
    {"len", 0, 1, 1, LayoutField::kUnsigned, nullptr},
    {"uuid", 1, 1, 16, LayoutField::kText, nullptr},
};
inline constexpr Layout kFsuuid2{"fsuuid2", 17, kFsuuid2Fields};
inline constexpr LayoutField kFsSysfsPathFields[] = {
    {"len", 0, 1, 1, LayoutField::kUnsigned, nullptr},
    {"name", 1, 1, 128, LayoutField::kText, nullptr},
};
inline constexpr Layout kFsSysfsPath{"fs_sysfs_path", 129, kFsSysfsPathFields};
inline constexpr LayoutField kLogicalBlockMetadataCapFields[] = {
    {"lbmd_flags", 0, 4, 1, LayoutField::kUnsigned, nullptr},
    {"lbmd_interval", 4, 2, 1, LayoutField::kUnsigned, nullptr},
    {"lbmd_size", 6, 1, 1, LayoutField::kUnsigned, nullptr},
    {"lbmd_opaque_size", 7, 1, 1, LayoutField::kUnsigned, nullptr},
    {"lbmd_opaque_offset", 8, 1, 1, LayoutField::kUnsigned, nullptr},
    {"lbmd_pi_size", 9, 1, 1, LayoutField::kUnsigned, nullptr},
    {"lbmd_pi_offset", 10, 1, 1, LayoutField::kUnsigned, nullptr},
    {"lbmd_guard_tag_type", 11, 1, 1, LayoutField::kUnsigned, nullptr},
    {"lbmd_app_tag_size", 12, 1, 1, LayoutField::kUnsigned, nullptr},
    {"lbmd_ref_tag_size", 13, 1, 1, LayoutField::kUnsigned, nullptr},
    {"lbmd_storage_tag_size", 14, 1, 1, LayoutField::kUnsigned, nullptr},
};
inline constexpr Layout kLogicalBlockMetadataCap{"logical_block_metadata_cap", 16, kLogicalBlockMetadataCapFields};
inline constexpr LayoutField kPmScanArgFields[] = {
    {"size", 0, 8, 1, LayoutField::kUnsigned, nullptr},
    {"flags", 8, 8, 1, LayoutField::kUnsigned, nullptr},
    {"start", 16, 8, 1, LayoutField::kUnsigned, nullptr},
    {"end", 24, 8, 1, LayoutField::kUnsigned, nullptr},
    {"walk_end", 32, 8, 1, LayoutField::kUnsigned, nullptr},
    {"vec", 40, 8, 1, LayoutField::kUnsigned, nullptr},
    {"vec_len", 48, 8, 1, LayoutField::kUnsigned, nullptr},
    {"max_pages", 56, 8, 1, LayoutField::kUnsigned, nullptr},
    {"category_inverted", 64, 8, 1, LayoutField::kUnsigned, nullptr},
    {"category_mask", 72, 8, 1, LayoutField::kUnsigned, nullptr},
    {"category_anyof_mask", 80, 8, 1, LayoutField::kUnsigned, nullptr},
    {"return_mask", 88, 8, 1, LayoutField::kUnsigned, nullptr},
};
inline constexpr Layout kPmScanArg{"pm_scan_arg", 96, kPmScanArgFields};
inline constexpr LayoutField kProcmapQueryFields[] = {
    {"size", 0, 8, 1, LayoutField::kUnsigned, nullptr},
    {"query_flags", 8, 8, 1, LayoutField::kUnsigned, nullptr},
    {"query_addr", 16, 8, 1, LayoutField::kUnsigned, nullptr},
    {"vma_start", 24, 8, 1, LayoutField::kUnsigned, nullptr},
    {"vma_end", 32, 8, 1, LayoutField::kUnsigned, nullptr},
    {"vma_flags", 40, 8, 1, LayoutField::kUnsigned, nullptr},
    {"vma_page_size", 48, 8, 1, LayoutField::kUnsigned, nullptr},
    {"vma_offset", 56, 8, 1, LayoutField::kUnsigned, nullptr},
    {"inode", 64, 8, 1, LayoutField::kUnsigned, nullptr},
    {"dev_major", 72, 4, 1, LayoutField::kUnsigned, nullptr},
    {"dev_minor", 76, 4, 1, LayoutField::kUnsigned, nullptr},
    {"vma_name_size", 80, 4, 1, LayoutField::kUnsigned, nullptr},
    {"build_id_size", 84, 4, 1, LayoutField::kUnsigned, nullptr},
    {"vma_name_addr", 88, 8, 1, LayoutField::kUnsigned, nullptr},
    {"build_id_addr", 96, 8, 1, LayoutField::kUnsigned, nullptr},
};
inline constexpr Layout kProcmapQuery{"procmap_query", 104, kProcmapQueryFields};
inline constexpr LayoutField kFscryptPolicyV1Fields[] = {
    {"version", 0, 1, 1, LayoutField::kUnsigned, nullptr},
    {"contents_encryption_mode", 1, 1, 1, LayoutField::kUnsigned, nullptr},
    {"filenames_encryption_mode", 2, 1, 1, LayoutField::kUnsigned, nullptr},
    {"flags", 3, 1, 1, LayoutField::kUnsigned, nullptr},
    {"master_key_descriptor", 4, 1, 8, LayoutField::kText, nullptr},
};
inline constexpr Layout kFscryptPolicyV1{"fscrypt_policy_v1", 12, kFscryptPolicyV1Fields};
inline constexpr LayoutField kFscryptKeySpecifierFields[] = {
    {"type", 0, 4, 1, LayoutField::kUnsigned, nullptr},
};
inline constexpr Layout kFscryptKeySpecifier{"fscrypt_key_specifier", 40, kFscryptKeySpecifierFields};
inline constexpr LayoutField kFscryptAddKeyArgFields[] = {
    {"key_spec", 0, 40, 1, LayoutField::kLayout, &kFscryptKeySpecifier},
    {"raw_size", 40, 4, 1, LayoutField::kUnsigned, nullptr},
    {"key_id", 44, 4, 1, LayoutField::kUnsigned, nullptr},
    {"flags", 48, 4, 1, LayoutField::kUnsigned, nullptr},
};
inline constexpr Layout kFscryptAddKeyArg{"fscrypt_add_key_arg", 80, kFscryptAddKeyArgFields};
inline constexpr LayoutField kFscryptRemoveKeyArgFields[] = {
    {"key_spec", 0, 40, 1, LayoutField::kLayout, &kFscryptKeySpecifier},
    {"removal_status_flags", 40, 4, 1, LayoutField::kUnsigned, nullptr},
};
inline constexpr Layout kFscryptRemoveKeyArg{"fscrypt_remove_key_arg", 64, kFscryptRemoveKeyArgFields};
inline constexpr LayoutField kFscryptGetKeyStatusArgFields[] = {
    {"key_spec", 0, 40, 1, LayoutField::kLayout, &kFscryptKeySpecifier},
    {"status", 64, 4, 1, LayoutField::kUnsigned, nullptr},
    {"status_flags", 68, 4, 1, LayoutField::kUnsigned, nullptr},
    {"user_count", 72, 4, 1, LayoutField::kUnsigned, nullptr},
};
inline constexpr Layout kFscryptGetKeyStatusArg{"fscrypt_get_key_status_arg", 128, kFscryptGetKeyStatusArgFields};
inline constexpr LayoutField kFsmapFields[] = {
    {"fmr_device", 0, 4, 1, LayoutField::kUnsigned, nullptr},
    {"fmr_flags", 4, 4, 1, LayoutField::kUnsigned, nullptr},
    {"fmr_physical", 8, 8, 1, LayoutField::kUnsigned, nullptr},
    {"fmr_owner", 16, 8, 1, LayoutField::kUnsigned, nullptr},
    {"fmr_offset", 24, 8, 1, LayoutField::kUnsigned, nullptr},
    {"fmr_length", 32, 8, 1, LayoutField::kUnsigned, nullptr},
    {"fmr_reserved", 40, 8, 3, LayoutField::kUnsigned, nullptr},
};
inline constexpr Layout kFsmap{"fsmap", 64, kFsmapFields};
inline constexpr LayoutField kFsmapHeadFields[] = {
    {"fmh_iflags", 0, 4, 1, LayoutField::kUnsigned, nullptr},
    {"fmh_oflags", 4, 4, 1, LayoutField::kUnsigned, nullptr},
    {"fmh_count", 8, 4, 1, LayoutField::kUnsigned, nullptr},
    {"fmh_entries", 12, 4, 1, LayoutField::kUnsigned, nullptr},
    {"fmh_reserved", 16, 8, 6, LayoutField::kUnsigned, nullptr},
    {"fmh_keys", 64, 64, 2, LayoutField::kLayout, &kFsmap},
};
inline constexpr Layout kFsmapHead{"fsmap_head", 192, kFsmapHeadFields};
inline constexpr LayoutField kFsverityEnableArgFields[] = {
    {"version", 0, 4, 1, LayoutField::kUnsigned, nullptr},
    {"hash_algorithm", 4, 4, 1, LayoutField::kUnsigned, nullptr},
    {"block_size", 8, 4, 1, LayoutField::kUnsigned, nullptr},
    {"salt_size", 12, 4, 1, LayoutField::kUnsigned, nullptr},
    {"salt_ptr", 16, 8, 1, LayoutField::kUnsigned, nullptr},
    {"sig_size", 24, 4, 1, LayoutField::kUnsigned, nullptr},
    {"sig_ptr", 32, 8, 1, LayoutField::kUnsigned, nullptr},
};
inline constexpr Layout kFsverityEnableArg{"fsverity_enable_arg", 128, kFsverityEnableArgFields};
inline constexpr LayoutField kFsverityDigestFields[] = {
    {"digest_algorithm", 0, 2, 1, LayoutField::kUnsigned, nullptr},
    {"digest_size", 2, 2, 1, LayoutField::kUnsigned, nullptr},
};
inline constexpr Layout kFsverityDigest{"fsverity_digest", 4, kFsverityDigestFields};
inline constexpr LayoutField kMntNsInfoFields[] = {
    {"size", 0, 4, 1, LayoutField::kUnsigned, nullptr},
    {"nr_mounts", 4, 4, 1, LayoutField::kUnsigned, nullptr},
    {"mnt_ns_id", 8, 8, 1, LayoutField::kUnsigned, nullptr},
};
inline constexpr Layout kMntNsInfo{"mnt_ns_info", 16, kMntNsInfoFields};
inline constexpr LayoutField kPidfdInfoFields[] = {
    {"mask", 0, 8, 1, LayoutField::kUnsigned, nullptr},
    {"cgroupid", 8, 8, 1, LayoutField::kUnsigned, nullptr},
    {"pid", 16, 4, 1, LayoutField::kUnsigned, nullptr},
    {"tgid", 20, 4, 1, LayoutField::kUnsigned, nullptr},
    {"ppid", 24, 4, 1, LayoutField::kUnsigned, nullptr},
    {"ruid", 28, 4, 1, LayoutField::kUnsigned, nullptr},
    {"rgid", 32, 4, 1, LayoutField::kUnsigned, nullptr},
    {"euid", 36, 4, 1, LayoutField::kUnsigned, nullptr},
    {"egid", 40, 4, 1, LayoutField::kUnsigned, nullptr},
    {"suid", 44, 4, 1, LayoutField::kUnsigned, nullptr},
    {"sgid", 48, 4, 1, LayoutField::kUnsigned, nullptr},
    {"fsuid", 52, 4, 1, LayoutField::kUnsigned, nullptr},
    {"fsgid", 56, 4, 1, LayoutField::kUnsigned, nullptr},
    {"exit_code", 60, 4, 1, LayoutField::kSigned, nullptr},
    {"coredump_mask", 64, 4, 1, LayoutField::kUnsigned, nullptr},
    {"coredump_signal", 68, 4, 1, LayoutField::kUnsigned, nullptr},
    {"coredump_code", 72, 4, 1, LayoutField::kUnsigned, nullptr},
    {"coredump_pad", 76, 4, 1, LayoutField::kUnsigned, nullptr},
    {"supported_mask", 80, 8, 1, LayoutField::kUnsigned, nullptr},
};
inline constexpr Layout kPidfdInfo{"pidfd_info", 88, kPidfdInfoFields};
inline constexpr LayoutField kRtcTimeFields[] = {
    {"tm_sec", 0, 4, 1, LayoutField::kSigned, nullptr},
    {"tm_min", 4, 4, 1, LayoutField::kSigned, nullptr},
    {"tm_hour", 8, 4, 1, LayoutField::kSigned, nullptr},
    {"tm_mday", 12, 4, 1, LayoutField::kSigned, nullptr},
    {"tm_mon", 16, 4, 1, LayoutField::kSigned, nullptr},
    {"tm_year", 20, 4, 1, LayoutField::kSigned, nullptr},
    {"tm_wday", 24, 4, 1, LayoutField::kSigned, nullptr},
    {"tm_yday", 28, 4, 1, LayoutField::kSigned, nullptr},
    {"tm_isdst", 32, 4, 1, LayoutField::kSigned, nullptr},
};
inline constexpr Layout kRtcTime{"rtc_time", 36, kRtcTimeFields};
inline constexpr LayoutField kRtcWkalrmFields[] = {
    {"enabled", 0, 1, 1, LayoutField::kUnsigned, nullptr},
    {"pending", 1, 1, 1, LayoutField::kUnsigned, nullptr},
    {"time", 4, 36, 1, LayoutField::kLayout, &kRtcTime},
};
inline constexpr Layout kRtcWkalrm{"rtc_wkalrm", 40, kRtcWkalrmFields};
inline constexpr LayoutField kRtcPllInfoFields[] = {
    {"pll_ctrl", 0, 4, 1, LayoutField::kSigned, nullptr},
    {"pll_value", 4, 4, 1, LayoutField::kSigned, nullptr},
    {"pll_max", 8, 4, 1, LayoutField::kSigned, nullptr},
    {"pll_min", 12, 4, 1, LayoutField::kSigned, nullptr},
    {"pll_posmult", 16, 4, 1, LayoutField::kSigned, nullptr},
    {"pll_negmult", 20, 4, 1, LayoutField::kSigned, nullptr},
    {"pll_clock", 24, 8, 1, LayoutField::kSigned, nullptr},
};
inline constexpr Layout kRtcPllInfo{"rtc_pll_info", 32, kRtcPllInfoFields};
inline constexpr LayoutField kRtcParamFields[] = {
    {"param", 0, 8, 1, LayoutField::kUnsigned, nullptr},
    {"uvalue", 8, 8, 1, LayoutField::kUnsigned, nullptr},
    {"index", 16, 4, 1, LayoutField::kUnsigned, nullptr},
};
inline constexpr Layout kRtcParam{"rtc_param", 24, kRtcParamFields};
inline constexpr LayoutField kUffdioApiFields[] = {
    {"api", 0, 8, 1, LayoutField::kUnsigned, nullptr},
    {"features", 8, 8, 1, LayoutField::kUnsigned, nullptr},
    {"ioctls", 16, 8, 1, LayoutField::kUnsigned, nullptr},
};
inline constexpr Layout kUffdioApi{"uffdio_api", 24, kUffdioApiFields};
inline constexpr LayoutField kUffdioRangeFields[] = {
    {"start", 0, 8, 1, LayoutField::kUnsigned, nullptr},
    {"len", 8, 8, 1, LayoutField::kUnsigned, nullptr},
};
inline constexpr Layout kUffdioRange{"uffdio_range", 16, kUffdioRangeFields};
inline constexpr LayoutField kUffdioRegisterFields[] = {
    {"range", 0, 16, 1, LayoutField::kLayout, &kUffdioRange},
    {"mode", 16, 8, 1, LayoutField::kUnsigned, nullptr},
    {"ioctls", 24, 8, 1, LayoutField::kUnsigned, nullptr},
};
inline constexpr Layout kUffdioRegister{"uffdio_register", 32, kUffdioRegisterFields};
inline constexpr LayoutField kUffdioCopyFields[] = {
    {"dst", 0, 8, 1, LayoutField::kUnsigned, nullptr},
    {"src", 8, 8, 1, LayoutField::kUnsigned, nullptr},
    {"len", 16, 8, 1, LayoutField::kUnsigned, nullptr},
    {"mode", 24, 8, 1, LayoutField::kUnsigned, nullptr},
    {"copy", 32, 8, 1, LayoutField::kSigned, nullptr},
};
inline constexpr Layout kUffdioCopy{"uffdio_copy", 40, kUffdioCopyFields};
inline constexpr LayoutField kUffdioZeropageFields[] = {
    {"range", 0, 16, 1, LayoutField::kLayout, &kUffdioRange},
    {"mode", 16, 8, 1, LayoutField::kUnsigned, nullptr},
    {"zeropage", 24, 8, 1, LayoutField::kSigned, nullptr},
};
inline constexpr Layout kUffdioZeropage{"uffdio_zeropage", 32, kUffdioZeropageFields};
inline constexpr LayoutField kUffdioMoveFields[] = {
    {"dst", 0, 8, 1, LayoutField::kUnsigned, nullptr},
    {"src", 8, 8, 1, LayoutField::kUnsigned, nullptr},
    {"len", 16, 8, 1, LayoutField::kUnsigned, nullptr},
    {"mode", 24, 8, 1, LayoutField::kUnsigned, nullptr},
    {"move", 32, 8, 1, LayoutField::kSigned, nullptr},
};
inline constexpr Layout kUffdioMove{"uffdio_move", 40, kUffdioMoveFields};
inline constexpr LayoutField kUffdioWriteprotectFields[] = {
    {"range", 0, 16, 1, LayoutField::kLayout, &kUffdioRange},
    {"mode", 16, 8, 1, LayoutField::kUnsigned, nullptr},
};
inline constexpr Layout kUffdioWriteprotect{"uffdio_writeprotect", 24, kUffdioWriteprotectFields};
inline constexpr LayoutField kUffdioContinueFields[] = {
    {"range", 0, 16, 1, LayoutField::kLayout, &kUffdioRange},
    {"mode", 16, 8, 1, LayoutField::kUnsigned, nullptr},
    {"mapped", 24, 8, 1, LayoutField::kSigned, nullptr},
};
inline constexpr Layout kUffdioContinue{"uffdio_continue", 32, kUffdioContinueFields};
inline constexpr LayoutField kUffdioPoisonFields[] = {
    {"range", 0, 16, 1, LayoutField::kLayout, &kUffdioRange},
    {"mode", 16, 8, 1, LayoutField::kUnsigned, nullptr},
    {"updated", 24, 8, 1, LayoutField::kSigned, nullptr},
};
inline constexpr Layout kUffdioPoison{"uffdio_poison", 32, kUffdioPoisonFields};
inline constexpr LayoutField kWatchdogInfoFields[] = {
    {"options", 0, 4, 1, LayoutField::kUnsigned, nullptr},
    {"firmware_version", 4, 4, 1, LayoutField::kUnsigned, nullptr},
    {"identity", 8, 1, 32, LayoutField::kText, nullptr},
};
inline constexpr Layout kWatchdogInfo{"watchdog_info", 40, kWatchdogInfoFields};
inline constexpr CommandLayout kIoctls[] = {
    {0x40021beb, &kUnsigned16},
    {0x40026102, &kUnsigned16},
    {0x400261f2, &kUnsigned16},
    {0x400261f3, &kUnsigned16},
    {0x40026304, &kUnsigned16},
    {0x40026306, &kUnsigned16},
    {0x40026f33, &kUnsigned16},
    {0x40026f34, &kUnsigned16},
    {0x40041b02, &kUnsigned32},
    {0x40041be8, &kSigned32},
    {0x40041be9, &kSigned32},
    {0x40042408, &kUnsigned32},
    {0x40042409, &kUnsigned32},
    {0x40043311, &kSigned32},
    {0x40043d04, &kSigned32},
    {0x40043d0d, &kSigned32},
    {0x40043d14, &kUnsigned32},
    {0x40044102, &kSigned32},
    {0x40044103, &kSigned32},
    {0x40044104, &kSigned32},
    {0x40044107, &kSigned32},
    {0x40044145, &kSigned32},
    {0x40044160, &kSigned32},
    {0x4004420d, &kSigned32},
    {0x40044581, &kSigned32},
    {0x40044590, &kSigned32},
    {0x40044591, &kSigned32},
    {0x400445a0, &kSigned32},
    {0x40044620, &kUnsigned32},
    {0x40044802, &kUnsigned32},
    {0x4004480d, &kSigned32},
    {0x4004480f, &kSigned32},
    {0x40044820, &kSigned32},
    {0x40044825, &kSigned32},
    {0x40044826, &kSigned32},
    {0x40044883, &kSigned32},
    {0x40044884, &kSigned32},
    {0x40044900, &kSigned32},
    {0x40044c00, &kUnsigned32},
    {0x40044d0e, &kSigned32},
    {0x40044e86, &kUnsigned32},
    {0x40044f01, &kSigned32},
    {0x40044f02, &kSigned32},
    {0x40044f04, &kSigned32},
    {0x40045003, &kSigned32},
    {0x40045007, &kSigned32},
    {0x40045008, &kSigned32},
    {0x40045201, &kSigned32},
    {0x40045202, &kUnsigned32},
    {0x40045304, &kSigned32},
    {0x40045362, &kSigned32},
    {0x40045402, &kSigned32},
    {0x40045431, &kSigned32},
    {0x40045436, &kSigned32},
    {0x400454a4, &kSigned32},
    {0x400454c8, &kSigned32},
    {0x400454c9, &kSigned32},
    {0x400454cb, &kSigned32},
    {0x400454cc, &kSigned32},
    {0x400454cd, &kSigned32},
    {0x400454ce, &kSigned32},
    {0x400454d0, &kUnsigned32},
    {0x400454d1, &kUnsigned32},
    {0x400454d4, &kSigned32},
    {0x400454d8, &kSigned32},
    {0x400454da, &kUnsigned32},
    {0x400454dc, &kSigned32},
    {0x400454de, &kSigned32},
    {0x400454e2, &kSigned32},
    {0x40045506, &kUnsigned32},
    {0x4004550a, &kUnsigned32},
    {0x4004550c, &kUnsigned32},
    {0x4004550d, &kUnsigned32},
    {0x4004550e, &kUnsigned32},
    {0x4004550f, &kUnsigned32},
    {0x4004551e, &kUnsigned32},
    {0x40045532, &kSigned32},
    {0x40045542, &kSigned32},
    {0x40045564, &kSigned32},
    {0x40045565, &kSigned32},
    {0x40045566, &kSigned32},
    {0x40045567, &kSigned32},
    {0x40045568, &kSigned32},
    {0x40045569, &kSigned32},
    {0x4004556a, &kSigned32},
    {0x4004556b, &kSigned32},
    {0x4004556d, &kSigned32},
    {0x4004556e, &kSigned32},
    {0x4004560e, &kSigned32},
    {0x40045612, &kSigned32},
    {0x40045613, &kSigned32},
    {0x40045644, &kUnsigned32},
    {0x40045702, &kSigned32},
    {0x40045730, &kSigned32},
    {0x40045731, &kSigned32},
    {0x40045b0a, &kUnsigned32},
    {0x40045b17, &kUnsigned32},
    {0x40046109, &kUnsigned32},
    {0x40046115, &kSigned32},
    {0x400461f1, &kSigned32},
    {0x40046201, &kUnsigned32},
    {0x40046305, &kSigned32},
    {0x40046602, &kSigned32},
    {0x40046604, &kSigned32},
    {0x40046606, &kSigned32},
    {0x40046607, &kUnsigned32},
    {0x40046629, &kUnsigned32},
    {0x4004662b, &kUnsigned32},
    {0x40046783, &kSigned32},
    {0x40046784, &kSigned32},
    {0x40046911, &kUnsigned32},
    {0x40046912, &kUnsigned32},
    {0x40046913, &kUnsigned32},
    {0x40046914, &kUnsigned32},
    {0x40046915, &kUnsigned32},
    {0x40046917, &kUnsigned32},
    {0x40046918, &kUnsigned32},
    {0x40046919, &kUnsigned32},
    {0x4004691d, &kUnsigned32},
    {0x40046923, &kUnsigned32},
    {0x40046992, &kSigned32},
    {0x40046993, &kSigned32},
    {0x40046b04, &kUnsigned32},
    {0x40046b05, &kUnsigned32},
    {0x40046efa, &kUnsigned32},
    {0x40046f01, &kSigned32},
    {0x40046f04, &kSigned32},
    {0x40046f05, &kSigned32},
    {0x40046f41, &kSigned32},
    {0x40047080, &kSigned32},
    {0x40047090, &kSigned32},
    {0x40047091, &kSigned32},
    {0x40047094, &kSigned32},
    {0x4004709b, &kSigned32},
    {0x40047211, &kUnsigned32},
    {0x40047300, &kUnsigned32},
    {0x40047301, &kUnsigned32},
    {0x40047302, &kSigned32},
    {0x40047303, &kUnsigned32},
    {0x40047435, &kSigned32},
    {0x40047438, &kSigned32},
    {0x4004743a, &kSigned32},
    {0x4004743b, &kSigned32},
    {0x4004743c, &kSigned32},
    {0x4004743d, &kSigned32},
    {0x40047440, &kSigned32},
    {0x40047451, &kSigned32},
    {0x40047452, &kSigned32},
    {0x40047454, &kSigned32},
    {0x40047457, &kSigned32},
    {0x40047459, &kSigned32},
    {0x40047602, &kSigned32},
    {0x40048117, &kUnsigned32},
    {0x40049366, &kSigned32},
    {0x40049409, &kSigned32},
    {0x40049421, &kSigned32},
    {0x40049801, &kSigned32},
    {0x4004aec2, &kSigned32},
    {0x4004af07, &kSigned32},
    {0x4004af42, &kSigned32},
    {0x4004af43, &kUnsigned32},
    {0x4004af44, &kUnsigned32},
    {0x4004af61, &kSigned32},
    {0x4004af77, &kSigned32},
    {0x4004b681, &kSigned32},
    {0x4004b682, &kSigned32},
    {0x4004b701, &kSigned32},
    {0x4004b800, &kUnsigned32},
    {0x4004e502, &kUnsigned32},
    {0x4004ee01, &kUnsigned32},
    {0x4004ee02, &kUnsigned32},
    {0x4004ee03, &kUnsigned32},
    {0x4004ee04, &kUnsigned32},
    {0x4004f303, &kUnsigned32},
    {0x4004f304, &kUnsigned32},
    {0x4004f306, &kUnsigned32},
    {0x4004f506, &kUnsigned32},
    {0x4004f50d, &kUnsigned32},
    {0x4004f51b, &kUnsigned32},
    {0x40081271, &kSigned32},
    {0x40081bea, &kUnsigned64},
    {0x40082404, &kUnsigned64},
    {0x40082502, &kUnsigned64},
    {0x40084004, &kUnsigned64},
    {0x40084146, &kUnsigned64},
    {0x40084149, &kUnsigned64},
    {0x40084202, &kUnsigned64},
    {0x40084361, &kUnsigned64},
    {0x40084363, &kUnsigned64},
    {0x40084d0b, &kSigned64},
    {0x40084d0c, &kSigned64},
    {0x40084f00, &kSigned64},
    {0x40085004, &kUnsigned64},
    {0x40085005, &kUnsigned64},
    {0x40085006, &kUnsigned64},
    {0x40085400, &kUnsigned64},
    {0x40085618, &kUnsigned64},
    {0x40086201, &kUnsigned64},
    {0x40086602, &kSigned32},
    {0x40086604, &kSigned32},
    {0x40086606, &kSigned64},
    {0x40086607, &kUnsigned64},
    {0x40086608, &kUnsigned64},
    {0x40086610, &kUnsigned64},
    {0x40086806, &kUnsigned64},
    {0x40086ef8, &kUnsigned64},
    {0x40086efa, &kUnsigned64},
    {0x4008700c, &kUnsigned64},
    {0x4008700e, &kUnsigned64},
    {0x40087101, &kUnsigned64},
    {0x40087602, &kSigned32},
    {0x40088101, &kUnsigned64},
    {0x40088a01, &kEpollParams},
    {0x40089413, &kUnsigned64},
    {0x40089416, &kUnsigned64},
    {0x4008941a, &kUnsigned64},
    {0x4008ae48, &kUnsigned64},
    {0x4008ae52, &kUnsigned64},
    {0x4008ae95, &kUnsigned64},
    {0x4008ae9c, &kUnsigned64},
    {0x4008af00, &kUnsigned64},
    {0x4008af04, &kUnsigned64},
    {0x4008af25, &kUnsigned64},
    {0x4008af60, &kUnsigned64},
    {0x4008ca12, &kUnsigned64},
    {0x4008f510, &kUnsigned64},
    {0x400c6615, &kFscryptPolicyV1},
    {0x401054d5, &kSockFprog},
    {0x401054d6, &kSockFprog},
    {0x40187013, &kRtcParam},
    {0x40187014, &kRtcParam},
    {0x401c5820, &kFsxattr},
    {0x40207012, &kRtcPllInfo},
    {0x4020940d, &kFileCloneRange},
    {0x40247007, &kRtcTime},
    {0x4024700a, &kRtcTime},
    {0x4028700f, &kRtcWkalrm},
    {0x40806685, &kFsverityEnableArg},
    {0x800248a0, &kUnsigned16},
    {0x80026101, &kUnsigned16},
    {0x80026f47, &kUnsigned16},
    {0x80026f48, &kUnsigned16},
    {0x80027602, &kUnsigned16},
    {0x80027603, &kUnsigned16},
    {0x80027604, &kUnsigned16},
    {0x80027605, &kUnsigned16},
    {0x8002a52a, &kUnsigned16},
    {0x8002a52b, &kUnsigned16},
    {0x8002af76, &kUnsigned16},
    {0x80041284, &kUnsigned32},
    {0x80041285, &kUnsigned32},
    {0x80041bee, &kSigned32},
    {0x80044100, &kSigned32},
    {0x80044206, &kUnsigned32},
    {0x80044207, &kUnsigned32},
    {0x80044209, &kUnsigned32},
    {0x80044300, &kSigned32},
    {0x80044501, &kSigned32},
    {0x80044584, &kSigned32},
    {0x80044704, &kUnsigned32},
    {0x80044800, &kSigned32},
    {0x80044801, &kSigned32},
    {0x80044803, &kUnsigned32},
    {0x8004480e, &kSigned32},
    {0x80044840, &kSigned32},
    {0x80044880, &kUnsigned32},
    {0x80044884, &kSigned32},
    {0x80044d01, &kSigned32},
    {0x80044d02, &kSigned32},
    {0x80044d03, &kSigned32},
    {0x80044d07, &kSigned32},
    {0x80044d0d, &kSigned32},
    {0x80044e88, &kUnsigned32},
    {0x80044e89, &kUnsigned32},
    {0x80044e8a, &kUnsigned32},
    {0x80044f05, &kSigned32},
    {0x80045200, &kSigned32},
    {0x80045300, &kSigned32},
    {0x80045301, &kSigned32},
    {0x80045360, &kSigned32},
    {0x80045400, &kSigned32},
    {0x80045430, &kUnsigned32},
    {0x80045432, &kUnsigned32},
    {0x80045438, &kSigned32},
    {0x80045439, &kSigned32},
    {0x80045440, &kSigned32},
    {0x800454cf, &kUnsigned32},
    {0x800454d3, &kSigned32},
    {0x800454d7, &kSigned32},
    {0x800454dd, &kSigned32},
    {0x800454df, &kSigned32},
    {0x800454e0, &kSigned32},
    {0x800454e1, &kSigned32},
    {0x80045500, &kSigned32},
    {0x80045503, &kUnsigned32},
    {0x80045505, &kUnsigned32},
    {0x8004550f, &kUnsigned32},
    {0x80045510, &kUnsigned32},
    {0x80045515, &kUnsigned32},
    {0x80045518, &kUnsigned32},
    {0x80045519, &kUnsigned32},
    {0x8004551a, &kUnsigned32},
    {0x8004552d, &kUnsigned32},
    {0x80045530, &kSigned32},
    {0x800455d1, &kSigned32},
    {0x80045626, &kSigned32},
    {0x8004562e, &kSigned32},
    {0x80045643, &kUnsigned32},
    {0x80045700, &kSigned32},
    {0x80045701, &kSigned32},
    {0x80045702, &kSigned32},
    {0x80045703, &kSigned32},
    {0x80045704, &kSigned32},
    {0x80045705, &kSigned32},
    {0x80045707, &kSigned32},
    {0x80045709, &kSigned32},
    {0x8004570a, &kSigned32},
    {0x8004587d, &kUnsigned32},
    {0x80045b09, &kUnsigned32},
    {0x80045b10, &kUnsigned32},
    {0x80046108, &kUnsigned32},
    {0x80046114, &kSigned32},
    {0x80046116, &kSigned32},
    {0x80046304, &kSigned32},
    {0x80046601, &kSigned32},
    {0x80046603, &kSigned32},
    {0x80046605, &kSigned32},
    {0x80046900, &kUnsigned32},
    {0x80046901, &kUnsigned32},
    {0x80046902, &kUnsigned32},
    {0x80046907, &kUnsigned32},
    {0x80046908, &kUnsigned32},
    {0x80046909, &kUnsigned32},
    {0x8004690f, &kUnsigned32},
    {0x80046910, &kSigned32},
    {0x80046911, &kUnsigned32},
    {0x80046912, &kUnsigned32},
    {0x80046913, &kUnsigned32},
    {0x80046914, &kUnsigned32},
    {0x8004691e, &kSigned32},
    {0x80046924, &kUnsigned32},
    {0x80046980, &kSigned32},
    {0x80046981, &kSigned32},
    {0x80046990, &kSigned32},
    {0x80046a01, &kUnsigned32},
    {0x80046b04, &kUnsigned32},
    {0x80046b05, &kUnsigned32},
    {0x80046c40, &kSigned32},
    {0x80046ef8, &kUnsigned32},
    {0x80046ef9, &kUnsigned32},
    {0x80046efa, &kUnsigned32},
    {0x80046f0b, &kUnsigned32},
    {0x80046f21, &kUnsigned32},
    {0x80046f45, &kUnsigned32},
    {0x80046f46, &kUnsigned32},
    {0x80046f49, &kUnsigned32},
    {0x80047013, &kUnsigned32},
    {0x80047093, &kSigned32},
    {0x80047097, &kUnsigned32},
    {0x80047098, &kSigned32},
    {0x80047099, &kSigned32},
    {0x8004709a, &kSigned32},
    {0x80047210, &kUnsigned32},
    {0x80047213, &kUnsigned32},
    {0x80047300, &kUnsigned32},
    {0x80047437, &kSigned32},
    {0x80047441, &kSigned32},
    {0x80047453, &kSigned32},
    {0x80047455, &kSigned32},
    {0x80047456, &kSigned32},
    {0x80047458, &kSigned32},
    {0x8004745a, &kSigned32},
    {0x80047601, &kSigned32},
    {0x80047c05, &kSigned32},
    {0x80049363, &kSigned32},
    {0x80049367, &kSigned32},
    {0x80049370, &kSigned32},
    {0x8004a524, &kUnsigned32},
    {0x8004af70, &kUnsigned32},
    {0x8004af79, &kUnsigned32},
    {0x8004af7a, &kUnsigned32},
    {0x8004af80, &kUnsigned32},
    {0x8004af81, &kUnsigned32},
    {0x8004b505, &kSigned32},
    {0x8004b506, &kSigned32},
    {0x8004b645, &kUnsigned32},
    {0x8004b647, &kUnsigned32},
    {0x8004b683, &kUnsigned32},
    {0x8004b702, &kSigned32},
    {0x8004b706, &kSigned32},
    {0x8004b707, &kSigned32},
    {0x8004b708, &kSigned32},
    {0x8004b709, &kSigned32},
    {0x8004e500, &kUnsigned32},
    {0x8004f300, &kUnsigned32},
    {0x8004f302, &kUnsigned32},
    {0x8004f303, &kUnsigned32},
    {0x8004f304, &kUnsigned32},
    {0x8004f50c, &kUnsigned32},
    {0x8004f50e, &kUnsigned32},
    {0x8004f51a, &kUnsigned32},
    {0x80081270, &kSigned32},
    {0x80081272, &kUnsigned64},
    {0x80081280, &kUnsigned64},
    {0x8008330e, &kSigned64},
    {0x80083313, &kSigned64},
    {0x80083314, &kSigned64},
    {0x80084003, &kUnsigned64},
    {0x80084121, &kSigned64},
    {0x80084201, &kUnsigned64},
    {0x80084203, &kUnsigned64},
    {0x80084204, &kUnsigned64},
    {0x80084205, &kUnsigned64},
    {0x80084206, &kUnsigned64},
    {0x80084689, &kUnsigned64},
    {0x80085617, &kUnsigned64},
    {0x8008563f, &kUnsigned64},
    {0x80086301, &kUnsigned64},
    {0x80086601, &kSigned32},
    {0x80086603, &kSigned32},
    {0x80086605, &kSigned64},
    {0x80086982, &kUnsigned64},
    {0x80086983, &kUnsigned64},
    {0x80086984, &kUnsigned64},
    {0x80086d01, &kUnsigned64},
    {0x80086d02, &kUnsigned64},
    {0x80086d09, &kUnsigned64},
    {0x80086ef8, &kUnsigned64},
    {0x80086ef9, &kUnsigned64},
    {0x80086efb, &kUnsigned64},
    {0x80086f39, &kUnsigned64},
    {0x80086f3a, &kUnsigned64},
    {0x8008700b, &kUnsigned64},
    {0x8008700d, &kUnsigned64},
    {0x80087601, &kSigned32},
    {0x80088100, &kUnsigned64},
    {0x80088111, &kUnsigned64},
    {0x80088a02, &kEpollParams},
    {0x80089418, &kUnsigned64},
    {0x80089419, &kUnsigned64},
    {0x8008ae20, &kUnsigned64},
    {0x8008ae9d, &kUnsigned64},
    {0x8008af00, &kUnsigned64},
    {0x8008af26, &kUnsigned64},
    {0x8008b705, &kUnsigned64},
    {0x8008b70d, &kUnsigned64},
    {0x8008ca11, &kUnsigned64},
    {0x8008f511, &kUnsigned64},
    {0x800c6613, &kFscryptPolicyV1},
    {0x801054db, &kSockFprog},
    {0x8010aa01, &kUffdioRange},
    {0x8010aa02, &kUffdioRange},
    {0x8010b70a, &kMntNsInfo},
    {0x8010b70b, &kMntNsInfo},
    {0x8010b70c, &kMntNsInfo},
    {0x80111500, &kFsuuid2},
    {0x801c581f, &kFsxattr},
    {0x80207011, &kRtcPllInfo},
    {0x80247008, &kRtcTime},
    {0x80247009, &kRtcTime},
    {0x80285700, &kWatchdogInfo},
    {0x80287010, &kRtcWkalrm},
    {0x80811501, &kFsSysfsPath},
    {0xc0026303, &kUnsigned16},
    {0xc0044e81, &kUnsigned32},
    {0xc0045202, &kUnsigned32},
    {0xc0045516, &kSigned32},
    {0xc0045520, &kSigned32},
    {0xc0045540, &kSigned32},
    {0xc0045543, &kSigned32},
    {0xc00455d0, &kSigned32},
    {0xc0045627, &kSigned32},
    {0xc004562f, &kSigned32},
    {0xc0045706, &kSigned32},
    {0xc0045708, &kSigned32},
    {0xc0045877, &kSigned32},
    {0xc0045878, &kSigned32},
    {0xc0045b0f, &kUnsigned32},
    {0xc0046112, &kSigned32},
    {0xc0046113, &kSigned32},
    {0xc0046301, &kUnsigned32},
    {0xc0046302, &kUnsigned32},
    {0xc004630b, &kUnsigned32},
    {0xc0046686, &kFsverityDigest},
    {0xc0046991, &kSigned32},
    {0xc0047310, &kSigned32},
    {0xc004743e, &kSigned32},
    {0xc004ae21, &kUnsigned32},
    {0xc004aea7, &kUnsigned32},
    {0xc004b40c, &kUnsigned32},
    {0xc0086985, &kUnsigned64},
    {0xc0086986, &kUnsigned64},
    {0xc0086987, &kUnsigned64},
    {0xc0086c43, &kSigned64},
    {0xc0086efa, &kUnsigned64},
    {0xc0087301, &kUnsigned64},
    {0xc0087305, &kUnsigned64},
    {0xc0089364, &kUnsigned64},
    {0xc008aeba, &kUnsigned64},
    {0xc0101502, &kLogicalBlockMetadataCap},
    {0xc0185879, &kFstrimRange},
    {0xc0189436, &kFileDedupeRange},
    {0xc018aa06, &kUffdioWriteprotect},
    {0xc018aa3f, &kUffdioApi},
    {0xc020aa00, &kUffdioRegister},
    {0xc020aa04, &kUffdioZeropage},
    {0xc020aa07, &kUffdioContinue},
    {0xc020aa08, &kUffdioPoison},
    {0xc028aa03, &kUffdioCopy},
    {0xc028aa05, &kUffdioMove},
    {0xc0406618, &kFscryptRemoveKeyArg},
    {0xc0406619, &kFscryptRemoveKeyArg},
    {0xc0506617, &kFscryptAddKeyArg},
    {0xc058ff0b, &kPidfdInfo},
    {0xc0606610, &kPmScanArg},
    {0xc0686611, &kProcmapQuery},
    {0xc080661a, &kFscryptGetKeyStatusArg},
    {0xc0c0583b, &kFsmapHead},
};

}  // namespace uscope::syscalls::layouts
