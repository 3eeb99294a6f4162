/* SPDX-License-Identifier: GPL-2.0-or-later OR MIT */
/*
 * A question in usc_config: what is summed of the events, by which keys (docs/adr/0007-questions.md). Its instructions
 * run one behind the other over registers that hold a number or NULL, with the arithmetic of SQLite's SQL. They end the
 * event (UNLESS), or give the words of its key and what is measured of it. Keys, counts and sums make a row; rows with
 * one key are added, wherever they come from: that is a partial row (struct usc_partial).
 */
#ifndef USCOPE_QUERY_H
#define USCOPE_QUERY_H

#include "uscope/base/base.h"
#include "uscope/records/call.h"
#include "uscope/records/partial.h"

#define USC_QUERY_VERSION 1 /* moves when an instruction or a number in it gets another meaning; not with new ones */
#define USC_QUERY_MOST 64   /* instructions */
#define USC_QUERY_REGISTERS 16
#define USC_QUERY_ROWS 4096 /* room for so many in each of a processor's two tables; a power of two */
#define USC_QUERY_ROWS_LEAST 8
#define USC_QUESTION 2 /* core/slots.def: for each processor, where there is a question */

/* What an instruction does; `d` is a register, `a` and `b` are operands: registers, or the two below. Numbers are never
 * used again. */
enum usc_query_op {
	USC_QUERY_FIELD = 1, /* d = the field `value` of the event */
	USC_QUERY_NUMBER,    /* d = value */
	USC_QUERY_ADD,	     /* d = a + b, and so on; NULL if one of them is */
	USC_QUERY_SUB,
	USC_QUERY_MUL,
	USC_QUERY_DIV, /* NULL if b is 0; this and the next cut towards 0 */
	USC_QUERY_REM,
	USC_QUERY_AND, /* of bits */
	USC_QUERY_OR,
	USC_QUERY_LEFT, /* shifts; by a negative number: the other way */
	USC_QUERY_RIGHT,
	USC_QUERY_INVERT, /* d = ~a */
	USC_QUERY_BUCKET, /* d = the end of the step that a lies in: usc_query_bucket() */
	USC_QUERY_EQUAL,  /* d = 1 or 0; NULL if one of them is */
	USC_QUERY_DIFFER,
	USC_QUERY_LESS,
	USC_QUERY_LESS_EQUAL,
	USC_QUERY_IS_NULL, /* d = 1 or 0, never NULL */
	USC_QUERY_NOT,	   /* SQL's NOT, AND, OR of three values; a number other than 0 is true */
	USC_QUERY_BOTH,
	USC_QUERY_EITHER,
	USC_QUERY_UNLESS,  /* the event is no event of the question, unless a is true */
	USC_QUERY_KEY,	   /* word `value` of the key = a */
	USC_QUERY_MEASURE, /* measure `value` = a */
	USC_QUERY_OP_COUNT
};

/* An operand that is no register: the instruction's own `value`, where it has no other meaning; with a field's number, that
 * field of the event. */
#define USC_QUERY_OWN 0x40
#define USC_QUERY_OF_FIELD 0x80

/* What is known of an event. Numbers are never used again. */
enum usc_query_field {
	USC_QUERY_SOURCE, /* enum usc_source */
	USC_QUERY_KIND,	  /* as in usc_event, so the next */
	USC_QUERY_ABI,
	USC_QUERY_HOW,	  /* enum usc_how; ATTACHED where usc_event has USC_EVENT_ATTACHED and the call returned */
	USC_QUERY_TASK,	  /* serial */
	USC_QUERY_IMAGE,  /* serial; 0: the task's inherited one, or none */
	USC_QUERY_STACK,  /* 0: none */
	USC_QUERY_TIME,	  /* ts_ns */
	USC_QUERY_TOOK,	  /* dur_ns; NULL unless the call returned */
	USC_QUERY_RESULT, /* NULL if there is none */
	USC_QUERY_ERROR,  /* a result from -4095 to -1, without its sign; 0: none */
	USC_QUERY_ARG0,	  /* so the next five */
	USC_QUERY_ARG1,
	USC_QUERY_ARG2,
	USC_QUERY_ARG3,
	USC_QUERY_ARG4,
	USC_QUERY_ARG5,
	USC_QUERY_FIELD_COUNT
};

/* The fields that nobody knows before a call has ended. */
#define USC_QUERY_OF_ENDS (1u << USC_QUERY_HOW | 1u << USC_QUERY_TOOK | 1u << USC_QUERY_RESULT | 1u << USC_QUERY_ERROR)

/* What an instruction does not use is 0. */
struct usc_query_insn {
	__u8 op; /* enum usc_query_op */
	__u8 d;
	__u8 a;
	__u8 b;
	__u32 pad;
	__s64 value;
};

/* All zeroes: there is none, and events are recorded one by one. */
struct usc_query {
	__u32 version; /* USC_QUERY_VERSION */
	__u16 length;  /* instructions; 1 … USC_QUERY_MOST */
	__u16 rows;    /* of a table that are used: a power of two, USC_QUERY_ROWS_LEAST … USC_QUERY_ROWS */
	__u16 keys;    /* words of a key; 0 … USC_QUERY_KEYS */
	__u16 measures;
	__u32 reads; /* fields that instructions read, as bits: nothing is found out of the others (usc_query_reads) */
	struct usc_query_insn insn[USC_QUERY_MOST];
};

struct usc_query_input {
	__s64 field[USC_QUERY_FIELD_COUNT]; /* 0 where it is NULL */
	__u32 nulls;			    /* bits of the two that may be NULL: TOOK and RESULT */
	__u32 pad;
};

/* Where a question is run: its registers, and what it gives of one event. */
struct usc_query_state {
	__s64 reg[USC_QUERY_REGISTERS]; /* anything where it is NULL */
	__s64 measure[USC_QUERY_MEASURES];
	__u8 null[USC_QUERY_REGISTERS]; /* 1: it is NULL. Bytes, so that no instruction waits for the one before */
	__u32 measure_nulls;		/* bits of measures */
	__u32 pad;
	struct usc_query_key key;
};

/* What becomes of an event. WHOLE: a number went beyond 64 bits, which SQL counts on with as REAL: the event itself is
 * sent. */
enum usc_query_end { USC_QUERY_REFUSED, USC_QUERY_GIVEN, USC_QUERY_WHOLE };

/* Why a question is refused. */
#define USC_QUERY_ERRORS(X)                                                                                            \
	X(SOUND, "nothing is wrong with it")                                                                           \
	X(UNKNOWN, "its version is unknown")                                                                           \
	X(EMPTY, "it has a version and no instructions")                                                               \
	X(LENGTH, "it has too many instructions, key words or measures")                                               \
	X(ROWS, "its tables cannot have so many rows")                                                                 \
	X(OP, "the instruction is unknown")                                                                            \
	X(REGISTER, "the register is unknown")                                                                         \
	X(FIELD, "the field is unknown")                                                                               \
	X(PLACE, "there is no such key word or measure")                                                               \
	X(READS, "it does not say which fields it reads")                                                              \
	X(RESERVED, "what must be 0 is not")

enum usc_query_error {
#define USC_X(name, meaning) USC_QUERY_BAD_##name,
	USC_QUERY_ERRORS(USC_X)
#undef USC_X
};

/* Which of d, a, b and value an instruction uses: bits 0 to 3. */
USC_INLINE __u32 usc_query_uses(__u32 op)
{
	switch (op) {
	case USC_QUERY_FIELD:
	case USC_QUERY_NUMBER:
		return 1 | 8;
	case USC_QUERY_INVERT:
	case USC_QUERY_BUCKET:
	case USC_QUERY_IS_NULL:
	case USC_QUERY_NOT:
		return 1 | 2;
	case USC_QUERY_UNLESS:
		return 2;
	case USC_QUERY_KEY:
	case USC_QUERY_MEASURE:
		return 2 | 8;
	default:
		return 1 | 2 | 4;
	}
}

USC_INLINE enum usc_query_error usc_query_operand_check(__u32 operand, int may_be_own)
{
	if (operand >= USC_QUERY_OF_FIELD)
		return operand < USC_QUERY_OF_FIELD + USC_QUERY_FIELD_COUNT ? USC_QUERY_BAD_SOUND : USC_QUERY_BAD_FIELD;
	if (operand < USC_QUERY_REGISTERS || (may_be_own && operand == USC_QUERY_OWN))
		return USC_QUERY_BAD_SOUND;
	return USC_QUERY_BAD_REGISTER;
}

USC_INLINE enum usc_query_error usc_query_insn_check(const struct usc_query *query, const struct usc_query_insn *insn)
{
	__u32 uses = usc_query_uses(insn->op);
	int has_own = insn->a == USC_QUERY_OWN || insn->b == USC_QUERY_OWN;
	enum usc_query_error error;

	if (!insn->op || insn->op >= USC_QUERY_OP_COUNT)
		return USC_QUERY_BAD_OP;
	if (insn->pad || (insn->d && !(uses & 1)) || (insn->a && !(uses & 2)) || (insn->b && !(uses & 4)) ||
	    (insn->value && !(uses & 8) && !has_own))
		return USC_QUERY_BAD_RESERVED;
	if (insn->d >= USC_QUERY_REGISTERS)
		return USC_QUERY_BAD_REGISTER;
	error = usc_query_operand_check(insn->a, !(uses & 8));
	if (!error)
		error = usc_query_operand_check(insn->b, !(uses & 8));
	if (error)
		return error;
	if (insn->op == USC_QUERY_FIELD && (insn->value < 0 || insn->value >= USC_QUERY_FIELD_COUNT))
		return USC_QUERY_BAD_FIELD;
	if (insn->op == USC_QUERY_KEY && (insn->value < 0 || insn->value >= query->keys))
		return USC_QUERY_BAD_PLACE;
	if (insn->op == USC_QUERY_MEASURE && (insn->value < 0 || insn->value >= query->measures))
		return USC_QUERY_BAD_PLACE;
	return USC_QUERY_BAD_SOUND;
}

/* The fields that a question's instructions read, as bits. */
USC_INLINE __u32 usc_query_reads(const struct usc_query *query)
{
	__u32 at, reads = 0;

	for (at = 0; at < query->length && at < USC_QUERY_MOST; at++) {
		const struct usc_query_insn *insn = &query->insn[at];

		if (insn->op == USC_QUERY_FIELD)
			reads |= 1u << (insn->value & 31);
		if (insn->a >= USC_QUERY_OF_FIELD)
			reads |= 1u << (insn->a & 31);
		if (insn->b >= USC_QUERY_OF_FIELD)
			reads |= 1u << (insn->b & 31);
	}
	return reads;
}

/* Whether a question can be run; `at` says at which instruction it cannot. A question is checked before it runs. */
USC_INLINE enum usc_query_error usc_query_check(const struct usc_query *query, __u32 *at)
{
	*at = 0;
	if (!query->version && !query->length)
		return query->keys || query->measures || query->reads || query->rows ? USC_QUERY_BAD_RESERVED
										     : USC_QUERY_BAD_SOUND;
	if (query->version != USC_QUERY_VERSION)
		return USC_QUERY_BAD_UNKNOWN;
	if (!query->length)
		return USC_QUERY_BAD_EMPTY;
	if (query->length > USC_QUERY_MOST || query->keys > USC_QUERY_KEYS || query->measures > USC_QUERY_MEASURES)
		return USC_QUERY_BAD_LENGTH;
	if (query->rows < USC_QUERY_ROWS_LEAST || query->rows > USC_QUERY_ROWS || query->rows & (query->rows - 1))
		return USC_QUERY_BAD_ROWS;
	for (; *at < query->length; ++*at) {
		enum usc_query_error error = usc_query_insn_check(query, &query->insn[*at]);

		if (error)
			return error;
	}
	return usc_query_reads(query) == query->reads ? USC_QUERY_BAD_SOUND : USC_QUERY_BAD_READS;
}

/* Is a question asked when calls begin? It is where it reads nothing of how they end. */
USC_INLINE int usc_query_is_of_beginnings(const volatile struct usc_query *query)
{
	return query->length && !(query->reads & USC_QUERY_OF_ENDS);
}

/* What a question reads of an event: the same that the loader writes to the table `event`. Fields that are not in `reads`
 * are left as they are. */
USC_INLINE void usc_query_fill_some(struct usc_query_input *input, const struct usc_event *event, __u32 reads)
{
	int returned = event->how == USC_HOW_RETURNED;
	int has_result = (returned || event->how == USC_HOW_NO_ENTRY) && !(event->flags & USC_EVENT_NO_RESULT);
	int failed = has_result && event->result < 0 && event->result >= -4095;
	__u32 i;

	if (reads & 1u << USC_QUERY_SOURCE)
		input->field[USC_QUERY_SOURCE] = event->source;
	if (reads & 1u << USC_QUERY_KIND)
		input->field[USC_QUERY_KIND] = event->kind;
	if (reads & 1u << USC_QUERY_ABI)
		input->field[USC_QUERY_ABI] = event->abi;
	if (reads & 1u << USC_QUERY_HOW) {
		input->field[USC_QUERY_HOW] = event->how;
		if (event->flags & USC_EVENT_ATTACHED && (returned || event->how == USC_HOW_OPEN))
			input->field[USC_QUERY_HOW] = USC_HOW_ATTACHED;
	}
	if (reads & 1u << USC_QUERY_TASK)
		input->field[USC_QUERY_TASK] = event->head.task;
	if (reads & 1u << USC_QUERY_IMAGE)
		input->field[USC_QUERY_IMAGE] = event->image;
	if (reads & 1u << USC_QUERY_STACK)
		input->field[USC_QUERY_STACK] = event->stack;
	if (reads & 1u << USC_QUERY_TIME)
		input->field[USC_QUERY_TIME] = (__s64)event->entry_ns;
	if (reads & 1u << USC_QUERY_TOOK) {
		input->field[USC_QUERY_TOOK] = 0;
		if (returned && event->head.time > event->entry_ns)
			input->field[USC_QUERY_TOOK] = (__s64)(event->head.time - event->entry_ns);
	}
	if (reads & 1u << USC_QUERY_RESULT)
		input->field[USC_QUERY_RESULT] = has_result ? event->result : 0;
	if (reads & 1u << USC_QUERY_ERROR)
		input->field[USC_QUERY_ERROR] = failed ? -event->result : 0;
	for (i = 0; i < 6; i++)
		if (reads & 1u << (USC_QUERY_ARG0 + i))
			input->field[USC_QUERY_ARG0 + i] = (__s64)event->args[i];
	input->nulls = (returned ? 0u : 1u << USC_QUERY_TOOK) | (has_result ? 0u : 1u << USC_QUERY_RESULT);
}

USC_INLINE void usc_query_fill(struct usc_query_input *input, const struct usc_event *event)
{
	usc_query_fill_some(input, event, ~0u);
}

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
	if (number == USC_QUERY_TOOK || number == USC_QUERY_RESULT)
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
		value = (__u64)insn->value;
		if (value >= USC_QUERY_KEYS)
			return USC_QUERY_WHOLE + 1;
		state->key.word[value] = null_a ? 0 : x;
		state->key.nulls = (state->key.nulls & ~(1u << value)) | (__u32)null_a << value;
		return 0;
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

USC_ASSERT_SIZE(usc_query_insn, 16);
USC_ASSERT_SIZE(usc_query, 1040);

#endif
