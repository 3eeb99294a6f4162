/* SPDX-License-Identifier: GPL-2.0-or-later OR MIT */
/*
 * The i386 calls socketcall and ipc, each of which stands for many calls and has their arguments in memory or in an order of its
 * own. Such a call becomes the one that it stands for, so that filters, strings and descriptors see a connect where the program
 * connects. Where the arguments cannot be read, the call stays what it was.
 */
#ifndef USCOPE_CORE_ARCH_X86_64_MULTIPLEXED_H
#define USCOPE_CORE_ARCH_X86_64_MULTIPLEXED_H

#include "uscope/arch/arch.h"
#include "uscope/core/numbers.h"
#include "uscope/core/state.h"

/* A call's number, and how many words it takes. */
#define DIRECT(nr, words) ((words) << 16 | (nr))

/* By the numbers of linux/net.h. accept, send and recv have no call of their own: accept4, sendto and recvfrom do the same
 * with zeros for what is missing. 0: there is none. */
static __always_inline __u32 direct_socket_call(__u64 call)
{
	switch (call) {
	case 1: /* SYS_SOCKET */
		return DIRECT(359, 3);
	case 2: /* SYS_BIND */
		return DIRECT(361, 3);
	case 3: /* SYS_CONNECT */
		return DIRECT(362, 3);
	case 4: /* SYS_LISTEN */
		return DIRECT(363, 2);
	case 5: /* SYS_ACCEPT */
		return DIRECT(364, 3);
	case 6: /* SYS_GETSOCKNAME */
		return DIRECT(367, 3);
	case 7: /* SYS_GETPEERNAME */
		return DIRECT(368, 3);
	case 8: /* SYS_SOCKETPAIR */
		return DIRECT(360, 4);
	case 9: /* SYS_SEND */
		return DIRECT(369, 4);
	case 10: /* SYS_RECV */
		return DIRECT(371, 4);
	case 11: /* SYS_SENDTO */
		return DIRECT(369, 6);
	case 12: /* SYS_RECVFROM */
		return DIRECT(371, 6);
	case 13: /* SYS_SHUTDOWN */
		return DIRECT(373, 2);
	case 14: /* SYS_SETSOCKOPT */
		return DIRECT(366, 5);
	case 15: /* SYS_GETSOCKOPT */
		return DIRECT(365, 5);
	case 16: /* SYS_SENDMSG */
		return DIRECT(370, 3);
	case 17: /* SYS_RECVMSG */
		return DIRECT(372, 3);
	case 18: /* SYS_ACCEPT4 */
		return DIRECT(364, 4);
	case 19: /* SYS_RECVMMSG */
		return DIRECT(337, 5);
	case 20: /* SYS_SENDMMSG */
		return DIRECT(345, 4);
	default:
		return 0;
	}
}

static __always_inline void expand_socketcall(struct task_entry *t)
{
	__u32 direct = direct_socket_call(t->args[0]), i;
	__u64 bytes = (direct >> 16) * 4;
	__u32 words[6] = {};

	/* For the verifier: from here on the bounds are those of this register. */
	__asm__ volatile("" : "+r"(bytes));
	if (!bytes || bytes > sizeof(words) || read_user(words, bytes, (const void *)t->args[1]))
		return;
	t->nr = direct & 0xffff;
	for (i = 0; i < 6; i++)
		t->args[i] = words[i];
}

static __always_inline void become(struct task_entry *t, __u32 nr, __u64 second, __u64 third, __u64 fourth, __u64 fifth)
{
	t->nr = nr;
	t->args[0] = t->args[1];
	t->args[1] = second;
	t->args[2] = third;
	t->args[3] = fourth;
	t->args[4] = fifth;
	t->args[5] = 0;
}

/* By the numbers of linux/ipc.h; the upper half of one is a version. semop is left as it is: i386 has no call for it. */
static __always_inline void expand_ipc(struct task_entry *t)
{
	__u64 second = t->args[2], third = t->args[3], at = t->args[4];
	__u32 words[2] = {};

	switch (t->args[0] & 0xffff) {
	case 2: /* SEMGET */
		return become(t, 393, second, third, 0, 0);
	case 3: /* SEMCTL: its last argument is in memory */
		if (!read_user(words, 4, (const void *)at))
			become(t, 394, second, third, words[0], 0);
		return;
	case 11: /* MSGSND */
		return become(t, 400, at, second, third, 0);
	case 12: /* MSGRCV: of version 0, the pointer and the type are in memory */
		if (t->args[0] >> 16)
			return become(t, 401, at, second, t->args[5], third);
		if (!read_user(words, 8, (const void *)at))
			become(t, 401, words[0], second, words[1], third);
		return;
	case 13: /* MSGGET */
		return become(t, 399, second, 0, 0, 0);
	case 14: /* MSGCTL */
		return become(t, 402, second, at, 0, 0);
	case 21: /* SHMAT: the kernel writes the address that it returns otherwise to the fourth argument */
		return become(t, COMPAT_shmat, at, second, third, 0);
	case 22: /* SHMDT */
		t->args[1] = at;
		return become(t, 398, 0, 0, 0, 0);
	case 23: /* SHMGET */
		return become(t, 395, second, third, 0, 0);
	case 24: /* SHMCTL */
		return become(t, 396, second, at, 0, 0);
	default:
		return;
	}
}

/* A function of its own for the verifier, which goes through it once. */
USC_SUBPROGRAM int expand_call(struct task_entry *t)
{
	if (!t)
		return 0;
	if (t->nr == COMPAT_socketcall)
		expand_socketcall(t);
	else if (t->nr == COMPAT_ipc)
		expand_ipc(t);
	return 0;
}

/* Makes a call that was just identified the one that it stands for. */
static __always_inline void expand_if_multiplexed(struct task_entry *t)
{
	if (t->abi == USC_ABI_I386 && (t->nr == COMPAT_socketcall || t->nr == COMPAT_ipc))
		expand_call(t);
}

/*
 * A result as a program of the ABI sees it. An i386 program has its low half, which is an error where that is one, whatever the
 * kernel has in the upper half (modify_ldt). ipc returns shmat's address in memory, and 0, which no shmat returns.
 */
static __always_inline __s64 seen_result(const struct task_entry *t, __s64 result)
{
	__s32 low = (__s32)result;
	__u32 address = 0;

	if (t->abi != USC_ABI_I386)
		return result;
	if (t->nr == COMPAT_shmat && !result && !read_user(&address, sizeof(address), (const void *)t->args[3]))
		return address;
	return low < 0 && low > -4096 ? low : result;
}

#endif
