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

/* First bytes of a raw trace; records follow at header_size. */
struct usc_raw_header {
	__u64 magic;
	__u32 header_size;
	__u32 record_abi;
	__u64 start_ns;	     /* CLOCK_MONOTONIC at the start of tracing */
	__s64 utc_offset_ns; /* CLOCK_REALTIME minus CLOCK_MONOTONIC then */
	__u32 cpus;	     /* possible processors */
	__u32 pad;
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

/* At the end of tracing: how many sequence numbers a processor gave out. */
struct usc_cpu_total {
	struct usc_record head; /* cpu: which */
	__u64 records;
};

USC_ASSERT_SIZE(usc_raw_header, 40);
USC_ASSERT_SIZE(usc_loss, 48);
USC_ASSERT_SIZE(usc_meta, 24);
USC_ASSERT_SIZE(usc_cpu_total, 32);

#endif
