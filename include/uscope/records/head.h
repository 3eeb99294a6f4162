/* SPDX-License-Identifier: GPL-2.0-or-later OR MIT */
/* The head of every record, the types of records, and the sources of events. */
#ifndef USCOPE_RECORDS_HEAD_H
#define USCOPE_RECORDS_HEAD_H

#include "uscope/base/base.h"

#define USC_CPU_USER 0xffff /* `cpu` of records made by the collector */

enum usc_record_type {
#define USC_X(name, number, text, type) USC_RECORD_##name = number,
#include "uscope/lists/record_type.def"
#undef USC_X
};

/* Where an event comes from. */
enum usc_source {
#define USC_X(name, text, unnamed, meaning) USC_SOURCE_##name,
#include "uscope/lists/source.def"
#undef USC_X
	USC_SOURCE_COUNT
};

/* Head of every record. */
struct usc_record {
	__u32 size; /* bytes with this head, multiple of 8 */
	__u16 type; /* enum usc_record_type */
	__u16 cpu;
	__u64 seq;  /* per cpu; moves with every attempt, so a gap is a lost record (loss.def: `numbered`). Order in the
		       file is not order of seq */
	__u32 task; /* thread serial, 0 = none */
	__u32 pad;
	__u64 time; /* CLOCK_MONOTONIC when the record was made, nanoseconds */
};

USC_ASSERT_SIZE(usc_record, 32);

#endif
