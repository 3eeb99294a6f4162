/* SPDX-License-Identifier: GPL-2.0-or-later OR MIT */
/*
 * A program in usc_config: which of the events that the configuration selects are recorded (docs/adr/0006-programs.md).
 * It runs from its first instruction on. A comparison goes on at one of two places further down, so "and", "or" and "not"
 * are ways through the program, and no program runs for more steps than it has instructions. It ends at ADMIT or REFUSE.
 */
#ifndef USCOPE_PROGRAM_H
#define USCOPE_PROGRAM_H

#include "uscope/base/base.h"

#define USC_PROGRAM_VERSION 1 /* moves when an instruction or a number in it gets another meaning; not with new ones */
#define USC_PROGRAM_MOST 64   /* instructions */

/* What an instruction does. Numbers are never used again. */
enum usc_op {
	USC_OP_ADMIT = 1, /* the event is recorded */
	USC_OP_REFUSE,	  /* it is not */
	USC_OP_EQUAL,	  /* is the field equal to `value`? */
	USC_OP_BELOW,	  /* is it less, both without a sign? */
	USC_OP_ABOVE,	  /* greater, both without a sign? */
	USC_OP_LESS,	  /* less, both with a sign? */
	USC_OP_GREATER,	  /* greater, both with a sign? */
	USC_OP_ANY_BIT,	  /* has it any of the bits of `value`? */
	USC_OP_COUNT
};

/* What a comparison looks at. Numbers are never used again. */
enum usc_field {
	USC_FIELD_KIND, /* of a system call its number in its ABI; x32 without bit 30 */
	USC_FIELD_ABI,	/* enum usc_abi */
	USC_FIELD_PID,	/* of the initial pid namespace, so the next */
	USC_FIELD_TID,
	USC_FIELD_ARG0, /* as in usc_event, so the next five */
	USC_FIELD_ARG1,
	USC_FIELD_ARG2,
	USC_FIELD_ARG3,
	USC_FIELD_ARG4,
	USC_FIELD_ARG5,
	USC_FIELD_COUNT
};

/* ADMIT and REFUSE have 0 in all else. */
struct usc_insn {
	__u8 op;       /* enum usc_op */
	__u8 field;    /* enum usc_field */
	__u8 on_true;  /* instructions to pass over, if the answer is yes; 0 = go on at the next */
	__u8 on_false; /* the same, if it is no */
	__u8 bits; /* of the field, from the lowest on, that are compared: 32 (of an int) or 64; value has as many */
	__u8 pad[3];
	__u64 value;
};

/* All zeroes: there is none, and every selected event is recorded. */
struct usc_program {
	__u32 version; /* USC_PROGRAM_VERSION */
	__u32 length;  /* instructions; 0 … USC_PROGRAM_MOST */
	struct usc_insn insn[USC_PROGRAM_MOST];
};

struct usc_program_input {
	__u64 field[USC_FIELD_COUNT]; /* by enum usc_field; those that there are none of: 0 */
};

/* Why a program is refused. */
#define USC_PROGRAM_ERRORS(X)                                                                                          \
	X(SOUND, "nothing is wrong with it")                                                                           \
	X(UNKNOWN, "its version is unknown")                                                                           \
	X(EMPTY, "it has a version and no instructions")                                                               \
	X(LENGTH, "it has too many instructions")                                                                      \
	X(OP, "the instruction is unknown")                                                                            \
	X(FIELD, "the field is unknown")                                                                               \
	X(BITS, "it compares neither 32 nor 64 bits, or has a longer value")                                           \
	X(END, "the program goes on behind its end")                                                                   \
	X(RESERVED, "what must be 0 is not")

enum usc_program_error {
#define USC_X(name, meaning) USC_PROGRAM_##name,
	USC_PROGRAM_ERRORS(USC_X)
#undef USC_X
};

USC_INLINE enum usc_program_error usc_insn_check(const struct usc_insn *insn, __u32 rest)
{
	if (!insn->op || insn->op >= USC_OP_COUNT)
		return USC_PROGRAM_OP;
	if (insn->pad[0] || insn->pad[1] || insn->pad[2])
		return USC_PROGRAM_RESERVED;
	if (insn->op == USC_OP_ADMIT || insn->op == USC_OP_REFUSE) {
		if (insn->field || insn->on_true || insn->on_false || insn->bits || insn->value)
			return USC_PROGRAM_RESERVED;
		return USC_PROGRAM_SOUND;
	}
	if (insn->field >= USC_FIELD_COUNT)
		return USC_PROGRAM_FIELD;
	if (insn->bits != 32 && insn->bits != 64)
		return USC_PROGRAM_BITS;
	if (insn->bits == 32 && insn->value >> 32)
		return USC_PROGRAM_BITS;
	return insn->on_true < rest && insn->on_false < rest ? USC_PROGRAM_SOUND : USC_PROGRAM_END;
}

/* Whether a program can be run; `at` says at which instruction it cannot. A program is checked before it runs. */
USC_INLINE enum usc_program_error usc_program_check(const struct usc_program *program, __u32 *at)
{
	*at = 0;
	if (!program->version && !program->length)
		return USC_PROGRAM_SOUND;
	if (program->version != USC_PROGRAM_VERSION)
		return USC_PROGRAM_UNKNOWN;
	if (!program->length)
		return USC_PROGRAM_EMPTY;
	if (program->length > USC_PROGRAM_MOST)
		return USC_PROGRAM_LENGTH;
	for (; *at < program->length; ++*at) {
		enum usc_program_error error = usc_insn_check(&program->insn[*at], program->length - 1 - *at);

		if (error)
			return error;
	}
	return USC_PROGRAM_SOUND;
}

USC_INLINE int usc_insn_holds(__u32 op, __u32 bits, __u64 field, __u64 value)
{
	__s64 number = bits == 32 ? (__s32)field : (__s64)field;
	__s64 bound = bits == 32 ? (__s32)value : (__s64)value;

	if (bits == 32)
		field = (__u32)field;
	switch (op) {
	case USC_OP_EQUAL:
		return field == value;
	case USC_OP_BELOW:
		return field < value;
	case USC_OP_ABOVE:
		return field > value;
	case USC_OP_LESS:
		return number < bound;
	case USC_OP_GREATER:
		return number > bound;
	default:
		return (field & value) != 0;
	}
}

/* Not 0 if the event with these fields is to be recorded. Ends whatever the program holds: the verifier asks for that. */
USC_INLINE int usc_program_admits(const volatile struct usc_program *program, const struct usc_program_input *input)
{
	__u32 at = 0, step;

	for (step = 0; step < USC_PROGRAM_MOST && at < USC_PROGRAM_MOST; step++) {
		const volatile struct usc_insn *insn = &program->insn[at];
		__u32 op = insn->op, field = insn->field;

		if (op == USC_OP_ADMIT)
			return 1;
		if (op == USC_OP_REFUSE)
			return 0;
		if (field >= USC_FIELD_COUNT)
			return 1;
		if (usc_insn_holds(op, insn->bits, input->field[field], insn->value))
			at += 1 + insn->on_true;
		else
			at += 1 + insn->on_false;
	}
	return 1;
}

USC_ASSERT_SIZE(usc_insn, 16);
USC_ASSERT_SIZE(usc_program, 1032);

#endif
