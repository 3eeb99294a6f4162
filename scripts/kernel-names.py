#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later OR MIT
"""Makes syscalls/kernel_names.h, the names of the numbers and bits that system calls take, and syscalls/kernel_layouts.h, the fields of
structures that they take, from the kernel's own (UAPI) headers.

    kernel-names.py HEADERS VERSION > syscalls/kernel_names.h
    kernel-names.py --layouts HEADERS VERSION > syscalls/kernel_layouts.h

HEADERS is a folder as Debian's linux-libc-dev has it below usr/include, VERSION that package's version. GROUPS says which names belong
together, and in which headers they are. A name is a candidate if a group's pattern matches it; clang evaluates all candidates, and one that
is no constant is left out. The fields are those of the BTF that clang makes of STRUCTURES. tests/layout/kernel_names.py compares the tables with the headers that are installed.
"""

import json
import os
import re
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor

ENUMERATION, FLAGS = "enumeration", "flags"

# Names that are bounds, masks and the like in any group.
NO_VALUES = r"\w*(_MAX|_MASK|_LAST|_SHIFT|_NR|_NUM|_BITS|_COUNT|_CNT|_MAX_\w+|MAX_\w+)"

# Names that look so and are none.
VALUES = {"FAN_MARK_IGNORED_MASK"}

# Identifier: kind, headers, pattern of its names, and what matches but does not belong there. Beside an enumeration's older names, those that
# are left out are other names of the same number.
GROUPS = {
    "ArchPrctl": (ENUMERATION, "asm/prctl.h", r"ARCH_\w+", r"ARCH_(SHSTK_\w+|XCOMP\w*|VSYSCALL\w*)"),
    "AtPath": (FLAGS, "linux/fcntl.h", r"AT_(SYMLINK_(NO)?FOLLOW|NO_AUTOMOUNT|EMPTY_PATH)", ""),
    "AtStatx": (FLAGS, "linux/fcntl.h", r"AT_(SYMLINK_(NO)?FOLLOW|NO_AUTOMOUNT|EMPTY_PATH|STATX_(FORCE|DONT)_SYNC)", ""),
    "AtHandle": (FLAGS, "linux/fcntl.h",
                 r"AT_(SYMLINK_FOLLOW|EMPTY_PATH|HANDLE_\w+)", ""),
    "AtExec": (FLAGS, "linux/fcntl.h", r"AT_(SYMLINK_NOFOLLOW|EMPTY_PATH|EXECVE_CHECK)", ""),
    "AtUnlink": (FLAGS, "linux/fcntl.h", r"AT_REMOVEDIR", ""),
    "AtAccess": (FLAGS, "linux/fcntl.h", r"AT_(EACCESS|SYMLINK_NOFOLLOW|EMPTY_PATH)", ""),
    "AtTree": (FLAGS, "linux/fcntl.h linux/mount.h",
               r"AT_(SYMLINK_NOFOLLOW|NO_AUTOMOUNT|EMPTY_PATH|RECURSIVE)|OPEN_TREE_\w+", ""),
    "BpfElement": (FLAGS, "linux/bpf.h", r"BPF_(NOEXIST|EXIST)|BPF_F_(LOCK|CPU|ALL_CPUS)", ""),
    "BpfProgramFlag": (FLAGS, "linux/bpf.h",
                       r"BPF_F_(STRICT_ALIGNMENT|ANY_ALIGNMENT|TEST_\w+|SLEEPABLE|XDP_HAS_FRAGS|XDP_DEV_BOUND_ONLY)", r"BPF_F_TEST_(RUN|XDP|SKB)\w*"),
    "BpfCommand": (ENUMERATION, "linux/bpf.h",
                   r"BPF_((MAP|PROG|OBJ|BTF|RAW_TRACEPOINT|TASK_FD|ENABLE|LINK|ITER|TOKEN)_\w+)",
                   r"BPF_(PROG_TYPE_\w+|MAP_TYPE_\w+|PROG_RUN|LINK_TYPE_\w+|\w+_ID_\w+_MAX|PROG_(?!LOAD|ATTACH|DETACH|TEST|GET|QUERY|BIND|STREAM|ASSOC)\w+"
                   r"|MAP_(?!CREATE|LOOKUP|UPDATE|DELETE|GET|FREEZE)\w+|TASK_FD_(?!QUERY)\w+|BTF_(?!LOAD|GET)\w+|OBJ_(?!PIN|GET)\w+"
                   r"|ENABLE_(?!STATS)\w+|RAW_TRACEPOINT_(?!OPEN)\w+|ITER_(?!CREATE)\w+|LINK_(?!CREATE|UPDATE|GET|DETACH)\w+|BTF_ID)"),
    "BpfMapType": (ENUMERATION, "linux/bpf.h", r"BPF_MAP_TYPE_\w+", r"BPF_MAP_TYPE_\w+_DEPRECATED"),
    "BpfProgramType": (ENUMERATION, "linux/bpf.h", r"BPF_PROG_TYPE_\w+", ""),
    "BpfAttachType": (ENUMERATION, "linux/bpf.h",
                      r"BPF_(CGROUP|SK|TRACE|MODIFY|LSM|XDP|PERF|TCX|STRUCT|NETFILTER|NETKIT|FLOW|LIRC)_\w+|BPF_(XDP|NETFILTER)",
                      r"BPF_(CGROUP_ITER_\w+|SK_(STORAGE|LOOKUP_F|LOOKUP_R|RCV|RCVBUF)\w*|\w+_F_\w+|XDP_(PASS|DROP)|TRACE_ITER_\w+|STRUCT_OPS_\w+|PERF_EVENT_\w+"
                      r"|FLOW_DISSECTOR_\w+)"),
    "BpfMapFlag": (FLAGS, "linux/bpf.h",
                   r"BPF_F_(NO_PREALLOC|NO_COMMON_LRU|NUMA_NODE|RDONLY|WRONLY|STACK_BUILD_ID|ZERO_SEED|RDONLY_PROG|WRONLY_PROG|CLONE|MMAPABLE|PRESERVE_ELEMS"
                   r"|INNER_MAP|LINK|PATH_FD|VTYPE_BTF_OBJ_FD|TOKEN_FD|SEGV_ON_FAULT|NO_USER_CONV|RB_OVERWRITE)", ""),
    "Clock": (ENUMERATION, "linux/time.h", r"CLOCK_\w+", r"CLOCK_(SGI_CYCLE|AUX)"),
    "Clone": (FLAGS, "linux/sched.h", r"CLONE_\w+", r"CLONE_(ARGS_\w+|NEWTIME)"),
    "Clone3": (FLAGS, "linux/sched.h", r"CLONE_\w+", r"CLONE_(ARGS_\w+|DETACHED)"),
    "NamespaceType": (FLAGS, "linux/nsfs.h", r"[A-Z]+_NS", ""),
    "Namespace": (FLAGS, "linux/sched.h", r"CLONE_(NEW\w+|VM|FS|FILES|SIGHAND|THREAD|SYSVSEM)", ""),
    "CloseRange": (FLAGS, "linux/close_range.h", r"CLOSE_RANGE_\w+", ""),
    "Epoll": (FLAGS, "linux/eventpoll.h linux/fcntl.h", r"EPOLL_CLOEXEC", ""),
    "EpollOp": (ENUMERATION, "linux/eventpoll.h", r"EPOLL_CTL_\w+", ""),
    "EpollEvent": (FLAGS, "linux/eventpoll.h", r"EPOLL[A-Z]+", ""),
    "EventFd": (FLAGS, "linux/eventfd.h", r"EFD_\w+", ""),
    "Fadvise": (ENUMERATION, "linux/fadvise.h", r"POSIX_FADV_\w+", ""),
    "Fallocate": (FLAGS, "linux/falloc.h", r"FALLOC_FL_\w+", r"FALLOC_FL_NO_HIDE_STALE"),
    "FanotifyInit": (FLAGS, "linux/fanotify.h", r"FAN_(CLOEXEC|NONBLOCK|UNLIMITED_\w+|ENABLE_AUDIT|REPORT_\w+)", r"FAN_REPORT_DFID_NAME\w*"),
    "FanotifyClass": (ENUMERATION, "linux/fanotify.h", r"FAN_CLASS_\w+", ""),
    "FanotifyMark": (FLAGS, "linux/fanotify.h", r"FAN_MARK_\w+", r"FAN_MARK_(INODE|IGNORE_SURV)"),
    "FanotifyEvent": (FLAGS, "linux/fanotify.h",
                      r"FAN_(ACCESS|MODIFY|ATTRIB|CLOSE_\w+|OPEN\w*|MOVED_\w+|CREATE|DELETE\w*|MOVE_SELF|Q_OVERFLOW|FS_ERROR|"
                      r"RENAME|ONDIR|EVENT_ON_CHILD|ACCESS_PERM|PRE_ACCESS|MNT_\w+)", ""),
    "Fcntl": (ENUMERATION, "linux/fcntl.h", r"F_[A-Z]\w+",
              r"F_(LINUX_SPECIFIC_BASE|(RD|WR|UN|EX|SH)LCK|OWNER_\w+|SEAL_\w+|[A-Z]+LK64W?|OK)"),
    "LockType": (ENUMERATION, "linux/fcntl.h", r"F_(RD|WR|UN)LCK", ""),
    "LeaseType": (ENUMERATION, "linux/fcntl.h", r"F_(RD|WR|UN)LCK", ""),
    "OwnerType": (ENUMERATION, "linux/fcntl.h", r"F_OWNER_\w+", ""),
    "WriteHint": (ENUMERATION, "linux/fcntl.h", r"RWH_WRITE_LIFE_\w+", ""),
    "Seal": (FLAGS, "linux/fcntl.h", r"F_SEAL_\w+", ""),
    "Notify": (FLAGS, "linux/fcntl.h", r"DN_\w+", ""),
    "FdFlag": (FLAGS, "linux/fcntl.h", r"FD_CLOEXEC", ""),
    "Flock": (ENUMERATION, "linux/fcntl.h", r"LOCK_(SH|EX|UN)", ""),
    "FlockFlag": (FLAGS, "linux/fcntl.h", r"LOCK_NB", ""),
    "FsConfig": (ENUMERATION, "linux/mount.h", r"FSCONFIG_\w+", ""),
    "FsMount": (FLAGS, "linux/mount.h", r"FSMOUNT_\w+", ""),
    "FsOpen": (FLAGS, "linux/mount.h", r"FSOPEN_\w+", ""),
    "FsPick": (FLAGS, "linux/mount.h", r"FSPICK_\w+", ""),
    "Futex": (ENUMERATION, "linux/futex.h", r"FUTEX_[A-Z]\w+",
              r"FUTEX_(PRIVATE_FLAG|CLOCK_REALTIME|CMD_\w+|\w+_PRIVATE|WAITERS|OWNER_DIED|TID_\w+|BITSET_\w+|OP_\w+|ROBUST_\w+|NO_NODE|UNLOCK_\w+_LIST\w+)"),
    "FutexOperation": (ENUMERATION, "linux/futex.h", r"FUTEX_OP_(SET|ADD|OR|ANDN|XOR)", ""),
    "FutexComparison": (ENUMERATION, "linux/futex.h", r"FUTEX_OP_CMP_\w+", ""),
    "FutexFlag": (FLAGS, "linux/futex.h", r"FUTEX_(PRIVATE_FLAG|CLOCK_REALTIME|ROBUST_UNLOCK|ROBUST_LIST32)", ""),
    "Futex2": (FLAGS, "linux/futex.h", r"FUTEX2_(NUMA|MPOL|PRIVATE)", ""),
    "Futex2Size": (ENUMERATION, "linux/futex.h", r"FUTEX2_SIZE_U\w+", ""),
    "Random": (FLAGS, "linux/random.h", r"GRND_\w+", ""),
    "Inotify": (FLAGS, "linux/inotify.h", r"IN_(CLOEXEC|NONBLOCK)", ""),
    "Watch": (FLAGS, "linux/inotify.h", r"IN_[A-Z]\w+", r"IN_(CLOEXEC|NONBLOCK|CLOSE|MOVE|ALL_EVENTS)"),
    "IoPriorityWho": (ENUMERATION, "linux/ioprio.h", r"IOPRIO_WHO_\w+", ""),
    "IoUringRegister": (ENUMERATION, "linux/io_uring.h", r"IORING_(UN)?REGISTER_\w+",
                        r"IORING_REGISTER_(FILES_SKIP|USE_REGISTERED_RING|SRC_\w+|DST_\w+)"),
    "IoUringSetup": (FLAGS, "linux/io_uring.h", r"IORING_SETUP_\w+", ""),
    "IoUringFeature": (FLAGS, "linux/io_uring.h", r"IORING_FEAT_\w+", ""),
    "IoUringEnter": (FLAGS, "linux/io_uring.h", r"IORING_ENTER_\w+", ""),
    "IpcCommand": (ENUMERATION, "linux/ipc.h", r"IPC_(RMID|SET|STAT|INFO)", ""),
    "IpcFlag": (FLAGS, "linux/ipc.h", r"IPC_(CREAT|EXCL|NOWAIT)", ""),
    "MsgCommand": (ENUMERATION, "linux/msg.h", r"IPC_(RMID|SET|STAT|INFO)|MSG_(STAT\w*|INFO)", ""),
    "MsgFlag": (FLAGS, "linux/msg.h", r"IPC_NOWAIT|MSG_(NOERROR|EXCEPT|COPY)", ""),
    "SemCommand": (ENUMERATION, "linux/sem.h",
                   r"IPC_(RMID|SET|STAT|INFO)|SEM_(STAT\w*|INFO)|GETPID|GETVAL|GETALL|GETNCNT|GETZCNT|SETVAL|SETALL", ""),
    "ShmCommand": (ENUMERATION, "linux/shm.h", r"IPC_(RMID|SET|STAT|INFO)|SHM_(STAT\w*|INFO|LOCK|UNLOCK)", r"SHM_LOCKED"),
    "ShmFlag": (FLAGS, "linux/ipc.h linux/shm.h", r"SHM_(HUGETLB|NORESERVE)|IPC_(CREAT|EXCL)", ""),
    "ShmAttach": (FLAGS, "linux/shm.h", r"SHM_(RDONLY|RND|REMAP|EXEC)", ""),
    "Itimer": (ENUMERATION, "linux/time.h", r"ITIMER_\w+", ""),
    "Kcmp": (ENUMERATION, "linux/kcmp.h", r"KCMP_\w+", r"KCMP_TYPES"),
    "KexecArchitecture": (ENUMERATION, "linux/kexec.h", r"KEXEC_ARCH_\w+", ""),
    "Kexec": (FLAGS, "linux/kexec.h", r"KEXEC_[A-Z]\w+", r"KEXEC_(ARCH|FILE)_\w+|KEXEC_SEGMENT\w*|KEXEC_TYPE\w*"),
    "KexecFile": (FLAGS, "linux/kexec.h", r"KEXEC_FILE_\w+", ""),
    "Keyctl": (ENUMERATION, "linux/keyctl.h", r"KEYCTL_[A-Z]\w+", r"KEYCTL_(SUPPORTS_\w+|CAPS\w+|MOVE_EXCL)|KEYCTL_CAPABILITIES_\w+"),
    "KeyRequest": (ENUMERATION, "linux/keyctl.h", r"KEY_REQKEY_DEFL_\w+", ""),
    "Keyring": (ENUMERATION, "linux/keyctl.h", r"KEY_SPEC_\w+|KEY_REQKEY_DEFL_\w+", r"KEY_REQKEY_DEFL_\w+"),
    "LandlockCreate": (FLAGS, "linux/landlock.h", r"LANDLOCK_CREATE_RULESET_\w+", ""),
    "LandlockRule": (ENUMERATION, "linux/landlock.h", r"LANDLOCK_RULE_\w+", ""),
    "LandlockAddRule": (FLAGS, "linux/landlock.h", r"LANDLOCK_ADD_RULE_\w+", ""),
    "LandlockRestrict": (FLAGS, "linux/landlock.h", r"LANDLOCK_RESTRICT_SELF_\w+", ""),
    "LandlockFs": (FLAGS, "linux/landlock.h", r"LANDLOCK_ACCESS_FS_\w+", ""),
    "LandlockNet": (FLAGS, "linux/landlock.h", r"LANDLOCK_ACCESS_NET_\w+", ""),
    "LandlockScope": (FLAGS, "linux/landlock.h", r"LANDLOCK_SCOPE_\w+", ""),
    "LsmAttr": (ENUMERATION, "linux/lsm.h", r"LSM_ATTR_\w+", ""),
    "LsmFlag": (FLAGS, "linux/lsm.h", r"LSM_FLAG_\w+", ""),
    "Madvise": (ENUMERATION, "asm/mman.h", r"MADV_\w+", ""),
    "Map": (FLAGS, "asm/mman.h linux/mman.h", r"MAP_\w+",
            r"MAP_(SHARED\w*|PRIVATE|TYPE|FILE|HUGE_\w+)"),
    "MapKind": (ENUMERATION, "asm/mman.h linux/mman.h", r"MAP_(SHARED|PRIVATE|SHARED_VALIDATE|DROPPABLE)", ""),
    "Membarrier": (ENUMERATION, "linux/membarrier.h", r"MEMBARRIER_CMD_\w+", r"MEMBARRIER_CMD_(SHARED|FLAG\w*)"),
    "MembarrierFlag": (FLAGS, "linux/membarrier.h", r"MEMBARRIER_CMD_FLAG_\w+", ""),
    "Memfd": (FLAGS, "linux/memfd.h", r"MFD_[A-Z]\w+", r"MFD_HUGE_\w+"),
    "Mlock": (FLAGS, "asm/mman.h", r"MLOCK_\w+", ""),
    "MlockAll": (FLAGS, "asm/mman.h", r"MCL_\w+", ""),
    "Mount": (FLAGS, "linux/mount.h", r"MS_[A-Z]\w+", r"MS_(MGC_\w+|RMT_\w+|VERBOSE)"),
    "MountAttr": (FLAGS, "linux/mount.h", r"MOUNT_ATTR_[A-Z_]\w+", r"MOUNT_ATTR_(SIZE_\w+|RELATIME)"),
    "MoveMount": (FLAGS, "linux/mount.h", r"MOVE_MOUNT_\w+", ""),
    "Statmount": (FLAGS, "linux/mount.h", r"STATMOUNT_\w+", r"STATMOUNT_BY_FD"),
    "StatmountFlag": (FLAGS, "linux/mount.h", r"STATMOUNT_BY_FD", ""),
    "Listmount": (FLAGS, "linux/mount.h", r"LISTMOUNT_\w+", ""),
    "Mpol": (ENUMERATION, "linux/mempolicy.h", r"MPOL_[A-Z]\w+", r"MPOL_(F_\w+|MF_\w+)"),
    "MpolMode": (FLAGS, "linux/mempolicy.h", r"MPOL_F_(STATIC_NODES|RELATIVE_NODES|NUMA_BALANCING)", ""),
    "MpolGet": (FLAGS, "linux/mempolicy.h", r"MPOL_F_(NODE|ADDR|MEMS_ALLOWED)", ""),
    "MpolMove": (FLAGS, "linux/mempolicy.h", r"MPOL_MF_(STRICT|MOVE\w*)", ""),
    "Mremap": (FLAGS, "linux/mman.h", r"MREMAP_\w+", ""),
    "Msync": (FLAGS, "asm/mman.h", r"MS_(ASYNC|INVALIDATE|SYNC)", ""),
    "Module": (FLAGS, "linux/module.h", r"MODULE_INIT_\w+", ""),
    "OpenFlag": (FLAGS, "linux/fcntl.h", r"_*O_[A-Z]\w+|FASYNC", r"O_(ACCMODE|RDONLY|WRONLY|RDWR|NDELAY)|O_TMPFILE_\w+"),
    "OpenHow": (FLAGS, "linux/openat2.h", r"OPENAT2_\w+", ""),
    "OpenMode": (ENUMERATION, "linux/fcntl.h", r"O_(RDONLY|WRONLY|RDWR|ACCMODE)", ""),
    "OpenTree": (FLAGS, "linux/mount.h linux/fcntl.h",
                 r"OPEN_TREE_\w+|AT_(SYMLINK_NOFOLLOW|NO_AUTOMOUNT|EMPTY_PATH|RECURSIVE)", ""),
    "Perf": (FLAGS, "linux/perf_event.h", r"PERF_FLAG_\w+", ""),
    "PerfType": (ENUMERATION, "linux/perf_event.h", r"PERF_TYPE_\w+", ""),
    "PerfSample": (FLAGS, "linux/perf_event.h", r"PERF_SAMPLE_[A-Z]\w+", r"PERF_SAMPLE_(BRANCH_(?!STACK\b)\w+|REGS_ABI_\w+|WEIGHT_TYPE)"),
    "PerfRead": (FLAGS, "linux/perf_event.h", r"PERF_FORMAT_\w+", ""),
    "Personality": (ENUMERATION, "linux/personality.h", r"PER_[A-Z]\w+", ""),
    "PersonalityFlag": (FLAGS, "linux/personality.h",
                        r"UNAME26|ADDR_NO_RANDOMIZE|FDPIC_FUNCPTRS|MMAP_PAGE_ZERO|ADDR_COMPAT_LAYOUT|READ_IMPLIES_EXEC|ADDR_LIMIT_\w+|"
                        r"SHORT_INODE|WHOLE_SECONDS|STICKY_TIMEOUTS", ""),
    "PidFd": (FLAGS, "linux/pidfd.h", r"PIDFD_(NONBLOCK|THREAD)", ""),
    "PidFdSignal": (FLAGS, "linux/pidfd.h", r"PIDFD_SIGNAL_\w+", ""),
    "Pkey": (FLAGS, "asm/mman.h", r"PKEY_DISABLE_\w+", ""),
    "PollEvent": (FLAGS, "asm/poll.h", r"POLL[A-Z]+", r"POLLFREE"),
    "Prctl": (ENUMERATION, "linux/prctl.h", r"PR_[A-Z]\w+",
              r"PR_(SET_PTRACER_ANY|SET_MM_\w+|ENDIAN_\w+|FP_\w+|FPEMU_\w+|TIMING_\w+|TSC_\w+|UNALIGN_\w+|MCE_KILL_(?!GET)\w+|CAP_AMBIENT_\w+|SPEC_\w+|PAC_\w+KEY"
              r"|TAGGED_\w+|MTE_\w+|SVE_\w+|SME_\w+|SCHED_CORE_\w+|MDWE_\w+|SET_VMA_\w+|RISCV_\w+_(OFF|ON|CUR|NEXT|INHERIT|DEFAULT|SCOPE\w*|MASK)|RISCV_CTX_\w+|RISCV_SCOPE_\w+"
              r"|RISCV_V_VSTATE_CTRL_\w+|DUMP\w+|PPC_DEXCR_(CTRL_\w+|SBHE|IBRTPD|SRAPD|NPHIE)|SYS_DISPATCH_\w+|SHADOW_STACK_(ENABLE|WRITE|PUSH)|PMLEN_\w+"
              r"|THP_\w+|FUTEX_HASH_\w+|TIMER_CREATE_RESTORE_IDS_\w+|RSEQ_SLICE_EXT_\w+|CFI_\w+|RISCV_CFI_\w+|RSEQ_SLICE_EXTENSION_\w+|BRANCH_LANDING_PADS_\w+)"),
    "PrctlMm": (ENUMERATION, "linux/prctl.h", r"PR_SET_MM_\w+", ""),
    "PrctlVma": (ENUMERATION, "linux/prctl.h", r"PR_SET_VMA_\w+", ""),
    "PrctlAmbient": (ENUMERATION, "linux/prctl.h", r"PR_CAP_AMBIENT_\w+", ""),
    "PrctlTsc": (ENUMERATION, "linux/prctl.h", r"PR_TSC_\w+", ""),
    "PrctlMceKill": (ENUMERATION, "linux/prctl.h", r"PR_MCE_KILL_(CLEAR|SET)", ""),
    "PrctlMdwe": (FLAGS, "linux/prctl.h", r"PR_MDWE_\w+", ""),
    "PrctlSpec": (ENUMERATION, "linux/prctl.h", r"PR_SPEC_(STORE_BYPASS|INDIRECT_BRANCH|L1D_FLUSH)", ""),
    "PrctlSpecControl": (FLAGS, "linux/prctl.h", r"PR_SPEC_(PRCTL|ENABLE|DISABLE|FORCE_DISABLE|DISABLE_NOEXEC)", ""),
    "PrctlDispatch": (ENUMERATION, "linux/prctl.h", r"PR_SYS_DISPATCH_(OFF|ON|EXCLUSIVE_ON|INCLUSIVE_ON)", r"PR_SYS_DISPATCH_ON"),
    "PrctlCore": (ENUMERATION, "linux/prctl.h", r"PR_SCHED_CORE_(GET|CREATE|SHARE_TO|SHARE_FROM)", ""),
    "PrctlTiming": (ENUMERATION, "linux/prctl.h", r"PR_TIMING_\w+", ""),
    "SecureBit": (FLAGS, "linux/securebits.h", r"SECBIT_\w+", ""),
    "SeccompMode": (ENUMERATION, "linux/seccomp.h", r"SECCOMP_MODE_\w+", ""),
    "Seccomp": (ENUMERATION, "linux/seccomp.h", r"SECCOMP_(SET|GET)_\w+", ""),
    "SeccompFlag": (FLAGS, "linux/seccomp.h", r"SECCOMP_FILTER_FLAG_\w+", ""),
    "SeccompAction": (ENUMERATION, "linux/seccomp.h", r"SECCOMP_RET_[A-Z]\w+", r"SECCOMP_RET_(ACTION\w*|DATA|KILL)"),
    "Capability": (ENUMERATION, "linux/capability.h", r"CAP_[A-Z]\w+", r"CAP_(LAST_CAP|OPT\w+)"),
    "Priority": (ENUMERATION, "linux/resource.h", r"PRIO_(PROCESS|PGRP|USER)", ""),
    "Prot": (FLAGS, "asm/mman.h", r"PROT_[A-Z]\w+", r"PROT_NONE"),
    "Ptrace": (ENUMERATION, "linux/ptrace.h asm/ptrace-abi.h", r"PTRACE_[A-Z]\w+",
               r"PTRACE_(EVENT\w*|O_\w+|PEEKSIGINFO_\w+|EVENTMSG_\w+|SYSCALL_INFO_\w+|OLDSETOPTIONS|SECCOMP_\w+(?!))|PTRACE_EVENT_\w+"),
    "PtraceOption": (FLAGS, "linux/ptrace.h", r"PTRACE_O_\w+", ""),
    "Quota": (ENUMERATION, "linux/quota.h linux/dqblk_xfs.h", r"Q_\w+", r"Q_(COMM|XGETPQUOTA)"),
    "QuotaFormat": (ENUMERATION, "linux/quota.h", r"QFMT_\w+", ""),
    "QuotaType": (ENUMERATION, "linux/quota.h", r"(USR|GRP|PRJ)QUOTA", ""),
    "ReadWrite": (FLAGS, "linux/fs.h", r"RWF_\w+", r"RWF_SUPPORTED"),
    "Reboot": (ENUMERATION, "linux/reboot.h", r"LINUX_REBOOT_CMD_\w+", ""),
    "RebootMagic": (ENUMERATION, "linux/reboot.h", r"LINUX_REBOOT_MAGIC\w+", ""),
    "Rename": (FLAGS, "linux/fs.h", r"RENAME_\w+", ""),
    "Resolve": (FLAGS, "linux/openat2.h", r"RESOLVE_\w+", ""),
    "Rlimit": (ENUMERATION, "asm/resource.h", r"RLIMIT_[A-Z]+", ""),
    "Rseq": (FLAGS, "linux/rseq.h", r"RSEQ_FLAG_\w+", ""),
    "Rusage": (ENUMERATION, "linux/resource.h", r"RUSAGE_\w+", r"RUSAGE_BOTH"),
    "Sched": (ENUMERATION, "linux/sched.h", r"SCHED_[A-Z]+", r"SCHED_OTHER|SCHED_FLAG\w*"),
    "SchedReset": (FLAGS, "linux/sched.h", r"SCHED_RESET_ON_FORK", ""),
    "SchedFlag": (FLAGS, "linux/sched.h", r"SCHED_FLAG_\w+", r"SCHED_FLAG_(KEEP_ALL|UTIL_CLAMP|ALL)"),
    "SigAction": (FLAGS, "asm/signal.h", r"SA_[A-Z]\w+", r"SA_(NOMASK|ONESHOT)"),
    "SigMask": (ENUMERATION, "asm/signal.h", r"SIG_(BLOCK|UNBLOCK|SETMASK)", ""),
    "SigStack": (ENUMERATION, "linux/signal.h", r"SS_(ONSTACK|DISABLE)", ""),
    "SigStackFlag": (FLAGS, "linux/signal.h", r"SS_AUTODISARM", ""),
    "SignalFd": (FLAGS, "linux/signalfd.h", r"SFD_\w+", ""),
    "SigEvent": (ENUMERATION, "asm/siginfo.h", r"SIGEV_\w+", r"SIGEV_PAD_SIZE"),
    "Statx": (FLAGS, "linux/stat.h", r"STATX_[A-Z]\w+", r"STATX_(ALL|BASIC_STATS|ATTR_\w+|_RESERVED)"),
    "StatxAttribute": (FLAGS, "linux/stat.h", r"STATX_ATTR_\w+", ""),
    "SyncRange": (FLAGS, "linux/fs.h", r"SYNC_FILE_RANGE_[A-Z]\w+", r"SYNC_FILE_RANGE_WRITE_AND_WAIT"),
    "TimerFd": (FLAGS, "linux/timerfd.h", r"TFD_(CLOEXEC|NONBLOCK)", ""),
    "TimerFdSet": (FLAGS, "linux/timerfd.h", r"TFD_TIMER_\w+", ""),
    "Timer": (FLAGS, "linux/time.h", r"TIMER_ABSTIME", ""),
    "Userfault": (FLAGS, "linux/userfaultfd.h linux/fcntl.h", r"UFFD_USER_MODE_ONLY|O_(CLOEXEC|NONBLOCK)", ""),
    "Wait": (FLAGS, "linux/wait.h", r"WNOHANG|WUNTRACED|WCONTINUED|WNOWAIT|WEXITED|__W(NOTHREAD|ALL|CLONE)", ""),
    "WaitId": (FLAGS, "linux/wait.h", r"WNOHANG|WSTOPPED|WCONTINUED|WNOWAIT|WEXITED|__W(NOTHREAD|ALL|CLONE)", ""),
    "WaitIdType": (ENUMERATION, "linux/wait.h", r"P_(ALL|PID|PGID|PIDFD)", ""),
    "Whence": (ENUMERATION, "linux/fs.h", r"SEEK_\w+", ""),
    "Xattr": (FLAGS, "linux/xattr.h", r"XATTR_(CREATE|REPLACE)", ""),
    "ChildCode": (ENUMERATION, "asm/siginfo.h", r"CLD_\w+", ""),
    "IpProtocol": (ENUMERATION, "linux/in.h linux/in6.h", r"IPPROTO_\w+",
                   r"IPPROTO_(HOPOPTS|ROUTING|FRAGMENT|ICMPV6|NONE|DSTOPTS|MH)"),
    "NetlinkProtocol": (ENUMERATION, "linux/netlink.h", r"NETLINK_\w+",
                        r"NETLINK_(ADD_MEMBERSHIP|DROP_MEMBERSHIP|PKTINFO|BROADCAST_ERROR|NO_ENOBUFS|RX_RING|TX_RING|LISTEN_ALL_NSID|"
                        r"LIST_MEMBERSHIPS|CAP_ACK|EXT_ACK|GET_STRICT_CHK|UNCONNECTED|CONNECTED|INET_DIAG)"),
    "SolSocket": (ENUMERATION, "asm/socket.h", r"SO_[A-Z]\w+",
                  r"SO_(ATTACH_FILTER_\w+|GET_FILTER|DETACH_BPF|SNDTIMEO|RCVTIMEO|TIMESTAMP|TIMESTAMPNS|TIMESTAMPING)"),
    "SolSocketGet": (ENUMERATION, "asm/socket.h", r"SO_GET_FILTER", ""),
    "SolIp": (ENUMERATION, "linux/in.h linux/mroute.h", r"(IP|MCAST|MRT)_[A-Z]\w+",
              r"IP_(PMTUDISC_\w+|RECVRETOPTS|DEFAULT_\w+|MSFILTER_\w+|MF|DF|CE|OFFSET)|MCAST_(EXCLUDE|INCLUDE)|MRT_(BASE|FLUSH_\w+)|MCAST_MSFILTER_\w+|IP_RECVORIGDSTADDR"),
    "SolIpv6": (ENUMERATION, "linux/in6.h linux/in.h", r"IPV6_[A-Z]\w+|MCAST_\w+",
                r"IPV6_(PMTUDISC_\w+|PRIORITY_\w+|TLV_\w+|FL_\w+|FLOWINFO_\w+|FLOWLABEL_\w+|PREFER_\w+|ADDRFORM_\w+|SRCRT_\w+|MIN_MTU|UNICAST_HOPS_\w+)"
                r"|MCAST_(EXCLUDE|INCLUDE)|IPV6_RECVORIGDSTADDR"),
    "SolTcp": (ENUMERATION, "linux/tcp.h", r"TCP_[A-Z]\w+",
               r"TCP_(ACCECN_\w+|CM_INQ|DATA_OFFSET|MSS_\w+|FLAG_\w+|ESTABLISHED|SYN_\w+|FIN_\w+|TIME_WAIT|CLOSE\w*|LAST_ACK|LISTEN|CLOSING|NEW_SYN\w*|MD5SIG_(MAX|FLAG)\w*|NLA_\w+"
               r"|RECEIVE_ZEROCOPY_\w+|CA_\w+|REPAIR_(ON|OFF)\w*|NO_QUEUE|RECV_QUEUE|SEND_QUEUE|QUEUES_NR|AO_(MAXKEYLEN|KEYF\w*)|TLSTX)"),
    "SolUdp": (ENUMERATION, "linux/udp.h", r"UDP_[A-Z]\w+", r"UDP_ENCAP_\w+"),
    "SolNetlink": (ENUMERATION, "linux/netlink.h",
                   r"NETLINK_(ADD_MEMBERSHIP|DROP_MEMBERSHIP|PKTINFO|BROADCAST_ERROR|NO_ENOBUFS|RX_RING|TX_RING|LISTEN_ALL_NSID|LIST_MEMBERSHIPS|"
                   r"CAP_ACK|EXT_ACK|GET_STRICT_CHK)", ""),
    "SolPacket": (ENUMERATION, "linux/if_packet.h", r"PACKET_[A-Z]\w+",
                  r"PACKET_(HOST|BROADCAST|MULTICAST|OTHERHOST|OUTGOING|LOOPBACK|USER|KERNEL|FASTROUTE|MR_\w+|FANOUT_\w+)"),
    "SolTls": (ENUMERATION, "linux/tls.h", r"TLS_(TX|RX|TX_ZEROCOPY_RO|RX_EXPECT_NO_PAD|TX_MAX_PAYLOAD_LEN)", ""),
    "SolRaw": (ENUMERATION, "linux/icmp.h", r"ICMP_FILTER", ""),
    "SolVsock": (ENUMERATION, "linux/vm_sockets.h", r"SO_VM_SOCKETS_[A-Z]\w+", r"SO_VM_SOCKETS_CONNECT_TIMEOUT"),
    "SolAlg": (ENUMERATION, "linux/if_alg.h", r"ALG_SET_\w+|ALG_(?!OP)\w+", r"ALG_OP_\w+"),
    "SolXdp": (ENUMERATION, "linux/if_xdp.h", r"XDP_(MMAP_OFFSETS|RX_RING|TX_RING|UMEM_REG|UMEM_FILL_RING|UMEM_COMPLETION_RING|STATISTICS|OPTIONS)", ""),
}

# What the kernel calls otherwise than the manual pages and strace do, or what only names another name.
RENAMED = {"FASYNC": "O_ASYNC", "SCHED_NORMAL": "SCHED_OTHER", "PTRACE_PEEKUSR": "PTRACE_PEEKUSER", "PTRACE_POKEUSR": "PTRACE_POKEUSER"}

# Headers below which the commands of devices are looked for.
IOCTL_FOLDERS = ("linux", "asm", "asm-generic", "drm", "sound", "rdma", "scsi", "mtd", "misc", "video", "xen", "cxl", "fwctl", "regulator")
# Headers that others of them take for included, some of which are libc's.
IOCTL_BEFORE = ("stdbool.h", "stddef.h", "stdint.h", "time.h", "sys/time.h", "linux/ioctl.h", "linux/filter.h", "linux/atmioc.h")
IOCTL_PLAIN = {"asm-generic/ioctls.h": r"(TC|TIOC|FIO)\w+", "linux/sockios.h": r"SIOC\w+", "asm-generic/sockios.h": r"(SIOC|FIO)\w+", "linux/hdreg.h": r"HDIO_\w+",
               "linux/cdrom.h": r"CDROM\w+|DVD_\w+", "linux/kd.h": r"(KD|GIO|PIO)\w+", "linux/vt.h": r"VT_[A-Z]+\w*",
               "linux/fb.h": r"FBIO\w*_\w+", "linux/loop.h": r"LOOP_[A-Z]\w+", "linux/wireless.h": r"SIOC[SG]IW\w+", "linux/ppp-ioctl.h": r"(?!)",
               "linux/if_tun.h": r"(?!)", "scsi/sg.h": r"SG_[GSNE]\w+", "scsi/scsi_ioctl.h": r"(?!)", "linux/atm.h": r"(?!)"}
IOCTL_PLAIN_NOT = r"TIOC(PKT_\w+|SER_\w+|M_\w+)|TC(OOFF|OON|IOFF|ION|IFLUSH|OFLUSH|IOFLUSH|SANOW|SADRAIN|SAFLUSH)|LOOP_(CTL_\w+(?!))|VT_(AUTO|PROCESS|ACKACQ)|KD_\w+|TIOCINQ|HDIO_\w+_HDR_SIZE|HDIO_DRIVE_CMD_AEB|LOOP_SET_STATUS_\w+|LOOP_CONFIGURE_\w+|SG_(GET_VERSION_NUM\w+|SCATTER\w*|NEXT\w*|EMULATED\w*)|" \
    r"CDROM(_[A-Z]\w+)|CDROM_(LBA|MSF|DATA_TRACK|LEADOUT|AUDIO\w*|PACKET_SIZE)|CDROM_(MECH_\w+)|DVD_(?!READ_STRUCT|WRITE_STRUCT|AUTH)\w+|VT_(EVENT\w*|UNDEFINED)|SIOCPROTOPRIVATE|SIOC\w+_OLD|SIOCDEVPRIVATE|LOOP_CLR_FD_\w+|SIOCIWFIRST\w*|SIOCIWLAST\w*"


def unsigned(value):
    """An int below zero as the 32 bits that a call takes."""
    return value if value >= 0 else value % 2**(32 if value >= -2**31 else 64)


class Headers:
    def __init__(self, folder):
        machine = os.path.join(folder, "x86_64-linux-gnu")
        resources = subprocess.run(["clang", "-print-resource-dir"], capture_output=True, text=True, check=True).stdout.strip()
        self.folder = folder
        self.command = ["clang", "-target", "x86_64-linux-gnu", "-x", "c", "-std=gnu11", "-w", "-nostdinc", f"-I{folder}", f"-I{machine}",
                        f"-isystem{resources}/include"]
        self.machine = machine

        # Of headers that take what programs have included before them.
        self.with_libc = [f"-idirafter{folder}" for folder in ("/usr/include/x86_64-linux-gnu", "/usr/include")]

    def preprocessed(self, includes, *options):
        return subprocess.run([*self.command, "-E", "-P", *options, "-"], input=includes, capture_output=True, text=True).stdout

    def values(self, includes, names, options=()):
        """Name to number of those that are constants."""
        names = sorted(names)
        while names:
            lines = [f"const unsigned long long value_{name} = (unsigned long long)({name});" for name in names]
            source = includes + "#line 1 \"values\"\n" + "\n".join(lines) + "\n"
            done = subprocess.run([*self.command, *options, "-ferror-limit=0", "-S", "-emit-llvm", "-o", "-", "-"], input=source, capture_output=True, text=True)
            if done.returncode == 0:
                return {name: unsigned(int(value)) for name, value in re.findall(r"@value_(\w+) = .*?constant i64 (-?\d+)", done.stdout)}
            bad = {int(line) - 1 for line in re.findall(r"^values:(\d+):\d+: (?:fatal )?error", done.stderr, re.M)}
            if not bad:
                return {}
            names = [name for at, name in enumerate(names) if at not in bad]
        return {}


def prelude(headers):
    return "".join(f"#include <{header}>\n" for header in ["linux/types.h", *headers])


def names_of(spec, text):
    """The candidates of a group in what its headers define."""
    _, _, pattern, without = spec
    return {name for name in re.findall(r"\b[A-Za-z_]\w*", text)
            if re.fullmatch(pattern, name) and (name in VALUES or not re.fullmatch(NO_VALUES, name)) and not (without and re.fullmatch(without, name))}


def groups_of(headers, files):
    """The tables of all groups whose names are in these headers."""
    specs = {name: spec for name, spec in GROUPS.items() if spec[1] == files}
    includes = prelude(files.split())
    text = headers.preprocessed(includes, "-dD")
    candidates = {name: names_of(spec, text) for name, spec in specs.items()}
    values = headers.values(includes, set().union(*candidates.values()))
    made = {}
    for name, spec in specs.items():
        found = {RENAMED.get(one, one): values[one] for one in candidates[name] if one in values}
        if spec[0] == FLAGS:
            rows = [(value, one) for one, value in found.items() if value]
            made[name] = sorted(rows, key=lambda row: (-bin(row[0]).count("1"), row))
        else:
            made[name] = sorted((value, one) for one, value in found.items())
    return made


def ioctls_of(headers, header):
    try:
        text = open(os.path.join(headers.machine if header.startswith("asm/") else headers.folder, header), errors="replace").read()
    except OSError:
        return {}
    candidates = set(re.findall(r"^[ \t]*#[ \t]*define[ \t]+(\w+)[ \t]+(?=[^\n]*\b\w*_IO(?:[RW]|WR)?\w*[ \t]*\()", text, re.M))
    plain = set()
    if header in IOCTL_PLAIN:
        plain = {name for name in re.findall(r"^[ \t]*#[ \t]*define[ \t]+(\w+)[ \t]+\S", text, re.M)
                       if re.fullmatch(IOCTL_PLAIN[header], name) and not re.fullmatch(IOCTL_PLAIN_NOT, name)} - candidates
    values = headers.values(prelude([*IOCTL_BEFORE, header]), candidates | plain, headers.with_libc)
    return {name: value for name, value in values.items() if 0 < value < 2**32 and not re.fullmatch(NO_VALUES if name in plain else r"\w+_LAST", name)}


def ioctl_headers(headers):
    files = set()
    for folder in IOCTL_FOLDERS:
        top = os.path.join(headers.machine if folder == "asm" else headers.folder, folder)
        for place, _, names in os.walk(top):
            for name in sorted(names):
                path = os.path.join(place, name)
                header = os.path.join(folder, os.path.relpath(path, top))
                if header in IOCTL_PLAIN or re.search(r"define.*\b_IO(R|W|WR)?\(", open(path, errors="replace").read()):
                    files.add(header)
    return sorted(files)


def ioctls(headers):
    numbers = {}
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        for values in pool.map(lambda header: ioctls_of(headers, header), ioctl_headers(headers)):
            for name, value in values.items():
                numbers.setdefault(value, set()).add(name)
    return sorted((value, " or ".join(sorted({name for name in names if not name.startswith("__")} or names))) for value, names in numbers.items())


def tables(headers, with_ioctls=True):
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        made = {}
        for part in pool.map(lambda files: groups_of(headers, files), sorted({spec[1] for spec in GROUPS.values()})):
            made |= part
        made = {name: made[name] for name in GROUPS}
    if with_ioctls:
        made["Ioctl"] = ioctls(headers)
    return {name: rows for name, rows in made.items() if rows}


def header_text(made, version):
    out = ["// SPDX-License-Identifier: GPL-2.0-or-later OR MIT",
           f"// Names from the UAPI headers of linux-libc-dev {version}. Made by scripts/kernel-names.py; do not edit.",
           "#pragma once", "", '#include "syscalls/flag_names.h"', "", "// clang-format off", "namespace uscope::syscalls::kernel {", ""]
    out.append(f'inline constexpr const char kHeaders[] = "{version}";')
    for name, rows in made.items():
        out.append(f"inline constexpr FlagName k{name}[] = {{")
        out += [f'    {{{value:#x}, "{text}"}},' for value, text in rows]
        out.append("};")
    out += ["", "}  // namespace uscope::syscalls::kernel", ""]
    return "\n".join(out)


# The structures, and in which headers they are. "name=type" gives the name of a type without one of its own.
STRUCTURES = {
    "clone_args": "linux/sched.h", "open_how": "linux/openat2.h", "flock": "linux/fcntl.h", "delegation": "linux/fcntl.h", "f_owner_ex": "linux/fcntl.h",
    "sigaction": "asm/signal.h", "sigaltstack": "asm/signal.h", "rlimit": "linux/resource.h", "rlimit64": "linux/resource.h",
    "rusage": "linux/resource.h", "statfs": "asm/statfs.h", "__kernel_old_itimerval": "linux/time_types.h",
    "__kernel_itimerspec": "linux/time_types.h", "__kernel_old_timeval": "linux/time_types.h", "timezone": "linux/time.h",
    "sched_attr": "linux/sched/types.h", "mount_attr": "linux/mount.h",
    "landlock_ruleset_attr": "linux/landlock.h", "landlock_path_beneath_attr": "linux/landlock.h", "landlock_net_port_attr": "linux/landlock.h",
    "sysinfo": "linux/sysinfo.h", "new_utsname": "linux/utsname.h", "tms": "linux/times.h", "utimbuf": "linux/utime.h",
    "cachestat": "linux/mman.h", "cachestat_range": "linux/mman.h", "mq_attr": "linux/mqueue.h", "file_attr": "linux/fs.h",
    "__user_cap_header_struct": "linux/capability.h", "__user_cap_data_struct": "linux/capability.h", "__kernel_timex": "linux/timex.h",
    "io_uring_params": "linux/io_uring.h", "futex_waitv": "linux/futex.h", "sembuf": "linux/sem.h", "mnt_id_req": "linux/mount.h",
    "ns_id_req": "linux/nsfs.h", "xattr_args": "linux/xattr.h", "iovec": "linux/uio.h", "kexec_segment": "linux/kexec.h",
    "perf_event_attr": "linux/perf_event.h", "rseq": "linux/rseq.h", "termios": "asm/termbits.h", "winsize": "asm/termios.h",
    "sock_fprog": "linux/filter.h",
}
# What the kernel takes otherwise than its own headers say: another type, or none that is known here.
IOCTL_OTHERWISE = {"FS_IOC_GETFLAGS": "int", "FS_IOC_SETFLAGS": "int", "FS_IOC_GETVERSION": "int", "FS_IOC_SETVERSION": "int",
                   "EXT4_IOC_GETVERSION": "int", "EXT4_IOC_SETVERSION": "int", "BLKBSZGET": "int", "BLKBSZSET": "int",
                   "TUNSETIFF": None, "TUNGETIFF": None, "TUNSETQUEUE": None}
# Commands of devices that take a structure: those of these headers have it in the tables. Of all headers, those that take a number.
IOCTL_STRUCTURES = ("linux/eventpoll.h", "linux/fs.h", "linux/fscrypt.h", "linux/fsmap.h", "linux/fsverity.h", "linux/if_tun.h", "linux/loop.h",
                    "linux/nsfs.h", "linux/pidfd.h", "linux/random.h", "linux/rtc.h", "linux/seccomp.h", "linux/userfaultfd.h", "linux/vm_sockets.h",
                    "linux/watchdog.h")
# Unions, of which each member is a structure: by the union's name and that of the member or of its first field.
UNIONS = {"bpf_attr": "linux/bpf.h"}
# Their fields of 64 bits are addresses but for these.
NO_ADDRESS = re.compile(r"(elem_)?flags|map_extra|\w*revision|\w*cookie|probe_\w+|count")
# Which structure is called otherwise where programs use it, and so in what is shown.
WITHOUT_UNDERSCORES = re.compile(r"^(__kernel_old_|__kernel_|__user_|new_)")


def argument_of(definition):
    """The type in `_IOR(kind, number, type)`; None: there is none, or it is not that simple."""
    match = re.match(r".*?\b_IO(?:[RW]|WR)\s*\(", definition)
    if not match:
        return None
    parts, depth = [""], 0
    for sign in definition[match.end():]:
        if sign == "," and depth == 0:
            parts.append("")
            continue
        depth += (sign in "([") - (sign in ")]")
        if depth < 0:
            break
        parts[-1] += sign
    return parts[2].strip() if len(parts) == 3 and parts[2].strip() else None


def ioctl_types_of(headers, header):
    """Command to what it takes, as the BTF of its header has it: a list of types by number, and the number of each command's."""
    values = ioctls_of(headers, header)
    text = open(os.path.join(headers.machine if header.startswith("asm/") else headers.folder, header), errors="replace").read()
    text = re.sub(r"/\*.*?\*/", "", text.replace("\\\n", " "), flags=re.S)
    found = {}
    for name, definition in re.findall(r"^[ \t]*#[ \t]*define[ \t]+(\w+)[ \t]+(.*)$", text, re.M):
        kind = IOCTL_OTHERWISE.get(name, argument_of(definition))
        if name in values and kind:
            found[name] = kind
    source = prelude([*IOCTL_BEFORE, header]) + "".join(f"__typeof__({kind}) value_{name};\n" for name, kind in found.items())
    types = btf_of(headers, source, headers.with_libc) if found else None
    if types is None:
        return {}, {}
    variables = {one["name"]: one["type_id"] for one in types.values() if one["kind"] == "VAR"}
    return types, {values[name]: variables[f"value_{name}"] for name in found if f"value_{name}" in variables}


def btf_types(headers):
    source = prelude(sorted({*STRUCTURES.values(), *UNIONS.values()})) + "".join(f"struct {name} value_{name};\n" for name in STRUCTURES) + \
        "".join(f"union {name} value_{name};\n" for name in UNIONS)
    types = btf_of(headers, source)
    if types is None:
        sys.exit("the structures cannot be compiled")
    return types


def btf_of(headers, source, options=()):
    """Types by number; None: it cannot be compiled."""
    with tempfile.TemporaryDirectory() as folder:
        file = os.path.join(folder, "structures.o")
        # The types of a BPF program are those of the 64-bit ABI.
        command = [*headers.command, *options, "-target", "bpf", "-D__x86_64__", "-g", "-O2", "-c", "-o", file, "-"]
        if subprocess.run(command, input=source, text=True, stderr=subprocess.DEVNULL).returncode != 0:
            return None
        dump = subprocess.run(["bpftool", "-j", "btf", "dump", "file", file], capture_output=True, text=True, check=True)
    return {one["id"]: one for one in json.loads(dump.stdout)["types"]}


class Layouts:
    """Structures by name, each behind those that it contains."""

    def __init__(self, types):
        self.types = types
        self.made = {}
        self.commands = {}
        names = {one["name"]: one for one in types.values() if one["kind"] == "STRUCT"}
        for name in STRUCTURES:
            self.add(names[name])
        for one in types.values():
            if one["kind"] == "UNION" and one["name"] in UNIONS:
                self.add_members(one)

    def plain(self, number):
        one = self.types[number]
        while one["kind"] in ("TYPEDEF", "CONST", "VOLATILE"):
            one = self.types[one["type_id"]]
        return one

    def size(self, one):
        if one["kind"] == "ARRAY":
            return one["nr_elems"] * self.size(self.plain(one["type_id"]))
        return 8 if one["kind"] == "PTR" else one["size"]

    def add(self, struct):
        name = WITHOUT_UNDERSCORES.sub("", struct["name"])
        if struct["name"] != "(anon)" and name not in self.made:
            rows = [row for member in self.flat(struct["members"], 0, False) for row in self.field(member)]
            self.made[name] = (struct["size"], rows)
        return name

    def add_members(self, union):
        for member in union["members"]:
            struct = self.plain(member["type_id"])
            if struct["kind"] != "STRUCT":
                continue
            rows = [row for one in self.flat(struct["members"], 0, True) for row in self.field(one)]
            self.made[f"{union['name']}_{member['name'] if member['name'] != '(anon)' else rows[0][0]}"] = (struct["size"], rows)

    def flat(self, members, base, has_addresses):
        """The members, and of unions without a name the first one. `has_addresses`: those of 64 bits are addresses."""
        for member in members:
            one = self.plain(member["type_id"])
            placed = member | {"bits_offset": base + member["bits_offset"]}
            if one["kind"] in ("UNION", "STRUCT") and member["name"] == "(anon)":
                yield from self.flat(one["members"][:1] if one["kind"] == "UNION" else one["members"], placed["bits_offset"], has_addresses)
            else:
                yield placed | {"is_address": has_addresses and self.size(one) == 8 and not NO_ADDRESS.fullmatch(member["name"])}

    def field(self, member):
        """(name, offset, bytes of one, how many, kind, layout); nothing for padding and unions. Of a bit field, kind and layout end with
        its place in the number that holds it, and its width."""
        one, count = self.plain(member["type_id"]), 1
        if re.match(r"_*(pad|reserved|unused|resv|f_spare|__)", member["name"]):
            return
        if member.get("bitfield_size"):
            bits = 8 * one["size"]
            place = member["bits_offset"] % bits
            yield member["name"], (member["bits_offset"] - place) // 8, one["size"], 1, "kBits", f"nullptr, {place}, {member['bitfield_size']}"
            return
        is_array = one["kind"] == "ARRAY"
        if is_array:
            count, one = one["nr_elems"], self.plain(one["type_id"])
        if count == 0 or one["kind"] == "UNION" or (one["kind"] == "STRUCT" and one["name"] == "(anon)" and len(one["members"]) != 1):
            return
        while one["kind"] == "STRUCT" and len(one["members"]) == 1:  # sigset_t, __kernel_fsid_t
            inner = self.plain(one["members"][0]["type_id"])
            if inner["kind"] == "ARRAY":
                count, inner = count * inner["nr_elems"], self.plain(inner["type_id"])
            one = inner
        if one["kind"] in ("UNION", "FLOAT"):
            return
        kinds = {"INT": "kSigned" if one.get("encoding") == "SIGNED" else "kUnsigned", "ENUM": "kUnsigned", "PTR": "kPointer", "STRUCT": "kLayout"}
        kind = "kText" if is_array and one["kind"] == "INT" and one["size"] == 1 else kinds[one["kind"]]
        kind = "kPointer" if member.get("is_address") else kind
        layout = f"&k{self.camel(self.add(one))}" if kind == "kLayout" else "nullptr"
        yield member["name"], member["bits_offset"] // 8, self.size(one), count, kind, layout

    def add_commands(self, types, commands, has_structures):
        """What commands of devices take: numbers, and structures if these are wanted. A number that two devices have is left out where they
        take something else."""
        self.types = types
        for command, number in commands.items():
            one, layout = self.plain(number), None
            if one["kind"] in ("INT", "ENUM") and one["size"] in (2, 4, 8) and one.get("encoding") != "BOOL":
                layout = f"{'signed' if one.get('encoding') == 'SIGNED' else 'unsigned'}_{8 * one['size']}"
                self.made.setdefault(layout, (one["size"], [("", 0, one["size"], 1, "kSigned" if layout[0] == "s" else "kUnsigned", "nullptr")]))
            elif one["kind"] == "STRUCT" and has_structures and one["name"] != "(anon)":
                layout = self.add(one)
            if layout and self.commands.setdefault(command, layout) != layout:
                self.commands[command] = ""

    @staticmethod
    def camel(name):
        return "".join(part.capitalize() for part in name.split("_"))

    def text(self, version):
        out = ["// SPDX-License-Identifier: GPL-2.0-or-later OR MIT",
               f"// Structures of the UAPI headers of linux-libc-dev {version}. Made by scripts/kernel-names.py; do not edit.",
               "#pragma once", "", '#include "syscalls/layout.h"', "", "// clang-format off", "namespace uscope::syscalls::layouts {", ""]
        for name, (size, rows) in self.made.items():
            camel = self.camel(name)
            out.append(f"inline constexpr LayoutField k{camel}Fields[] = {{")
            out += [f'    {{"{field}", {offset}, {bytes_}, {count}, LayoutField::{kind}, {layout}}},'
                    for field, offset, bytes_, count, kind, layout in rows]
            out += ["};", f'inline constexpr Layout k{camel}{{"{name}", {size}, k{camel}Fields}};']
        out.append("inline constexpr CommandLayout kIoctls[] = {")
        out += [f"    {{{command:#x}, &k{self.camel(name)}}}," for command, name in sorted(self.commands.items()) if name]
        out += ["};", "", "}  // namespace uscope::syscalls::layouts", ""]
        return "\n".join(out)


def layouts(headers):
    made = Layouts(btf_types(headers))
    for header in ioctl_headers(headers):
        made.add_commands(*ioctl_types_of(headers, header), header in IOCTL_STRUCTURES)
    return made


def main():
    if sys.argv[1] == "--layouts":
        sys.stdout.write(layouts(Headers(sys.argv[2])).text(sys.argv[3]))
        return
    sys.stdout.write(header_text(tables(Headers(sys.argv[1])), sys.argv[2]))


if __name__ == "__main__":
    main()
