/* SPDX-License-Identifier: GPL-2.0-or-later OR MIT */
/* Runs a question (query.h) over one event: the arithmetic of SQLite's SQL, and what each instruction does. */
#ifndef USCOPE_QUERY_RUN_H
#define USCOPE_QUERY_RUN_H

#include "uscope/query.h"

/* The number of the highest bit; of 0: 0. Without the instruction for it, which BPF has not. */
USC_INLINE __u32 usc_query_top_bit(__u64 value)
{
	__u32 bit = 0;

	if (value >> 32) {
		value >>= 32;
		bit += 32;
	}
	if (value >> 16) {
		value >>= 16;
		bit += 16;
	}
	if (value >> 8) {
		value >>= 8;
		bit += 8;
	}
	if (value >> 4) {
		value >>= 4;
		bit += 4;
	}
	if (value >> 2) {
		value >>= 2;
		bit += 2;
	}
	return bit + (value >> 1 & 1);
}

/* The end of the step that a number lies in, so that it differs by 1/64 at most: each power of two has 64 steps, and
 * below 64 each number is one. Of a negative number, that of the number without its sign, with the sign. */
USC_INLINE __s64 usc_query_bucket(__s64 number)
{
	__u64 value = number < 0 ? -(__u64)number : (__u64)number;
	__u32 shift;

	if (value >= 64) {
		shift = usc_query_top_bit(value) - 6;
		value |= (1ull << (shift & 63)) - 1;
	}
	if (number < 0)
		return value >> 63 ? number : -(__s64)value;
	return (__s64)value;
}

/* Shifts as SQL's: by 64 and more, nothing is left but the sign of a shift to the right. */
USC_INLINE __s64 usc_query_shift(__s64 number, __s64 by, int right)
{
	if (by < 0) {
		right = !right;
		by = by <= -64 ? 64 : -by;
	}
	if (by >= 64)
		return right && number < 0 ? -1 : 0;
	return right ? number >> (by & 63) : (__s64)((__u64)number << (by & 63));
}

/* a / b or a % b, cut towards 0; b is neither 0 nor -1. Without division of signed numbers, which BPF has not. */
USC_INLINE __s64 usc_query_divide(__s64 a, __s64 b, int rest)
{
	__u64 x = a < 0 ? -(__u64)a : (__u64)a, y = b < 0 ? -(__u64)b : (__u64)b;
	__u64 result = rest ? x % y : x / y;
	int negative = rest ? a < 0 : (a < 0) != (b < 0);

	return negative ? (__s64)-result : (__s64)result;
}

/* Is a * b beyond 64 bits? */
USC_INLINE int usc_query_mul_overflows(__s64 a, __s64 b)
{
	__u64 x = a < 0 ? -(__u64)a : (__u64)a, y = b < 0 ? -(__u64)b : (__u64)b;
	__u64 most = (a < 0) != (b < 0) ? 1ull << 63 : (1ull << 63) - 1;

	return x && y > most / x;
}

USC_INLINE int usc_query_compare(__u32 op, __s64 x, __s64 y)
{
	switch (op) {
	case USC_QUERY_EQUAL:
		return x == y;
	case USC_QUERY_DIFFER:
		return x != y;
	case USC_QUERY_LESS:
		return x < y;
	default:
		return x <= y;
	}
}

/* Arithmetic of two numbers, neither of them NULL. Not 0: *null or *whole says what became of it. */
USC_INLINE __s64 usc_query_compute(__u32 op, __s64 x, __s64 y, int *null, int *whole)
{
	__s64 result = 0;

	switch (op) {
	case USC_QUERY_ADD:
		result = (__s64)((__u64)x + (__u64)y);
		*whole = ((x ^ result) & (y ^ result)) < 0;
		return result;
	case USC_QUERY_SUB:
		result = (__s64)((__u64)x - (__u64)y);
		*whole = ((x ^ y) & (x ^ result)) < 0;
		return result;
	case USC_QUERY_MUL:
		*whole = usc_query_mul_overflows(x, y);
		return (__s64)((__u64)x * (__u64)y);
	case USC_QUERY_DIV:
	case USC_QUERY_REM:
		if (!y) {
			*null = 1;
			return 0;
		}
		if (y == -1) {
			if (op == USC_QUERY_REM)
				return 0;
			*whole = (__u64)x == 1ull << 63;
			return (__s64) - (__u64)x;
		}
		return usc_query_divide(x, y, op == USC_QUERY_REM);
	case USC_QUERY_AND:
		return x & y;
	case USC_QUERY_OR:
		return x | y;
	case USC_QUERY_LEFT:
	case USC_QUERY_RIGHT:
		return usc_query_shift(x, y, op == USC_QUERY_RIGHT);
	default:
		return usc_query_compare(op, x, y);
	}
}

/* SQL's AND and OR: what one side decides, the other one's NULL does not undo. */
USC_INLINE int usc_query_join(__u32 op, int true_a, int null_a, int true_b, int null_b, int *null)
{
	if (op == USC_QUERY_BOTH) {
		if ((!true_a && !null_a) || (!true_b && !null_b))
			return 0;
		*null = null_a || null_b;
		return !*null;
	}
	if (true_a || true_b)
		return 1;
	*null = null_a || null_b;
	return 0;
}

/* What an operand is; *null: whether it is NULL. Of nonsense too, which the check refuses. */
USC_INLINE __s64 usc_query_operand(const volatile struct usc_query_insn *insn, __u32 operand,
				   const struct usc_query_input *input, const struct usc_query_state *state, int *null)
{
	__u32 number = operand & (USC_QUERY_OF_FIELD - 1);

	*null = 0;
	if (operand == USC_QUERY_OWN)
		return insn->value;
	if (operand < USC_QUERY_OF_FIELD) {
		number &= USC_QUERY_REGISTERS - 1;
		*null = state->null[number];
		return state->reg[number];
	}
	if (number >= USC_QUERY_FIELD_COUNT)
		return 0;
	if (number == USC_QUERY_TOOK || number == USC_QUERY_RESULT || number >= USC_QUERY_ARG0)
		*null = input->nulls >> number & 1;
	return input->field[number];
}

/* An instruction that gives a register without reading one. */
USC_INLINE int usc_query_load(const volatile struct usc_query_insn *insn, const struct usc_query_input *input,
			      struct usc_query_state *state)
{
	__u32 d = insn->d & (USC_QUERY_REGISTERS - 1);
	__u64 value = (__u64)insn->value;

	if (insn->op == USC_QUERY_NUMBER) {
		state->reg[d] = (__s64)value;
		state->null[d] = 0;
		return 0;
	}
	if (value >= USC_QUERY_FIELD_COUNT)
		return USC_QUERY_WHOLE + 1;
	state->reg[d] = input->field[value];
	state->null[d] = input->nulls >> value & 1;
	return 0;
}

/* KEY and KEY_STEP. */
USC_INLINE int usc_query_give_key(const volatile struct usc_query_insn *insn, __s64 x, int null,
				  struct usc_query_state *state)
{
	__u64 word = (__u64)insn->value;

	if (word >= USC_QUERY_KEYS)
		return USC_QUERY_WHOLE + 1;
	state->key.word[word] = null ? 0 : x;
	state->key.nulls = (state->key.nulls & ~(1u << word)) | (__u32)null << word;
	return 0;
}

/* One instruction. Not 0: the event ends, as enum usc_query_end + 1. What is not known before it runs is one number and
 * whether it is NULL: where instructions are known, as to BPF's verifier, next to nothing is left of this. */
USC_INLINE int usc_query_step(const volatile struct usc_query_insn *insn, const struct usc_query_input *input,
			      struct usc_query_state *state)
{
	__u32 op = insn->op, d;
	int null_a, null_b, null, whole = 0;
	__s64 x, y, result = 0;
	__u64 value;

	if (op == USC_QUERY_FIELD || op == USC_QUERY_NUMBER)
		return usc_query_load(insn, input, state);
	x = usc_query_operand(insn, insn->a, input, state, &null_a);
	null = null_a;
	switch (op) {
	case USC_QUERY_UNLESS:
		return null_a || !x ? USC_QUERY_REFUSED + 1 : 0;
	case USC_QUERY_KEY:
		return usc_query_give_key(insn, x, null_a, state);
	case USC_QUERY_KEY_STEP:
		return usc_query_give_key(insn, usc_query_bucket(x), null_a, state);
	case USC_QUERY_MEASURE:
		value = (__u64)insn->value;
		if (value >= USC_QUERY_MEASURES)
			return USC_QUERY_WHOLE + 1;
		state->measure[value] = null_a ? 0 : x;
		state->measure_nulls = (state->measure_nulls & ~(1u << value)) | (__u32)null_a << value;
		return 0;
	case USC_QUERY_INVERT:
		result = ~x;
		break;
	case USC_QUERY_BUCKET:
		result = usc_query_bucket(x);
		break;
	case USC_QUERY_IS_NULL:
		result = null_a;
		null = 0;
		break;
	case USC_QUERY_NOT:
		result = !x;
		break;
	default:
		y = usc_query_operand(insn, insn->b, input, state, &null_b);
		if (op == USC_QUERY_BOTH || op == USC_QUERY_EITHER) {
			null = 0;
			result = usc_query_join(op, !null_a && x, null_a, !null_b && y, null_b, &null);
			break;
		}
		null = null_a || null_b;
		if (!null)
			result = usc_query_compute(op, x, y, &null, &whole);
		break;
	}
	if (whole)
		return USC_QUERY_WHOLE + 1;
	d = insn->d & (USC_QUERY_REGISTERS - 1);
	state->reg[d] = result;
	state->null[d] = (__u8)null;
	return 0;
}

/* Before the first instruction: registers and measures that nothing is put into are NULL, so that nothing of what was in
 * that memory is seen. Words of the key behind the first `keys` are left as they are. */
USC_INLINE void usc_query_begin(struct usc_query_state *state, __u32 keys)
{
	__u32 i;

	__builtin_memset(state->null, 1, sizeof(state->null));
	state->measure_nulls = (1u << USC_QUERY_MEASURES) - 1;
	for (i = 0; i < USC_QUERY_KEYS; i++)
		if (i < keys)
			state->key.word[i] = 0;
	state->key.nulls = 0;
	state->key.pad = 0;
}

/* Runs a question over an event. `state` need not be cleared. Ends whatever the question holds. */
USC_INLINE enum usc_query_end usc_query_run(const volatile struct usc_query *query, const struct usc_query_input *input,
					    struct usc_query_state *state)
{
	__u32 at, length = query->length;

	usc_query_begin(state, USC_QUERY_KEYS);
	for (at = 0; at < USC_QUERY_MOST && at < length; at++) {
		int end = usc_query_step(&query->insn[at], input, state);

		if (end)
			return (enum usc_query_end)(end - 1);
	}
	return USC_QUERY_GIVEN;
}

#endif
