/* SPDX-License-Identifier: GPL-2.0-or-later OR MIT */
/*
 * Calls that are only counted, by fields as they are and the step of one (usc_query_counts_by_fields()), without rows:
 * what the fields say is one number, which chooses a place in a table of this processor, and the place says where the
 * counts of its steps are. A call so touches two lines of memory. Fields that the question does not name are 0.
 */
#ifndef USCOPE_QUERY_COUNTS_H
#define USCOPE_QUERY_COUNTS_H

#include "uscope/query_rows.h"

#define USC_QUERY_COUNT_PLACES 2048 /* a power of two, as is the next */
#define USC_QUERY_COUNTS 512

struct usc_query_place {
	__u64 key; /* usc_query_count_key() */
	__u32 image;
	__u32 number; /* of its counts, from 1; 0: the place is free */
};

/* Of one processor, for one of its two turns. */
struct usc_query_counts {
	struct usc_query_place place[USC_QUERY_COUNT_PLACES];
	struct usc_query_steps steps[USC_QUERY_COUNTS]; /* without a word in steps, all events are in the first one */
	__u16 place_of[USC_QUERY_COUNTS];
	__u32 used; /* how many of the counts */
	__u32 pad;
};

#define USC_QUERY_COUNT_KIND 0x1ffull
#define USC_QUERY_COUNT_GROUP_AT 9 /* 8 bits, with a sign */
#define USC_QUERY_COUNT_ERROR_AT 17
#define USC_QUERY_COUNT_TASK_AT 32

/* `kind`: of a call below USC_SYSCALL_BITS. `error`: 0 … 4095. `group`: as usc_query_group() gives it. */
USC_INLINE __u64 usc_query_count_key(__u32 kind, __s64 group, __u32 error, __u32 task)
{
	return (kind & USC_QUERY_COUNT_KIND) | ((__u64)group & 0xff) << USC_QUERY_COUNT_GROUP_AT |
	       (__u64)error << USC_QUERY_COUNT_ERROR_AT | (__u64)task << USC_QUERY_COUNT_TASK_AT;
}

/*
 * Where the key is looked for first, of a place's number the lower bits. What differs in the step of a number alone lies
 * together, up to 2^16 times as much. Calls whose numbers differ by 128 or 256, as write and openat do, lie apart.
 */
USC_INLINE __u32 usc_query_count_place(__u64 key, __u32 image)
{
	__u64 rest = (key >> USC_QUERY_COUNT_ERROR_AT ^ (__u64)image << 20) * 0x9e3779b97f4a7c15ull;
	__u32 kind = (__u32)(key & USC_QUERY_COUNT_KIND);

	return ((kind + 41 * (kind >> 7) + (__u32)(rest >> 56)) << 4) + (key >> USC_QUERY_COUNT_GROUP_AT & 15);
}

/* The bits of usc_query_count_key() that a question wants. `word_of`: usc_query_counts_by_fields(). */
USC_INLINE __u64 usc_query_count_mask(const __u8 *word_of)
{
	return (word_of[USC_QUERY_KIND] ? USC_QUERY_COUNT_KIND : 0) |
	       (word_of[USC_QUERY_ERROR] ? 0xfffull << USC_QUERY_COUNT_ERROR_AT : 0) |
	       (word_of[USC_QUERY_TASK] ? 0xffffffffull << USC_QUERY_COUNT_TASK_AT : 0) |
	       0xffull << USC_QUERY_COUNT_GROUP_AT;
}

USC_INLINE void usc_query_give_word(struct usc_query_key *key, const __u8 *word_of, __u32 field, __s64 value)
{
	if (word_of[field])
		key->word[(word_of[field] - 1) & (USC_QUERY_KEYS - 1)] = value;
}

/* The key of the row that the place stands for, with a group in the place of a step. */
USC_INLINE void usc_query_key_of_place(const struct usc_query_place *place, const __u8 *word_of,
				       struct usc_query_key *key)
{
	__s64 group = (__s8)(place->key >> USC_QUERY_COUNT_GROUP_AT & 0xff);

	usc_query_give_word(key, word_of, USC_QUERY_SOURCE, USC_SOURCE_SYSCALL);
	usc_query_give_word(key, word_of, USC_QUERY_KIND, (__s64)(place->key & USC_QUERY_COUNT_KIND));
	usc_query_give_word(key, word_of, USC_QUERY_ABI, USC_ABI_NATIVE);
	usc_query_give_word(key, word_of, USC_QUERY_HOW, USC_HOW_RETURNED);
	usc_query_give_word(key, word_of, USC_QUERY_TASK, (__s64)(place->key >> USC_QUERY_COUNT_TASK_AT));
	usc_query_give_word(key, word_of, USC_QUERY_IMAGE, place->image);
	usc_query_give_word(key, word_of, USC_QUERY_GUISE, place->image);
	usc_query_give_word(key, word_of, USC_QUERY_ERROR, (__s64)(place->key >> USC_QUERY_COUNT_ERROR_AT & 0xfff));
	usc_query_give_word(key, word_of, USC_QUERY_TOOK, group); /* the one that is in steps; so the next */
	usc_query_give_word(key, word_of, USC_QUERY_RESULT, group);
}

USC_ASSERT_SIZE(usc_query_place, 16);
USC_ASSERT_SIZE(usc_query_counts, 164872);

#endif
