/* SPDX-License-Identifier: GPL-2.0-or-later OR MIT */
/* Walks that are remembered whole (struct memo_slot): looked for before a walk, kept after it. */
#ifndef USCOPE_CORE_MEMO_H
#define USCOPE_CORE_MEMO_H

#include "uscope/core/walk/walk.h"

/* Memory of the kernel's half can be no stack, and where addresses wrap around distances say nothing. */
static __always_inline bool has_memo(const struct scratch *s)
{
	return s->key && !(s->start_sp >> 63);
}

/*
 * Number of the set for a call from here: the same for threads that came here by the same way. The address space's number
 * is brought down from the key's upper half, of which spread() uses the lowest bits alone.
 */
static __always_inline __u32 memo_set_of(const struct scratch *s)
{
	__u64 place = s->start_pc + (s->start_sp & (USC_PAGE_BYTES - 1)) * 31;

	return s->cpu * MEMO_SETS + spread(place ^ s->key ^ s->key >> 25) % MEMO_SETS;
}

/* As row_slot.pc is. */
static __always_inline __u64 start_of(const struct scratch *s)
{
	return s->start_pc << 1 | !s->start_behind;
}

/* May the slot hold the walk from here? Its words are still to be compared. */
static __always_inline bool begins_alike(const struct scratch *s, const struct memo_slot *memo)
{
	__u64 sp = s->start_sp;

	return memo->key == s->key && memo->pc == start_of(s) && memo->in_page == (sp & (USC_PAGE_BYTES - 1)) &&
	       (!memo->fp_used || memo->fp == s->start_fp - sp) && memo->exe_file == s->exe_file;
}

/* Are all words of the slot what they were? They lie in the stretch that has been opened. */
static __always_inline bool words_agree(struct scratch *s, const struct memo_slot *memo)
{
	__u32 i, fixed = memo->fixed, moving = memo->moving;
	__u64 value, sp = s->start_sp;

	for (i = 0; USC_STAYS_BELOW(i, MEMO_WORDS) && i < fixed; i++) {
		if (stretch_word(s, memo->at[i], &value) || value != memo->value[i])
			return false;
	}
	for (i = 0; USC_STAYS_BELOW(i, MEMO_WORDS) && i < moving; i++) {
		if (stretch_word(s, memo->at[MEMO_WORDS - 1 - i], &value) ||
		    value - sp != memo->value[MEMO_WORDS - 1 - i])
			return false;
	}
	return true;
}

struct memo_context {
	struct scratch *s;
	struct memo_slot *memo;
	__u32 agree;
};

/* Is the word of this number what it was? Of a slot that has one for each number: fixed ones from the front, moving ones
 * from the back. */
static long compare_word(__u32 i, struct memo_context *c)
{
	struct memo_slot *memo = c->memo;
	bool moves = i >= memo->fixed;
	__u32 place = moves ? MEMO_WORDS - 1 - (i - memo->fixed) : i;
	__u64 value;

	place &= MEMO_WORDS - 1;
	if (read_word(c->s, c->s->start_sp + memo->at[place] * 8ull, &value) ||
	    value - (moves ? c->s->start_sp : 0) != memo->value[place]) {
		c->agree = 0;
		return 1;
	}
	return 0;
}

/* The same of words that lie further apart than a stretch is long. Few stacks are so deep: what counts is that the verifier
 * goes through it once, not for each word. */
static __always_inline bool far_words_agree(struct scratch *s, struct memo_slot *memo)
{
	struct memo_context c = {.s = s, .memo = memo, .agree = 1};

	usc_loop(memo->fixed + memo->moving, compare_word, &c);
	return c.agree;
}

/*
 * The stack id in a slot that begins alike, if a walk from here would read the same words; else 0. Without callbacks: the
 * hot path. A function of its own for the verifier, which goes through it once.
 */
USC_HOT_SUBPROGRAM __u32 recall_slot(struct scratch *s, struct memo_slot *memo)
{
	__u32 bytes;
	bool agree;

	if (!s || !memo || memo->stack < first_stack_now())
		return 0;
	bytes = memo->bytes;
	if (bytes <= STRETCH_MOST_BYTES) {
		if (!open_stretch(s, s->start_sp, bytes))
			return 0;
		agree = words_agree(s, memo);
		close_stretch();
	} else {
		s->wanted_end = s->start_sp + bytes;
		agree = far_words_agree(s, memo);
	}
	return agree ? memo->stack : 0;
}

/* The stack id of an earlier walk that this one would repeat, 0 = none. */
static __always_inline __u32 recall(struct scratch *s, struct cpu_state *cpu)
{
	struct memo_set *set;
	struct memo_slot *memo;
	__u32 way, id;

	if (!has_memo(s))
		return 0;
	s->memo_set = memo_set_of(s);
	set = memo_set_at(s->memo_set);
	if (!set)
		return 0;
	for (way = 0; way < MEMO_WAYS; way++) {
		memo = &set->slot[way];
		if (!begins_alike(s, memo))
			continue;
		id = recall_slot(s, memo);
		if (!id)
			continue;
		cpu->stats.memo_hits++;
		cpu->stats.frames_kept += memo->kept;
		cpu->stats.frames_walked += memo->frames;
		return id;
	}
	return 0;
}

/*
 * The slot of the set that is to hold the walk that gave this stack: the one whose candidate it is. 0 where it came for
 * the first time lately; then it is a candidate from now on, in place of the oldest one.
 */
static __always_inline struct memo_slot *slot_to_keep(struct memo_set *set, __u32 id)
{
	__u32 way;

	for (way = 0; way < MEMO_WAYS; way++)
		if (set->slot[way].candidate == id)
			return &set->slot[way];
	set->slot[set->slot[0].turn++ % MEMO_WAYS].candidate = id;
	return 0;
}

/* Keeps a word if it decided the walk. The slot's own fields count them: of a variable the verifier would follow each value
 * that it may have. */
static long keep_word(__u32 i, struct memo_context *c)
{
	struct memo_slot *memo = c->memo;
	struct scratch *s = c->s;
	__u32 place, end;
	bool moves;

	if (i >= MEMO_WORDS)
		return 1;
	if (s->read_as[i] == WORD_IS_NOTHING)
		return 0;
	moves = s->read_as[i] == WORD_MOVES;
	place = moves ? MEMO_WORDS - 1 - memo->moving++ : memo->fixed++;
	asm volatile("" : "+r"(place)); /* one bound that the verifier sees */
	place &= MEMO_WORDS - 1;
	memo->at[place] = s->read_at[i];
	memo->value[place] = s->read_value[i] - (moves ? s->start_sp : 0);
	end = (s->read_at[i] + 1u) * 8;
	if (memo->bytes < end)
		memo->bytes = end;
	return 0;
}

/* Keeps the words that decided the walk. */
static __always_inline void keep_words(struct memo_slot *memo, struct scratch *s)
{
	struct memo_context c = {.s = s, .memo = memo};

	memo->fixed = 0;
	memo->moving = 0;
	memo->bytes = 0;
	usc_loop(s->reads, keep_word, &c);
}

/*
 * Remembers a walk. Only what comes twice within a few walks is worth it: where stacks differ from call to call, the words
 * are not even copied.
 */
USC_HOT_SUBPROGRAM int memorise(struct scratch *s, __u32 id)
{
	struct memo_set *set;
	struct memo_slot *memo;

	if (!s || !has_memo(s) || !s->memo_ok || s->reads > MEMO_WORDS)
		return 0;
	set = memo_set_at(s->memo_set);
	memo = set ? slot_to_keep(set, id) : 0;
	if (!memo)
		return 0;
	memo->key = 0;
	barrier();
	memo->pc = start_of(s);
	memo->in_page = s->start_sp & (USC_PAGE_BYTES - 1);
	memo->fp = s->start_fp - s->start_sp;
	memo->fp_used = s->fp_used;
	memo->stack = id;
	memo->exe_file = s->exe_file;
	memo->frames = s->walked;
	memo->kept = s->scope.kept;
	keep_words(memo, s);
	barrier();
	memo->key = s->key;
	return 0;
}

#endif
