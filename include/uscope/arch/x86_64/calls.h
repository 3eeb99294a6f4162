/* SPDX-License-Identifier: GPL-2.0-or-later OR MIT */
/*
 * System calls of Linux on x86-64: the ABIs by which programs make them, and the numbers of those that mean something to the tracer.
 * NR_* are the native ABI's; COMPAT_* those of 32-bit programs, i386; X32_* x32's own, which has the native numbers otherwise.
 */
#ifndef USCOPE_ARCH_X86_64_CALLS_H
#define USCOPE_ARCH_X86_64_CALLS_H

#include "uscope/base/base.h"

/* Of enum usc_abi. */
#define USC_ABI_NATIVE USC_ABI_X86_64
#define USC_ABI_COMPAT USC_ABI_I386

#define USC_AUDIT_ARCH AUDIT_ARCH_X86_64 /* linux/audit.h: of native calls */

#define USC_X32_BIT 0x40000000u /* of a number: x32's */
#define USC_X32_FIRST 512	/* the lowest number that only x32 has */

enum {
	NR_open = 2,
	NR_mmap = 9,
	NR_mprotect = 10,
	NR_munmap = 11,
	NR_rt_sigreturn = 15,
	NR_ioctl = 16,
	NR_select = 23,
	NR_mremap = 25,
	NR_shmat = 30,
	NR_sendmsg = 46,
	NR_recvmsg = 47,
	NR_execve = 59,
	NR_pivot_root = 155,
	NR_prctl = 157,
	NR_arch_prctl = 158,
	NR_chroot = 161,
	NR_exit = 60,
	NR_fcntl = 72,
	NR_ptrace = 101,
	NR_setuid = 105,
	NR_setreuid = 113,
	NR_setresuid = 117,
	NR_shmdt = 67,
	NR_remap_file_pages = 216,
	NR_restart_syscall = 219,
	NR_exit_group = 231,
	NR_keyctl = 250,
	NR_openat = 257,
	NR_pselect6 = 270,
	NR_unshare = 272,
	NR_recvmmsg = 299,
	NR_sendmmsg = 307,
	NR_setns = 308,
	NR_seccomp = 317,
	NR_execveat = 322,
	NR_pkey_mprotect = 329,
	NR_io_uring_setup = 425,
	NR_fsconfig = 431,
	NR_close_range = 436,
	NR_openat2 = 437,
	X32_rt_sigreturn = 513,
	X32_sendmsg = 518,
	X32_recvmsg = 519,
	X32_recvmmsg = 537,
	X32_sendmmsg = 538,
	COMPAT_restart_syscall = 0,
	COMPAT_exit = 1,
	COMPAT_setuid = 23,
	COMPAT_ioctl = 54,
	COMPAT_fcntl = 55,
	COMPAT_chroot = 61,
	COMPAT_setreuid = 70,
	COMPAT_socketcall = 102,
	COMPAT_ipc = 117,
	COMPAT_sigreturn = 119,
	COMPAT_setresuid = 164,
	COMPAT_prctl = 172,
	COMPAT_rt_sigreturn = 173,
	COMPAT_setreuid32 = 203,
	COMPAT_setresuid32 = 208,
	COMPAT_setuid32 = 213,
	COMPAT_pivot_root = 217,
	COMPAT_fcntl64 = 221,
	COMPAT_exit_group = 252,
	COMPAT_unshare = 310,
	COMPAT_recvmmsg = 337,
	COMPAT_sendmmsg = 345,
	COMPAT_setns = 346,
	COMPAT_seccomp = 354,
	COMPAT_sendmsg = 370,
	COMPAT_recvmsg = 372,
	COMPAT_shmat = 397,
	COMPAT_recvmmsg_time64 = 417,
};

enum usc_futex_number {
	USC_FUTEX_NATIVE = 202,
	USC_FUTEX_COMPAT = 240,
	USC_FUTEX_COMPAT_TIME64 = 422,
	/* The same in every ABI. */
	USC_FUTEX_WAITV = 449,
	USC_FUTEX_WAKE_CALL = 454,
	USC_FUTEX_WAIT_CALL = 455,
};

/* The ABI by which a task makes a call. `nr`: as the kernel has it; ~0u: none. */
#define USC_ABI_OF_CALL(task, nr)                                                                                      \
	((task)->thread_info.status & TS_COMPAT ? USC_ABI_I386                                                         \
	 : (nr) != ~0u && (nr)&USC_X32_BIT	? USC_ABI_X32                                                          \
						: USC_ABI_X86_64)
#define USC_TASK_IS_COMPAT(task) ((task)->thread_info.status & TS_COMPAT)

/* The ABI that a number is marked with; of those without a mark, one is USC_ABI_NATIVE. */
#define USC_ABI_OF_MARK(nr) ((nr)&USC_X32_BIT ? USC_ABI_X32 : USC_ABI_NATIVE)

/* The number of a call in its ABI's table. */
#define USC_PLAIN_NUMBER(abi, nr) ((abi) == USC_ABI_X32 ? (nr) & ~USC_X32_BIT : (nr))

/* Calls that return with another program's registers, and so no result. */
#define USC_IS_SIGRETURN(abi, nr)                                                                                      \
	((abi) == USC_ABI_I386 ? (nr) == COMPAT_sigreturn || (nr) == COMPAT_rt_sigreturn                               \
			       : (nr) == NR_rt_sigreturn || ((abi) == USC_ABI_X32 && (nr) == X32_rt_sigreturn))

/* sendmsg, recvmsg, and what does the same with several messages, of an ABI that is neither native nor COMPAT. */
#define USC_IS_OTHER_MESSAGE(nr)                                                                                       \
	((nr) == X32_sendmsg || (nr) == X32_recvmsg || (nr) == X32_sendmmsg || (nr) == X32_recvmmsg)

/* The compat ABI's calls on mappings, which a 64-bit process can make too. */
#define USC_IS_COMPAT_MAPPING_CALL(nr)                                                                                 \
	((nr) == 90 || (nr) == 91 || (nr) == 117 || (nr) == 125 || (nr) == 163 || (nr) == 192 || (nr) == 257 ||        \
	 (nr) == 380 || (nr) == 384 || (nr) == 397 || (nr) == 398)

/* The first argument of arch_prctl: ARCH_MAP_VDSO_X32, _32 and _64 map code. */
#define USC_MAPS_VDSO(argument) ((argument) >= 0x2001 && (argument) <= 0x2003)

#endif
