/* SPDX-License-Identifier: GPL-2.0-or-later OR MIT */
/* What the programs and the tracer that drives them share beside include/uscope. */
#ifndef USCOPE_BPF_SHARED_H
#define USCOPE_BPF_SHARED_H

#include "uscope/core/cpu_state.h"
#include "uscope/core/numbers.h"
#include "uscope/query_counts.h"

/* Asks for the key of the file that the asking process has mapped at an address. `error`: -EBUSY where another thread of
 * that process held the lock of its mappings. */
struct key_request {
	__u64 address;
	struct usc_file_key key;
	__u32 found;
	__s32 error;
};

/* [start, end) */
struct address_range {
	__u64 start;
	__u64 end;
};

#define INTERRUPT_RANGES 3 /* of the kernel's code, at most, that says: an interrupt is served */

#define FUNCTION_CELL_BYTES 16 /* kernels are compiled so that functions begin at multiples of it */

/* Of two cells: an array's values are padded to 8 bytes. */
struct function_pair {
	__u32 number[2];
};

#define MAPPING_REQUEST_MOST 256

/* Asks for executable mappings of a process to be told. */
struct mapping_request {
	struct address_range ranges[2];	       /* they hold all its executable memory */
	__u64 addresses[MAPPING_REQUEST_MOST]; /* an address in each mapping; 0: there is none, or it has been told */
	__u64 key;			       /* under which those told so far are remembered; 0: none is */
	__u32 left;			       /* how many addresses are not 0 */
	__u32 is_last;			       /* when these are told, all of the process are */
	__u32 at_once;			       /* also if what is told cannot be remembered now */
	__u32 seen;			       /* out: the process is traced, and runs */
	__u32 undecided;		       /* out: another processor is about to take it into the trace */
	__u32 changed;			       /* out: mappings have changed, and those told so far are forgotten */
	__u32 known;			       /* out: all are known, so calls of the process are recorded now */
};

/* Key of the target's names; zeroes behind the name. */
struct app_name {
	char name[USC_APP_NAME_BYTES];
};

/* What a thread is in, as long as its entry is not needed for its calls: brief_calls.bpf.h. */
enum brief_state {
	BRIEF_NOT,	/* the entry is needed: for the call that it is in, or for the next one */
	BRIEF_READY,	/* it is traced, in no call, and its entry says nothing of calls that are to come */
	BRIEF_LEFT_OUT, /* in a call that is not asked for */
	BRIEF_COUNTED,	/* in a call that the question was asked of when it began */
	BRIEF_OPEN,	/* in a call that the question is asked of when it returns */
};

struct brief_call {
	__u32 thread; /* its number; 0: the slot is free */
	__u8 state;   /* enum brief_state; this and what is below are as in task_entry */
	__u8 renamed; /* its image is the entry's no more: the next call goes by that */
	__u16 nr;
	__u64 entry_ns;
	__u32 told_open; /* the lower bits of entry_ns of the call that was last written as open */
	__u32 serial;
	__u32 image;
	__u32 process;
};

USC_ASSERT_SIZE(brief_call, USC_QUERY_BRIEF_BYTES);

/* Has a call of this number to go by its thread's entry? That holds what it goes on as, whose thread this is, or which user it has. Calls that
 * change mappings need not: where no stack is asked for, nobody looks at what is known of them. */
USC_INLINE bool needs_entry(__u32 nr)
{
	return nr == NR_restart_syscall || nr == NR_io_uring_setup || nr == NR_execve || nr == NR_execveat ||
	       nr == NR_setuid || nr == NR_setreuid || nr == NR_setresuid;
}

#endif
