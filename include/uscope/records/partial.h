/* SPDX-License-Identifier: GPL-2.0-or-later OR MIT */
/*
 * A partial row of a question: what is summed of the events that have one key. Rows with one key are added, whichever
 * processor, interval or host they come from; uscope/query.h says how keys and measures are made.
 */
#ifndef USCOPE_RECORDS_PARTIAL_H
#define USCOPE_RECORDS_PARTIAL_H

#include "uscope/records/head.h"

#define USC_QUERY_KEYS 8     /* words of a key, at most */
#define USC_QUERY_MEASURES 6 /* at most */

struct usc_query_key {
	__s64 word[USC_QUERY_KEYS]; /* 0 where it is NULL, and behind the last */
	__u32 nulls;		    /* bits by word */
	__u32 pad;
};

/* What is summed of one measure: of the events in which it is not NULL. */
struct usc_query_sum {
	__u64 count;
	__s64 sum;
	__s64 least; /* this and the next mean nothing as long as count is 0 */
	__s64 greatest;
};

struct usc_query_row {
	__u64 events; /* 0: the row is empty */
	struct usc_query_key key;
	struct usc_query_sum sum[USC_QUERY_MEASURES]; /* 0 behind the last measure */
};

/*
 * A row that gave way to another one in its processor's table. head.time is when it did; no task.
 */
struct usc_partial {
	struct usc_record head;
	struct usc_query_row row;
	__u32 turn; /* which of the processor's two tables it was in */
	__u32 pad;
};

USC_ASSERT_SIZE(usc_query_key, 72);
USC_ASSERT_SIZE(usc_query_sum, 32);
USC_ASSERT_SIZE(usc_query_row, 272);
USC_ASSERT_SIZE(usc_partial, 312);

#endif
