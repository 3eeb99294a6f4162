/* SPDX-License-Identifier: GPL-2.0-or-later OR MIT */
/*
 * One step of a walk: from a frame's registers and the rule that holds at its pc to its caller's registers. All memory
 * is read before any register changes, so a failed step leaves the frame as it was.
 *
 * Which registers are known: all of them in frame 0 and behind a signal frame. A compact row has rules for sp and fp
 * only, so the other ones are unknown afterwards; a shared rule has rules for all callee-saved ones.
 */
#ifndef USCOPE_UNWIND_H
#define USCOPE_UNWIND_H

#include "uscope/arch/arch.h"
#include "frame.h"
#include "record.h"
#include "row_search.h"

/* What a step came to; other values are -1 - enum usc_unwind_error. */
#define USC_STEP_CALLER 0
#define USC_STEP_ROOT 1
#define USC_STEP_BROKEN(error) (-1 - (int)(error))

/*
 * Supplied by the includer. usc_read_u64 reads user memory without faulting: 0, or not 0 where it could not.
 * usc_rule_at gives a shared rule by its number in the whole table, 0 = none.
 */
static inline int usc_read_u64(void *memory, __u64 address, __u64 *value);
static inline const struct usc_rule *usc_rule_at(void *tables, __u32 number);

/* What compact rules read by: nearly all that is read, so an includer may have it inlined. */
#ifndef USC_READ_COMPACT
#define USC_READ_COMPACT usc_read_u64
#endif

/* Sets `pc` and `sp` of the caller; the return address 0 is an end that no rule announced. */
USC_INLINE int usc_commit_caller(struct usc_frame *frame, __u64 pc, __u64 cfa, __u32 known)
{
	if (!pc)
		return USC_STEP_BROKEN(USC_BROKEN_ZERO_RA);
	frame->pc = pc;
	frame->regs[USC_REG_SP] = cfa;
	frame->known = known;
	frame->exact = 0;
	return USC_STEP_CALLER;
}

/* A compact rule's step, of all that such a rule reads and changes. */
USC_INLINE int usc_step_registers(__u64 *pc, __u64 *sp, __u64 *fp, __u32 *known, __u32 rule, void *memory)
{
	__u32 caller_known = *known & USC_KNOWN_STACK;
	__u64 cfa, caller_pc, caller_fp = *fp;

	if (USC_RULE_KIND(rule) == USC_RULE_FP) {
		if (!(caller_known & USC_KNOWN(USC_REG_FP)))
			return USC_STEP_BROKEN(USC_BROKEN_REGISTER);
		cfa = *fp;
	} else {
		cfa = *sp;
	}
	cfa += (__u64)USC_RULE_CFA_WORDS(rule) * 8;
	if (cfa <= *sp)
		return USC_STEP_BROKEN(USC_BROKEN_LOOP);
	if (USC_RULE_FP_WORDS(rule)) {
		if (USC_READ_COMPACT(memory, cfa - (__u64)USC_RULE_FP_WORDS(rule) * 8, &caller_fp))
			return USC_STEP_BROKEN(USC_BROKEN_NOFAULT);
		caller_known |= USC_KNOWN(USC_REG_FP);
	}
	if (USC_READ_COMPACT(memory, cfa - 8, &caller_pc))
		return USC_STEP_BROKEN(USC_BROKEN_NOFAULT);
	if (!caller_pc)
		return USC_STEP_BROKEN(USC_BROKEN_ZERO_RA);
	*pc = caller_pc;
	*sp = cfa;
	*fp = caller_fp;
	*known = caller_known;
	return USC_STEP_CALLER;
}

USC_INLINE int usc_step_compact(struct usc_frame *frame, __u32 rule, void *memory)
{
	int result = usc_step_registers(&frame->pc, &frame->regs[USC_REG_SP], &frame->regs[USC_REG_FP], &frame->known,
					rule, memory);

	if (result == USC_STEP_CALLER)
		frame->exact = 0;
	return result;
}

/*
 * Frame pointer step, for code of which nothing but that is known (JIT): the usual layout, CFA = fp + 16. Code that uses
 * fp for something else is found out where fp is not aligned or is below sp.
 */
USC_INLINE int usc_step_frame_pointer(struct usc_frame *frame, void *memory)
{
	__u64 fp = frame->regs[USC_REG_FP];

	if (!(frame->known & USC_KNOWN(USC_REG_FP)))
		return USC_STEP_BROKEN(USC_BROKEN_REGISTER);
	if ((fp & 7) || fp < frame->regs[USC_REG_SP])
		return USC_STEP_BROKEN(USC_BROKEN_FRAME_POINTER);
	return usc_step_compact(frame, USC_RULE_COMPACT(USC_RULE_FP, 2, 2), memory);
}

/*
 * The rule of code without unwind information that is about to return, of the eight bytes at its pc. That is what a trampoline
 * without a frame pointer has behind its call, such as those of Python's `-X perf`. The instructions say what will happen, so
 * nothing is guessed. USC_RULE_NONE: other code.
 */
USC_INLINE __u32 usc_rule_of_return(__u64 code)
{
	__u32 words = usc_words_to_caller(code);

	return words ? USC_RULE_COMPACT(USC_RULE_SP, words, 0) : USC_RULE_NONE;
}

/*
 * From a pc where no code is to the code that called it: through a null pointer, say. Of such a call its return address is all
 * that there is. `code`: the eight bytes before that address, by which it is known for one.
 */
USC_INLINE int usc_step_bad_call(struct usc_frame *frame, __u64 code, void *memory)
{
	if (!usc_ends_in_call(code))
		return USC_STEP_BROKEN(USC_BROKEN_NO_MAPPING);
	return usc_step_compact(frame, USC_RULE_COMPACT(USC_RULE_SP, 1, 0), memory);
}

/* Across a signal frame: the interrupted code's registers, all of them. The stack may be another one: no progress is
 * asked. */
USC_INLINE int usc_step_signal(struct usc_frame *frame, const struct usc_rule *rule, void *memory)
{
	__u64 context = frame->regs[USC_REG_SP] + (__s64)rule->cfa_off;
	__u64 words[USC_SIGCONTEXT_REGS], pc;
	__u32 i;

	for (i = 0; i < USC_SIGCONTEXT_REGS; i++)
		if (usc_read_u64(memory, context + i * 8, &words[i]))
			return USC_STEP_BROKEN(USC_BROKEN_NOFAULT);
	/* Any pc, also 0: where a bad pointer was called, that is what the signal tells. */
	if (usc_read_u64(memory, context + USC_SIGCONTEXT_REGS * 8, &pc))
		return USC_STEP_BROKEN(USC_BROKEN_NOFAULT);
	for (i = 0; i < USC_SIGCONTEXT_REGS; i++)
		frame->regs[USC_SIGCONTEXT_REG(i)] = words[i];
	frame->pc = pc;
	frame->known = USC_KNOWN_ALL;
	frame->exact = 1;
	return USC_STEP_CALLER;
}

/* The CFA by a shared rule that is not a signal frame's. */
USC_INLINE int usc_shared_cfa(const struct usc_frame *frame, const struct usc_rule *rule, void *memory, __u64 *cfa)
{
	__u32 reg = rule->cfa_reg & 15u;
	__u64 value;

	if (rule->cfa_kind == USC_CFA_PLT) {
		*cfa = frame->regs[USC_REG_SP] + 8 + ((__s64)(frame->pc & 15) >= rule->cfa_off ? 8 : 0);
		return 0;
	}
	if (!(frame->known & USC_KNOWN(reg)))
		return USC_STEP_BROKEN(USC_BROKEN_REGISTER);
	value = frame->regs[reg] + (__s64)rule->cfa_off;
	if (rule->cfa_kind == USC_CFA_DEREF) {
		if (usc_read_u64(memory, value, &value))
			return USC_STEP_BROKEN(USC_BROKEN_NOFAULT);
		value += (__s64)rule->cfa_add;
	} else if (rule->cfa_kind != USC_CFA_REG) {
		return USC_STEP_BROKEN(USC_BROKEN_BAD_RULE);
	}
	*cfa = value;
	return 0;
}

USC_INLINE int usc_step_shared(struct usc_frame *frame, const struct usc_rule *rule, void *memory)
{
	__u64 saved[USC_SAVED_REGS], cfa, pc;
	__u32 known = frame->known & (USC_KNOWN_STACK | USC_SAVED_MASK);
	__u32 i;
	int error;

	if (rule->ra_kind == USC_RA_ROOT)
		return USC_STEP_ROOT;
	if (rule->cfa_kind == USC_CFA_SIGNAL)
		return usc_step_signal(frame, rule, memory);
	error = usc_shared_cfa(frame, rule, memory, &cfa);
	if (error)
		return error;
	/* A return address in a register has not been pushed, or is popped: the CFA is sp itself. */
	if (!rule->other_stack &&
	    (cfa < frame->regs[USC_REG_SP] || (cfa == frame->regs[USC_REG_SP] && rule->ra_kind != USC_RA_REG)))
		return USC_STEP_BROKEN(USC_BROKEN_LOOP);
	if (rule->ra_kind == USC_RA_REG) {
		if (!(frame->known & USC_KNOWN(rule->ra_reg & 15u)))
			return USC_STEP_BROKEN(USC_BROKEN_REGISTER);
		pc = frame->regs[rule->ra_reg & 15u];
	} else if (usc_read_u64(memory, cfa + (__s64)rule->ra_off, &pc)) {
		return USC_STEP_BROKEN(USC_BROKEN_NOFAULT);
	}
	for (i = 0; i < USC_SAVED_REGS; i++) {
		__u32 reg = USC_SAVED_REG(i);
		__u64 base = cfa;

		saved[i] = frame->regs[reg];
		if (rule->save_kind[i] == USC_SAVE_SAME)
			continue;
		known &= ~USC_KNOWN(reg);
		if (rule->save_kind[i] == USC_SAVE_UNKNOWN)
			continue;
		if (rule->save_kind[i] == USC_SAVE_DEREF) {
			if (!(frame->known & USC_KNOWN(USC_REG_FP)))
				continue;
			base = frame->regs[USC_REG_FP];
		}
		/* A register that cannot be read is unknown; only a rule that needs it later breaks the walk. */
		if (!usc_read_u64(memory, base + (__s64)rule->save_off[i], &saved[i]))
			known |= USC_KNOWN(reg);
	}
	if (!pc)
		return USC_STEP_BROKEN(USC_BROKEN_ZERO_RA);
	for (i = 0; i < USC_SAVED_REGS; i++)
		frame->regs[USC_SAVED_REG(i)] = saved[i];
	error = usc_commit_caller(frame, pc, cfa, known);
	frame->exact = rule->exact_ra;
	return error;
}

/* One step by `rule` (from usc_row_find, at this frame's pc). USC_STEP_CALLER, USC_STEP_ROOT or USC_STEP_BROKEN(). */
USC_INLINE int usc_step(struct usc_frame *frame, __u32 rule, void *memory, void *tables)
{
	const struct usc_rule *shared;

	switch (USC_RULE_KIND(rule)) {
	case USC_RULE_SP:
	case USC_RULE_FP:
		return usc_step_compact(frame, rule, memory);
	case USC_RULE_ROOT:
		return USC_STEP_ROOT;
	case USC_RULE_FRAME_POINTER:
		return usc_step_frame_pointer(frame, memory);
	case USC_RULE_SHARED:
		shared = usc_rule_at(tables, USC_RULE_NUMBER(rule));
		if (!shared)
			return USC_STEP_BROKEN(USC_BROKEN_BAD_RULE);
		return usc_step_shared(frame, shared, memory);
	case USC_RULE_NONE:
		return USC_STEP_BROKEN(USC_BROKEN_NO_ROWS);
	default:
		return USC_STEP_BROKEN(USC_BROKEN_BAD_RULE);
	}
}

#endif
