/* SPDX-License-Identifier: GPL-2.0-or-later OR MIT */
/* The registers of code that a signal has interrupted, where the kernel keeps them on the stack of the handler. */
#ifndef USCOPE_CORE_ARCH_X86_64_SIGNAL_CONTEXT_H
#define USCOPE_CORE_ARCH_X86_64_SIGNAL_CONTEXT_H

#include "uscope/arch/arch.h"
#include "uscope/core/port.h"

/*
 * The kernel writes a struct ucontext (asm/ucontext.h, asm/sigcontext.h) on the stack of a signal's handler, at a multiple of 16
 * above the handler's own frames: words of it, by their numbers.
 */
#define CONTEXT_FLAGS 0
#define CONTEXT_LINK 1
#define CONTEXT_SP 20
#define CONTEXT_SEGMENTS 23
#define CONTEXT_STEP 16
/* UC_SIGCONTEXT_SS | UC_STRICT_RESTORE_SS, set in every program of 64 bits, with or without UC_FP_XSTATE. */
#define CONTEXT_FLAGS_MOST 7ull
#define CONTEXT_FLAGS_LEAST 6ull
/* How far it is looked for: the state of the processor's vector registers, of up to 11 KiB, lies above it. */
#define CONTEXT_SEARCH_BYTES 16384ull

struct context_search {
	__u64 from;
	__u64 low; /* what lies from here up to `high` is copied anyway */
	__u64 high;
	__u64 sp; /* of the interrupted code; 0: not found */
};

static long find_context(__u32 i, struct context_search *search)
{
	__u64 at = search->from + i * CONTEXT_STEP, words[2], sp;

	if (read_user(words, sizeof(words), (const void *)at) || words[CONTEXT_LINK] ||
	    words[CONTEXT_FLAGS] < CONTEXT_FLAGS_LEAST || words[CONTEXT_FLAGS] > CONTEXT_FLAGS_MOST)
		return 0;
	if (read_user(&sp, sizeof(sp), (const void *)(at + CONTEXT_SP * 8)) ||
	    read_user(words, sizeof(words[0]), (const void *)(at + CONTEXT_SEGMENTS * 8)))
		return 0;
	words[0] &= 0xffff;
	if ((words[0] != USC_USER_CODE_SEGMENT && words[0] != USC_XEN_USER_CODE_SEGMENT) ||
	    (sp >= search->low && sp < search->high))
		return 0;
	search->sp = sp;
	return 1;
}

#endif
