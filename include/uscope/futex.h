/* SPDX-License-Identifier: GPL-2.0-or-later OR MIT */
/* Which system calls wait for a futex or wake one, and what their arguments say (futex(2), linux/futex.h). */
#ifndef USCOPE_FUTEX_H
#define USCOPE_FUTEX_H

#include "uscope/arch/arch.h"
#include "record.h"

enum usc_futex_op {
	USC_FUTEX_OP_WAIT = 0,
	USC_FUTEX_OP_WAKE = 1,
	USC_FUTEX_OP_LOCK_PI = 6,
	USC_FUTEX_OP_TRYLOCK_PI = 8,
	USC_FUTEX_OP_WAIT_BITSET = 9,
	USC_FUTEX_OP_WAIT_REQUEUE_PI = 11,
	USC_FUTEX_OP_LOCK_PI2 = 13,
	USC_FUTEX_OP_PRIVATE = 128, /* flags; FUTEX2_PRIVATE is the same */
	USC_FUTEX_OP_REALTIME = 256,
};

/* struct futex_waitv */
struct usc_futex_waiter {
	__u64 expected;
	__u64 address;
	__u32 flags;
	__u32 reserved;
};

struct usc_futex_call {
	__u64 address;	  /* of futex_waitv: of its first struct futex_waitv, which says the rest */
	__u64 timeout_at; /* 0: none */
	__u32 op;
	__u32 expected;
	__u32 futexes;
	__u8 flags;	     /* USC_FUTEX_WAKE, USC_FUTEX_ABSOLUTE */
	__u8 narrow_timeout; /* of two 32-bit numbers */
	__u16 pad;
};

static __always_inline __u32 usc_futex_command(__u32 op)
{
	return op & ~(__u32)(USC_FUTEX_OP_PRIVATE | USC_FUTEX_OP_REALTIME);
}

static __always_inline int usc_futex_waits(__u32 op)
{
	op = usc_futex_command(op);
	return op == USC_FUTEX_OP_WAIT || op == USC_FUTEX_OP_LOCK_PI || op == USC_FUTEX_OP_WAIT_BITSET ||
	       op == USC_FUTEX_OP_WAIT_REQUEUE_PI || op == USC_FUTEX_OP_LOCK_PI2;
}

/* Is it futex(2), of whatever ABI? */
static __always_inline int usc_futex_is_plain(__u32 abi, __u32 nr)
{
	if (abi == USC_ABI_COMPAT)
		return nr == USC_FUTEX_COMPAT || nr == USC_FUTEX_COMPAT_TIME64;
	return nr == USC_FUTEX_NATIVE;
}

static __always_inline void usc_futex_describe_plain(struct usc_futex_call *call, __u32 abi, __u32 nr,
						     const __u64 *args)
{
	call->address = args[0];
	call->op = args[1];
	call->expected = args[2];
	if (!usc_futex_waits(call->op)) {
		call->flags = USC_FUTEX_WAKE;
		return;
	}
	call->timeout_at = args[3];
	call->narrow_timeout = abi == USC_ABI_COMPAT && nr == USC_FUTEX_COMPAT;
	if (usc_futex_command(call->op) != USC_FUTEX_OP_WAIT)
		call->flags = USC_FUTEX_ABSOLUTE;
}

/* 1: the call is one of futexes, and `call` (zeroes before) says what it does. */
static __always_inline int usc_futex_describe(struct usc_futex_call *call, __u32 abi, __u32 nr, const __u64 *args)
{
	__u32 flags = args[3];
	__u64 clock = args[4];

	call->futexes = 1;
	if (usc_futex_is_plain(abi, nr)) {
		usc_futex_describe_plain(call, abi, nr, args);
		return 1;
	}
	call->address = args[0];
	if (nr == USC_FUTEX_WAKE_CALL) {
		call->op = USC_FUTEX_OP_WAKE | (flags & USC_FUTEX_OP_PRIVATE);
		call->expected = args[2];
		call->flags = USC_FUTEX_WAKE;
		return 1;
	}
	if (nr == USC_FUTEX_WAITV) {
		call->futexes = args[1];
		call->timeout_at = args[3];
		flags = 0;
	} else if (nr == USC_FUTEX_WAIT_CALL) {
		call->expected = args[1];
		call->timeout_at = args[4];
		clock = args[5];
	} else {
		return 0;
	}
	call->op = USC_FUTEX_OP_WAIT_BITSET | (flags & USC_FUTEX_OP_PRIVATE) | (clock ? 0 : USC_FUTEX_OP_REALTIME);
	call->flags = USC_FUTEX_ABSOLUTE;
	return 1;
}

/* Of futex_waitv: what its first waiter says. */
static __always_inline void usc_futex_take_first(struct usc_futex_call *call, const struct usc_futex_waiter *first)
{
	call->address = first->address;
	call->expected = first->expected;
	call->op |= first->flags & USC_FUTEX_OP_PRIVATE;
}

/* The page of an address, where what lies around it is not all there: from and bytes of the words then. */
static __always_inline __u64 usc_futex_words_in_page(__u64 address, __u64 *from)
{
	__u64 in_page = address & (USC_PAGE_BYTES - 1);
	__u64 before = in_page < USC_FUTEX_BEFORE ? in_page : USC_FUTEX_BEFORE;
	__u64 after = USC_PAGE_BYTES - in_page;

	if (after > USC_FUTEX_WORDS - USC_FUTEX_BEFORE)
		after = USC_FUTEX_WORDS - USC_FUTEX_BEFORE;
	*from = address - before;
	return (before + after) & ~7ull;
}

USC_ASSERT_SIZE(usc_futex_waiter, 24);
USC_ASSERT_SIZE(usc_futex_call, 32);

#endif
