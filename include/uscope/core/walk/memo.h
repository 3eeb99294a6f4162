/* SPDX-License-Identifier: GPL-2.0-or-later OR MIT */
/* Walks that are remembered whole (struct memo_slot): looked for before a walk, kept after it. */
#ifndef USCOPE_CORE_MEMO_H
#define USCOPE_CORE_MEMO_H

#include "uscope/core/walk/walk.h"

/* Memory of the kernel's half can be no stack, and where addresses wrap around distances say nothing. */
static __always_inline bool has_memo(const struct scratch *s)
{
	return s->key && !(s->start_rsp >> 63);
}

/*
 * Number of the first slot of the set for a call from here: the same for threads that came here by the same way. The
 * address space's number is brought down from the key's upper half, of which spread() uses the lowest bits alone.
 */
static __always_inline __u32 memo_set(const struct scratch *s)
{
	__u64 place = s->frame.pc + (s->start_rsp & (PAGE_BYTES - 1)) * 31;

	return s->cpu * MEMO_SLOTS + (spread(place ^ s->key ^ s->key >> 25) % MEMO_SLOTS & ~(MEMO_WAYS - 1u));
}

/* May the slot hold the walk from here? Its words are still to be compared. */
static __always_inline bool begins_alike(const struct scratch *s, const struct memo_slot *memo)
{
	__u64 rsp = s->start_rsp;

	return memo->key == s->key && memo->pc == s->frame.pc && memo->in_page == (rsp & (PAGE_BYTES - 1)) &&
	       (!memo->rbp_used || memo->rbp == s->frame.regs[USC_REG_RBP] - rsp) && memo->exe_file == s->exe_file;
}

/* Are all words of the slot what they were? They lie in the stretch that has been opened. */
static __always_inline bool words_agree(struct scratch *s, const struct memo_slot *memo)
{
	__u32 i, fixed = memo->fixed, moving = memo->moving;
	__u64 value, rsp = s->start_rsp;

	for (i = 0; i < MEMO_WORDS; i++) {
		if (i >= fixed)
			break;
		if (stretch_word(s, memo->at[i], &value) || value != memo->value[i])
			return false;
	}
	for (i = 0; i < MEMO_WORDS; i++) {
		if (i >= moving)
			break;
		if (stretch_word(s, memo->at[MEMO_WORDS - 1 - i], &value) ||
		    value - rsp != memo->value[MEMO_WORDS - 1 - i])
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
	if (read_word(c->s, c->s->start_rsp + memo->at[place] * 8ull, &value) ||
	    value - (moves ? c->s->start_rsp : 0) != memo->value[place]) {
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
USC_SUBPROGRAM __u32 recall_slot(struct scratch *s, struct memo_slot *memo)
{
	bool agree;
	__u32 id;

	if (!s || !memo)
		return 0;
	id = memo->stack;
	if (id < first_stack_now())
		return 0;
	s->wanted_end = s->start_rsp + memo->bytes;
	if (memo->bytes <= STRETCH_MOST_BYTES) {
		if (!open_stretch(s, s->start_rsp, memo->bytes))
			return 0;
		agree = words_agree(s, memo);
		close_stretch();
	} else {
		agree = far_words_agree(s, memo);
	}
	barrier();
	return agree && memo->key == s->key && memo->stack == id ? id : 0;
}

/* The stack id of an earlier walk that this one would repeat, 0 = none. */
static __always_inline __u32 recall(struct scratch *s, struct cpu_state *cpu)
{
	struct memo_slot *memo;
	__u32 set, way, id;

	if (!has_memo(s))
		return 0;
	set = memo_set(s);
	for (way = 0; way < MEMO_WAYS; way++) {
		memo = memo_slot_at(set + way);
		if (!memo || !begins_alike(s, memo))
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
static __always_inline struct memo_slot *slot_to_keep(__u32 set, __u32 id)
{
	struct memo_slot *first = memo_slot_at(set), *slot;
	__u32 way;

	if (!first)
		return 0;
	for (way = 0; way < MEMO_WAYS; way++) {
		slot = memo_slot_at(set + way);
		if (slot && slot->candidate == id)
			return slot;
	}
	slot = memo_slot_at(set + first->turn++ % MEMO_WAYS);
	if (slot)
		slot->candidate = id;
	return 0;
}

/* Keeps a word if it decided the walk. The slot's own fields count them: of a variable the verifier would follow each value
 * that it may have. */
static long keep_word(__u32 i, struct memo_context *c)
{
	struct memo_slot *memo = c->memo;
	struct scratch *s = c->s;
	__u32 place, end;

	if (i >= MEMO_WORDS)
		return 1;
	if (!(s->deciding >> i & 1))
		return 0;
	place = s->relative >> i & 1 ? MEMO_WORDS - 1 - memo->moving++ : memo->fixed++;
	asm volatile("" : "+r"(place)); /* one bound that the verifier sees */
	place &= MEMO_WORDS - 1;
	memo->at[place] = s->read_at[i];
	memo->value[place] = s->read_value[i] - (s->relative >> i & 1 ? s->start_rsp : 0);
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
 * Remembers a walk; `pc` and `rbp` are those it began with. Only what comes twice within a few walks is worth it: where
 * stacks differ from call to call, the words are not even copied.
 */
USC_SUBPROGRAM int memorise(struct scratch *s, __u64 pc, __u64 rbp, __u32 id)
{
	struct memo_slot *memo;

	if (!s || !has_memo(s) || !s->memo_ok || s->reads > MEMO_WORDS)
		return 0;
	s->frame.pc = pc;
	memo = slot_to_keep(memo_set(s), id);
	if (!memo)
		return 0;
	memo->key = 0;
	barrier();
	memo->pc = pc;
	memo->in_page = s->start_rsp & (PAGE_BYTES - 1);
	memo->rbp = rbp - s->start_rsp;
	memo->rbp_used = s->rbp_used;
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
