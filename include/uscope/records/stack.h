/* SPDX-License-Identifier: GPL-2.0-or-later OR MIT */
/* User stacks: their frames, how they ended, and the copies of memory that the collector walks. */
#ifndef USCOPE_RECORDS_STACK_H
#define USCOPE_RECORDS_STACK_H

#include "uscope/records/frame_word.h"
#include "uscope/records/head.h"

#define USC_STACK_USER 0x80000000u /* no stack id has this bit: its meaning stays reserved */
#define USC_MAX_FRAMES 1024	   /* largest budget S */

/* How a stack ended. */
enum usc_ended {
#define USC_X(name, text, meaning) USC_ENDED_##name,
#include "uscope/lists/ended.def"
#undef USC_X
	USC_ENDED_BROKEN, /* and one more for each reason of unwind_error.def */
};

enum usc_unwind_error {
#define USC_X(name, text, meaning) USC_BROKEN_##name,
#include "uscope/lists/unwind_error.def"
#undef USC_X
	USC_BROKEN_COUNT
};

/* The definition of a stack id: kept frames, innermost first, as frame_word.h has them. */
struct usc_stack {
	struct usc_record head;
	__u32 stack;
	__u32 mm;      /* address space, where a frame is in no file; else 0 */
	__u16 depth;   /* number of frames */
	__u8 ended;    /* enum usc_ended; USC_ENDED_BROKEN + enum usc_unwind_error */
	__u8 deferred; /* 1: walked in user space */
	__u32 pad;
	__u64 frames[];
};

/*
 * Registers and a copy of the stack, for a walk in user space: one that the kernel left to it (`verify` 0), or one to
 * compare
 * (`verify` 1). Never written to disk: the collector writes a usc_stack or a usc_verify with this cpu and seq instead.
 */
struct usc_sample {
	struct usc_record head;
	__u64 entry_ns; /* of the call */
	__u32 stack;	/* the id to define, or to compare with */
	__u32 mm;
	__u32 exe_file;
	__u32 reason; /* enum usc_defer_reason */
	__u32 verify;
	__u32 bytes; /* of the first copy */
	/*
	 * The first copy: of a window of 64 pages from `base` (the stack pointer) on those that could be read, one behind the other;
	 * `pages` has their bits. Untouched pages, of large buffers, are left out. Page 0 begins at base.
	 */
	__u64 base;
	__u64 pages;
	/*
	 * A second copy, behind the first, of whole pages: of the stack's end, where the window did not reach it; or, of a
	 * signal handler on a stack of its own, of the stack that it interrupted.
	 */
	__u64 end_base;
	__u64 end_pages;
	__u32 end_bytes;
	__u32 flags; /* USC_SAMPLE_* */
	/*
	 * Pages of the first and of the second copy that are not in `data`, though `bytes` and `end_bytes` count them:
	 * they are what the page of the same number (address / page size % 64) was last in such copies of this processor. The
	 * first page of a copy is sent always, and remembered only where it is whole.
	 */
	__u64 same;
	__u64 end_same;
	__u64 pc;
	__u64 regs[16]; /* by DWARF number: USC_FRAME_REGS of arch/ */
	char data[];
};

#define USC_SAMPLE_PAGES 64 /* of each of the two copies, at most */

/* usc_sample.flags */
#define USC_SAMPLE_BEHIND 1 /* the task is at the instruction before pc */
#define USC_SAMPLE_NO_ELF 2 /* the file without rows that the kernel side met first begins as no ELF file does */

enum usc_defer_reason {
#define USC_X(name, text, counted, meaning) USC_DEFER_##name,
#include "uscope/lists/defer_reason.def"
#undef USC_X
	USC_DEFER_COUNT
};

/* The outcome of one comparison. */
struct usc_verify {
	struct usc_record head;
	__u64 entry_ns;
	__u32 stack;
	__u32 uscope_depth;
	__u32 oracle_depth;
	__s32 first_difference; /* position, -1 = equal */
};

#define USC_JIT_NAME_BYTES 4096 /* longest name; a longer one is cut */

/*
 * The name of an address in memory without a file, from the perf map of the process when a stack with it was seen.
 * One for each address of an address space: `address` is the innermost frame's pc (`exact` frames), or a return address
 * less 1. The code is at start up to start + size; its name, without NUL, is at name.
 */
struct usc_jit_name {
	struct usc_record head;
	__u32 mm;
	__u16 name_bytes;
	__u16 pad;
	__u64 address;
	__u64 start;
	__u64 size;
	char name[];
};

USC_ASSERT_SIZE(usc_stack, 48);
USC_ASSERT_SIZE(usc_sample, 256);
USC_ASSERT_SIZE(usc_verify, 56);
USC_ASSERT_SIZE(usc_jit_name, 64);

#endif
