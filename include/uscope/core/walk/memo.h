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

/* The memo's place for a call from here: the same for threads that came here by the same way. */
static __always_inline struct memo_slot *memo_of(struct scratch *s)
{
	__u64 way = s->frame.pc + (s->start_rsp & (PAGE_BYTES - 1)) * 31;

	return memo_slot_at(s->cpu * MEMO_SLOTS + spread(way ^ s->key << 17) % MEMO_SLOTS);
}

/* The stack id of an earlier walk that this one would repeat word by word, 0 = none. Inline, and without callbacks: the
 * hot path. */
static __always_inline __u32 recall(struct scratch *s, struct cpu_state *cpu)
{
	__u64 rsp = s->start_rsp, value;
	struct memo_slot *memo;
	__u32 i, id;

	if (!has_memo(s))
		return 0;
	memo = memo_of(s);
	if (!memo || memo->key != s->key || memo->pc != s->frame.pc || memo->in_page != (rsp & (PAGE_BYTES - 1)) ||
	    (memo->rbp_used && memo->rbp != s->frame.regs[USC_REG_RBP] - rsp) || memo->exe_file != s->exe_file)
		return 0;
	id = memo->stack;
	if (memo->words)
		s->wanted_end = rsp + (memo->at[(memo->words - 1) & (MEMO_WORDS - 1)] + 1ull) * 8;
	for (i = 0; i < MEMO_WORDS; i++) {
		if (i >= memo->words)
			break;
		if (read_word(s, rsp + (__u64)memo->at[i] * 8, &value))
			return 0;
		if (value - (rsp & -(memo->relative >> i & 1)) != memo->value[i])
			return 0;
	}
	barrier();
	if (memo->key != s->key || memo->stack != id)
		return 0;
	cpu->stats.memo_hits++;
	cpu->stats.frames_kept += memo->kept;
	cpu->stats.frames_walked += memo->frames;
	return id;
}

struct keep_context {
	const struct scratch *s;
	struct memo_slot *memo;
};

/* Keeps a word if it decided the walk. */
static long keep_word(__u32 i, struct keep_context *c)
{
	struct memo_slot *memo = c->memo;
	const struct scratch *s = c->s;
	__u32 n = memo->words;
	__u64 relative;

	if (i >= MEMO_WORDS || n >= MEMO_WORDS)
		return 1;
	if (!(s->deciding >> i & 1))
		return 0;
	relative = s->relative >> i & 1;
	memo->at[n] = s->read_at[i];
	memo->value[n] = s->read_value[i] - (s->start_rsp & -relative);
	memo->relative |= relative << n;
	memo->words = n + 1;
	return 0;
}

/*
 * Remembers a walk; `pc` and `rbp` are those it began with. Only what comes twice in a row is worth it: where stacks
 * differ from call to call, the words are not even copied.
 */
USC_SUBPROGRAM int memorise(struct scratch *s, __u64 pc, __u64 rbp, __u32 id)
{
	struct keep_context c = {.s = s};
	struct memo_slot *memo;

	if (!s || !has_memo(s) || !s->memo_ok || s->reads > MEMO_WORDS)
		return 0;
	s->frame.pc = pc;
	memo = memo_of(s);
	if (!memo)
		return 0;
	if (memo->candidate != id) {
		memo->candidate = id;
		return 0;
	}
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
	memo->words = 0;
	memo->relative = 0;
	c.memo = memo;
	usc_loop(s->reads, keep_word, &c);
	barrier();
	memo->key = s->key;
	return 0;
}

#endif
