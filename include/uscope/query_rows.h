/* SPDX-License-Identifier: GPL-2.0-or-later OR MIT */
/*
 * Rows that a question (query.h) fills: which of them have one key, and what an event adds to its row.
 *
 * Rows that differ in the steps of one number (USC_QUERY_KEY_STEP) are many, and each is hit seldom. So a backend may keep
 * those of one power of two as one row, with a count for each of the 64 steps beside it: usc_query_group() names the power
 * and the step, usc_query_step_of_group() goes back.
 */
#ifndef USCOPE_QUERY_ROWS_H
#define USCOPE_QUERY_ROWS_H

#include "uscope/query_run.h"

/* Of keys with so many words. */
USC_INLINE int usc_query_same_words(const struct usc_query_key *a, const struct usc_query_key *b, __u32 keys)
{
	__u64 differ = a->nulls ^ b->nulls;
	__u32 i;

	for (i = 0; i < USC_QUERY_KEYS && i < keys; i++)
		differ |= (__u64)a->word[i] ^ (__u64)b->word[i];
	return !differ;
}

USC_INLINE __u64 usc_query_hash_words(const struct usc_query_key *key, __u32 keys)
{
	__u64 hash = key->nulls;
	__u32 i;

	for (i = 0; i < USC_QUERY_KEYS && i < keys; i++)
		hash = (hash ^ (__u64)key->word[i]) * 0x9e3779b97f4a7c15ull;
	return hash ^ hash >> 32;
}

USC_INLINE int usc_query_same_key(const struct usc_query_key *a, const struct usc_query_key *b)
{
	return usc_query_same_words(a, b, USC_QUERY_KEYS);
}

USC_INLINE __u64 usc_query_hash(const struct usc_query_key *key)
{
	return usc_query_hash_words(key, USC_QUERY_KEYS);
}

/* Would a sum go beyond 64 bits with this event? */
USC_INLINE int usc_query_sums_overflow(const struct usc_query_row *row, const struct usc_query_state *state,
				       __u32 measures)
{
	__u32 i;

	for (i = 0; i < USC_QUERY_MEASURES && i < measures; i++) {
		__s64 sum = row->sum[i].sum, more = state->measure[i], both = (__s64)((__u64)sum + (__u64)more);

		if (!(state->measure_nulls >> i & 1) && ((sum ^ both) & (more ^ both)) < 0)
			return 1;
	}
	return 0;
}

/* Adds an event to the row of its key. An empty row takes the key. */
USC_INLINE void usc_query_add(struct usc_query_row *row, const struct usc_query_state *state, __u32 measures)
{
	__u32 i;

	if (!row->events)
		row->key = state->key;
	for (i = 0; i < USC_QUERY_MEASURES && i < measures; i++) {
		struct usc_query_sum *sum = &row->sum[i];
		__s64 value = state->measure[i];

		if (!row->events)
			sum->count = 0, sum->sum = 0;
		if (state->measure_nulls >> i & 1)
			continue;
		if (!sum->count || value < sum->least)
			sum->least = value;
		if (!sum->count || value > sum->greatest)
			sum->greatest = value;
		sum->count++;
		sum->sum = (__s64)((__u64)sum->sum + (__u64)value);
	}
	row->events++;
}

/* The key of a call of this ABI and number, where usc_query_counts_calls(). */
USC_INLINE void usc_query_key_of_number(const struct usc_query *query, __u32 abi, __u32 nr, struct usc_query_key *key)
{
	__u32 at;

	for (at = 0; at < query->length && at < USC_QUERY_MOST; at++) {
		const struct usc_query_insn *insn = &query->insn[at];
		__u32 field = insn->a - USC_QUERY_OF_FIELD;

		if (insn->op != USC_QUERY_KEY || insn->value < 0 || insn->value >= USC_QUERY_KEYS)
			continue;
		if (field == USC_QUERY_KIND)
			key->word[insn->value] = nr;
		else if (field == USC_QUERY_ABI)
			key->word[insn->value] = abi;
		else
			key->word[insn->value] = USC_SOURCE_SYSCALL;
	}
}

/* Room in BPF for so many threads at a time whose calls are told of without a look at what else is known of the thread; a
 * power of two; and the bytes for each. */
#define USC_QUERY_BRIEF_THREADS 16384
#define USC_QUERY_BRIEF_BYTES 32

#define USC_QUERY_STEPS 64 /* of a power of two; below that, each number is one */

/* Beside a row that stands for a group of steps: how many of its events lie in which. */
struct usc_query_steps {
	__u32 events[USC_QUERY_STEPS];
};

/* The group that a number, and so the end of its step (usc_query_bucket), belongs to; *step: which of its steps. Negative numbers have
 * groups of their own, from -1 down. */
USC_INLINE __s64 usc_query_group(__s64 number, __u32 *step)
{
	__u64 value = number < 0 ? -(__u64)number : (__u64)number;
	__u32 shift = 0;
	__s64 group = 0;

	if (value >= USC_QUERY_STEPS) {
		shift = usc_query_top_bit(value) - 6;
		group = shift + 1;
	}
	*step = (__u32)(value >> (shift & 63)) & (USC_QUERY_STEPS - 1);
	return number < 0 ? -group - 1 : group;
}

/* The end of that step. */
USC_INLINE __s64 usc_query_end_of_step(__s64 group, __u32 step)
{
	__u64 value = step & (USC_QUERY_STEPS - 1), power = (__u64)(group < 0 ? -(group + 1) : group);

	if (power > 0) {
		value = (value | USC_QUERY_STEPS) << ((power - 1) & 63);
		value |= (1ull << ((power - 1) & 63)) - 1;
	}
	if (group >= 0)
		return (__s64)value;
	return value >> 63 ? (__s64)(1ull << 63) : -(__s64)value; /* the least number is its own end */
}

USC_ASSERT_SIZE(usc_query_steps, 256);

#endif
