/* SPDX-License-Identifier: GPL-2.0-or-later OR MIT */
/* The system calls and results that mean something to the tracer, as x86-64 and i386 number them. */
#ifndef USCOPE_CORE_NUMBERS_H
#define USCOPE_CORE_NUMBERS_H

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
	I386_restart_syscall = 0,
	I386_exit = 1,
	I386_ioctl = 54,
	I386_fcntl = 55,
	I386_chroot = 61,
	I386_socketcall = 102,
	I386_ipc = 117,
	I386_sigreturn = 119,
	I386_prctl = 172,
	I386_rt_sigreturn = 173,
	I386_pivot_root = 217,
	I386_fcntl64 = 221,
	I386_exit_group = 252,
	I386_unshare = 310,
	I386_recvmmsg = 337,
	I386_sendmmsg = 345,
	I386_setns = 346,
	I386_seccomp = 354,
	I386_sendmsg = 370,
	I386_recvmsg = 372,
	I386_shmat = 397,
	I386_recvmmsg_time64 = 417,
};

/* Results that the kernel keeps to itself, and the errors of asm-generic/errno-base.h that are needed here. */
#define RESULT_EINTR (-4)
#define RESULT_EBUSY (-16)
#define RESULT_ERESTARTSYS (-512)
#define RESULT_ERESTART_RESTARTBLOCK (-516)
#define NO_NUMBER ~0u

#endif
