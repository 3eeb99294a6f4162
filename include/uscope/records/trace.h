/* SPDX-License-Identifier: GPL-2.0-or-later OR MIT */
/* The trace itself: its first bytes, what it says of the machine and of the run, and what is missing from it. */
#ifndef USCOPE_RECORDS_TRACE_H
#define USCOPE_RECORDS_TRACE_H

#include "uscope/records/head.h"

#define USC_RAW_MAGIC 0x315741524f435355ull /* "USCORAW1" */

enum usc_loss_cause {
#define USC_X(name, number, text, meaning, numbered, missing) USC_LOSS_##name = number,
#include "uscope/lists/loss.def"
#undef USC_X
	USC_LOSS_COUNT
};

/* Whether a loss of this cause stands for a sequence number that no record in the trace has. */
USC_INLINE int usc_loss_is_numbered(__u32 cause)
{
	const __u64 numbered = 0
#define USC_X(name, number, text, meaning, numbered, missing) | (numbered##ull << USC_LOSS_##name)
#include "uscope/lists/loss.def"
#undef USC_X
		;

	return cause < USC_LOSS_COUNT && numbered >> cause & 1;
}

/* Instruction sets: registers, numbers of calls and unwind rules in a trace are theirs. */
enum usc_isa {
#define USC_X(name, text) USC_ISA_##name,
#include "uscope/lists/isa.def"
#undef USC_X
	USC_ISA_COUNT
};

/* First bytes of a raw trace; records follow at header_size. */
struct usc_raw_header {
	__u64 magic;
	__u32 header_size;
	__u32 record_abi;
	__u64 start_ns;	     /* CLOCK_MONOTONIC at the start of tracing */
	__s64 utc_offset_ns; /* CLOCK_REALTIME minus CLOCK_MONOTONIC then */
	__u32 cpus;	     /* possible CPUs */
	__u32 isa;	     /* enum usc_isa, of the machine that was traced */
	__u32 page_bytes;    /* 0: not known */
	__u32 pad;
	__u8 boot_id
		[16]; /* /proc/sys/kernel/random/boot_id: times of two traces with the same one can be compared; zeroes: not known */
	char kernel[64]; /* its release, as uname(2) has it, with NUL */
};

struct usc_loss {
	struct usc_record head; /* time: until when */
	__u64 from_ns;
	__u64 count;
	__u32 cause;   /* enum usc_loss_cause */
	__u32 process; /* 0 = not known */
};

/* key and value, NUL-ended each, at data. */
struct usc_meta {
	struct usc_record head;
	char data[];
};

/* At the end of tracing: the sequence numbers that a CPU gave out. Those from `first` up to `records` are to be in the trace. */
struct usc_cpu_total {
	struct usc_record head; /* cpu: which */
	__u64 records;
	__u64 first; /* 0: the trace begins where the numbers do */
};

USC_ASSERT_SIZE(usc_raw_header, 128);
USC_ASSERT_SIZE(usc_loss, 56);
USC_ASSERT_SIZE(usc_meta, 32);
USC_ASSERT_SIZE(usc_cpu_total, 48);

#endif
