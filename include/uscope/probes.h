/* SPDX-License-Identifier: GPL-2.0-or-later OR MIT */
/*
 * What the kernel side is told of each probe of a plan: of which source and kind its hits are, and where it finds their
 * arguments. A probe is known by its place in the plan, which comes with each hit (BPF's cookie).
 */
#ifndef USCOPE_PROBES_H
#define USCOPE_PROBES_H

#include "record.h"

#define USC_PROBES_MOST 65536 /* more than a kernel has functions that can be probed */
#define USC_PROBE_ARGUMENTS 6
#define USC_PROBE_REGISTERS USC_ALL_REGS /* the last one is the pc */
#define USC_PROBE_RECORD_BYTES 8192	 /* of a tracepoint, at most: the kernel's PERF_MAX_TRACE_SIZE */

/* Where an argument is. Numbers are never used again, here and in the next. */
enum usc_argument_from {
	USC_FROM_REGISTER = 1, /* of the program, or of a kernel function's entry: by its DWARF number */
	USC_FROM_MEMORY,       /* at what such a register holds, and `offset` */
	USC_FROM_RECORD,       /* at `offset` of the tracepoint's record */
	USC_FROM_CONSTANT,     /* `offset` is its value */
	USC_FROM_COUNT
};

/* Where the text is that an argument stands for. Of all but POINTED the argument has no number. */
enum usc_argument_text {
	USC_TEXT_NONE,
	USC_TEXT_POINTED,  /* at the address that is its value; it ends with NUL, like the others */
	USC_TEXT_INSIDE,   /* at `offset` of the record, `text_bytes` at most */
	USC_TEXT_LOCATED,  /* where the word at `offset` says: __data_loc */
	USC_TEXT_RELATIVE, /* the same, counted from behind that word: __rel_loc */
	USC_TEXT_COUNT
};

struct usc_probe_argument {
	__s64 offset;
	__u8 from; /* enum usc_argument_from */
	__u8 reg;
	__u8 bytes; /* 1, 2, 4, 8: of its value */
	__u8 is_signed;
	__u8 text; /* enum usc_argument_text */
	__u8 pad;
	__u16 text_bytes;
};

#define USC_PROBE_WITH_RETURN 1 /* role: an event lasts from the function's entry to its return */

#define USC_RESULT_SIGNED 128 /* result: beside its bytes */

/*
 * The cookie of a place in a program: its probe's number, and what the place is if not the function's entry. At a jump by
 * which the function may end, the condition of the jump and 1, as instructions number it; 0: it has none. Of an indirect jump,
 * the upper half has its number in the plan (struct usc_jump), and 1, and whether it POPS the target from the stack; where others
 * lead is known: to another function, or AGAIN to the function's own entry. A `ret` is both a return and an indirect jump where
 * the function may have put another address on the stack. CODE: the first byte of the instruction.
 */
#define USC_PLACE_OF_RETURN 0x80000000u
#define USC_PLACE_OF_JUMP 0x40000000u
#define USC_PLACE_AGAIN 0x20000000u
#define USC_PLACE_INDIRECT_SHIFT 32
#define USC_PLACE_INDIRECT 0x7fffffu
#define USC_PLACE_CODE_SHIFT 55
#define USC_PLACE_POPS (1ull << 63)
#define USC_PLACE_CONDITION_SHIFT 24
#define USC_PLACE_CONDITIONS 16
#define USC_PLACE_NUMBER 0xffffffu

struct usc_probe {
	__u32 kind; /* of its source, from 1 */
	__u8 source;
	__u8 arguments; /* how many are used */
	__u8 role;	/* 0: an event is a moment. USC_PROBE_WITH_RETURN */
	__u8 result;	/* of a function with its return: how many bytes its result has, 0 = it has none */
	struct usc_probe_argument argument[USC_PROBE_ARGUMENTS];
};

/* Why a probe is refused; from FROM on it is because of an argument. */
#define USC_PROBE_ERRORS(X)                                                                                            \
	X(SOUND, "nothing is wrong with it")                                                                           \
	X(SOURCE, "its source is not one of those that come by probes")                                                \
	X(KIND, "its kind has no number")                                                                              \
	X(COUNT, "it has too many arguments")                                                                          \
	X(ROLE, "only functions return, and a result has 1, 2, 4 or 8 bytes")                                          \
	X(FROM, "is in no place that its source has")                                                                  \
	X(REG, "is in a register that is not known")                                                                   \
	X(BYTES, "has not 1, 2, 4 or 8 bytes")                                                                         \
	X(OFFSET, "lies outside of the record")                                                                        \
	X(TEXT, "is a text that cannot be where it is said to be")                                                     \
	X(RESERVED, "has something where there must be 0")

enum usc_probe_error {
#define USC_X(name, meaning) USC_PROBE_BAD_##name,
	USC_PROBE_ERRORS(USC_X)
#undef USC_X
};

/* Of the others, arguments are in a tracepoint's record. */
USC_INLINE int usc_probe_has_registers(__u32 source)
{
	return source == USC_SOURCE_UFUNCTION || source == USC_SOURCE_USDT || source == USC_SOURCE_KFUNCTION;
}

USC_INLINE int usc_probe_is_of_function(__u32 source)
{
	return source == USC_SOURCE_UFUNCTION || source == USC_SOURCE_KFUNCTION;
}

USC_INLINE int usc_is_word_size(__u32 bytes)
{
	return bytes == 1 || bytes == 2 || bytes == 4 || bytes == 8;
}

USC_INLINE int usc_probe_role_is_sound(const struct usc_probe *probe)
{
	__u32 bytes = probe->result & ~USC_RESULT_SIGNED;

	if (!probe->role)
		return !probe->result;
	return probe->role == USC_PROBE_WITH_RETURN && usc_probe_is_of_function(probe->source) &&
	       (!probe->result || usc_is_word_size(bytes));
}

USC_INLINE int usc_argument_is_unused(const struct usc_probe_argument *argument)
{
	return !argument->offset && !argument->from && !argument->reg && !argument->bytes && !argument->is_signed &&
	       !argument->text && !argument->pad && !argument->text_bytes;
}

USC_INLINE enum usc_probe_error usc_argument_text_check(const struct usc_probe_argument *argument)
{
	if (argument->text >= USC_TEXT_COUNT || (argument->text != USC_TEXT_INSIDE && argument->text_bytes))
		return USC_PROBE_BAD_TEXT;
	if (argument->text == USC_TEXT_NONE)
		return USC_PROBE_BAD_SOUND;
	/* A 32-bit program's addresses have four bytes. */
	if (argument->text == USC_TEXT_POINTED)
		return argument->bytes >= 4 ? USC_PROBE_BAD_SOUND : USC_PROBE_BAD_TEXT;
	if (argument->from != USC_FROM_RECORD)
		return USC_PROBE_BAD_TEXT;
	if (argument->text != USC_TEXT_INSIDE)
		return argument->bytes == 4 ? USC_PROBE_BAD_SOUND : USC_PROBE_BAD_TEXT;
	if (!argument->text_bytes)
		return USC_PROBE_BAD_TEXT;
	return argument->offset + argument->text_bytes <= USC_PROBE_RECORD_BYTES ? USC_PROBE_BAD_SOUND
										 : USC_PROBE_BAD_OFFSET;
}

USC_INLINE enum usc_probe_error usc_argument_check(const struct usc_probe_argument *argument, __u32 source)
{
	__u32 from = argument->from;
	int has_register = from == USC_FROM_REGISTER || from == USC_FROM_MEMORY;

	if (!from || from >= USC_FROM_COUNT)
		return USC_PROBE_BAD_FROM;
	if (from != USC_FROM_CONSTANT && usc_probe_has_registers(source) != has_register)
		return USC_PROBE_BAD_FROM;
	if (argument->reg >= USC_PROBE_REGISTERS)
		return USC_PROBE_BAD_REG;
	if (!usc_is_word_size(argument->bytes))
		return USC_PROBE_BAD_BYTES;
	if (argument->is_signed > 1 || argument->pad || (!has_register && argument->reg) ||
	    (from == USC_FROM_REGISTER && argument->offset))
		return USC_PROBE_BAD_RESERVED;
	if (from == USC_FROM_RECORD &&
	    (argument->offset < 0 || argument->offset > USC_PROBE_RECORD_BYTES - argument->bytes))
		return USC_PROBE_BAD_OFFSET;
	return usc_argument_text_check(argument);
}

/* Whether hits of a probe can be told; `at` says at which argument they cannot. */
USC_INLINE enum usc_probe_error usc_probe_check(const struct usc_probe *probe, __u32 *at)
{
	*at = 0;
	if (!usc_probe_has_registers(probe->source) && probe->source != USC_SOURCE_TRACEPOINT)
		return USC_PROBE_BAD_SOURCE;
	if (!probe->kind)
		return USC_PROBE_BAD_KIND;
	if (probe->arguments > USC_PROBE_ARGUMENTS)
		return USC_PROBE_BAD_COUNT;
	if (!usc_probe_role_is_sound(probe))
		return USC_PROBE_BAD_ROLE;
	for (; *at < probe->arguments; ++*at) {
		enum usc_probe_error error = usc_argument_check(&probe->argument[*at], probe->source);

		if (error)
			return error;
	}
	for (; *at < USC_PROBE_ARGUMENTS; ++*at)
		if (!usc_argument_is_unused(&probe->argument[*at]))
			return USC_PROBE_BAD_RESERVED;
	return USC_PROBE_BAD_SOUND;
}

/* Whether the jump at a place is taken. */
USC_INLINE int usc_place_jumps(__u64 place, __u64 flags)
{
	__u32 condition = (__u32)place >> USC_PLACE_CONDITION_SHIFT & 31;

	return !condition || usc_condition_holds(condition - 1, flags);
}

/* The number of an indirect jump, and 1; 0: it is none. */
USC_INLINE __u32 usc_place_indirect(__u64 place)
{
	return place >> USC_PLACE_INDIRECT_SHIFT & USC_PLACE_INDIRECT;
}

USC_INLINE __u8 usc_place_code(__u64 place)
{
	return place >> USC_PLACE_CODE_SHIFT;
}

/* Where the return address is at a jump out. */
USC_INLINE __u64 usc_place_sp(__u64 place, __u64 sp)
{
	return place & USC_PLACE_POPS ? sp + 8 : sp;
}

/* What an argument's lowest bytes say, as 64 bits. */
USC_INLINE __u64 usc_argument_value(__u64 word, __u32 bytes, __u32 is_signed)
{
	__u32 unused = bytes < 8 ? 64 - bytes * 8 : 0;

	word <<= unused & 63;
	return is_signed ? (__u64)((__s64)word >> (unused & 63)) : word >> (unused & 63);
}

/* A tracepoint's record has the place of a text as a word: where it begins in the record, and its length with its NUL. */
USC_INLINE __u32 usc_text_place(const struct usc_probe_argument *argument, __u32 word)
{
	__u32 place = word & 0xffff;

	return argument->text == USC_TEXT_RELATIVE ? place + (__u32)argument->offset + 4 : place;
}

USC_INLINE __u32 usc_text_room(__u32 word)
{
	return word >> 16;
}

USC_ASSERT_SIZE(usc_probe_argument, 16);
USC_ASSERT_SIZE(usc_probe, 104);

#endif
