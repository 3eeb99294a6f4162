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

/* What an instruction does; `d`, `a`, `b` are registers. Numbers are never used again. */
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
	__u32 nulls;			    /* bits by enum usc_query_field */
	__u32 pad;
};

/* Where a question is run: its registers, and what it gives of one event. */
struct usc_query_state {
	__s64 reg[USC_QUERY_REGISTERS];
	__s64 measure[USC_QUERY_MEASURES];
	__u32 nulls;	     /* bits of registers */
	__u32 measure_nulls; /* bits of measures */
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

USC_INLINE enum usc_query_error usc_query_insn_check(const struct usc_query *query, const struct usc_query_insn *insn)
{
	__u32 uses = usc_query_uses(insn->op);

	if (!insn->op || insn->op >= USC_QUERY_OP_COUNT)
		return USC_QUERY_BAD_OP;
	if (insn->pad || (insn->d && !(uses & 1)) || (insn->a && !(uses & 2)) || (insn->b && !(uses & 4)) ||
	    (insn->value && !(uses & 8)))
		return USC_QUERY_BAD_RESERVED;
	if (insn->d >= USC_QUERY_REGISTERS || insn->a >= USC_QUERY_REGISTERS || insn->b >= USC_QUERY_REGISTERS)
		return USC_QUERY_BAD_REGISTER;
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

	for (at = 0; at < query->length && at < USC_QUERY_MOST; at++)
		if (query->insn[at].op == USC_QUERY_FIELD)
			reads |= 1u << (query->insn[at].value & 31);
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

/* What a question reads of an event: the same that the loader writes to the table `event`. */
USC_INLINE void usc_query_fill(struct usc_query_input *input, const struct usc_event *event)
{
	int returned = event->how == USC_HOW_RETURNED;
	int has_result = (returned || event->how == USC_HOW_NO_ENTRY) && !(event->flags & USC_EVENT_NO_RESULT);
	int failed = has_result && event->result < 0 && event->result >= -4095;
	__u32 i;

	input->field[USC_QUERY_SOURCE] = event->source;
	input->field[USC_QUERY_KIND] = event->kind;
	input->field[USC_QUERY_ABI] = event->abi;
	input->field[USC_QUERY_HOW] = event->how;
	if (event->flags & USC_EVENT_ATTACHED && (returned || event->how == USC_HOW_OPEN))
		input->field[USC_QUERY_HOW] = USC_HOW_ATTACHED;
	input->field[USC_QUERY_TASK] = event->head.task;
	input->field[USC_QUERY_IMAGE] = event->image;
	input->field[USC_QUERY_STACK] = event->stack;
	input->field[USC_QUERY_TIME] = (__s64)event->entry_ns;
	input->field[USC_QUERY_TOOK] = 0;
	if (returned && event->head.time > event->entry_ns)
		input->field[USC_QUERY_TOOK] = (__s64)(event->head.time - event->entry_ns);
	input->field[USC_QUERY_RESULT] = has_result ? event->result : 0;
	input->field[USC_QUERY_ERROR] = failed ? -event->result : 0;
	for (i = 0; i < 6; i++)
		input->field[USC_QUERY_ARG0 + i] = (__s64)event->args[i];
	input->nulls = (returned ? 0u : 1u << USC_QUERY_TOOK) | (has_result ? 0u : 1u << USC_QUERY_RESULT);
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

/* One instruction. Not 0: the event ends, as enum usc_query_end + 1. */
USC_INLINE int usc_query_step(const volatile struct usc_query_insn *insn, const struct usc_query_input *input,
			      struct usc_query_state *state)
{
	__u32 op = insn->op, d = insn->d & (USC_QUERY_REGISTERS - 1);
	__u32 a = insn->a & (USC_QUERY_REGISTERS - 1), b = insn->b & (USC_QUERY_REGISTERS - 1);
	__u64 value = (__u64)insn->value;
	int null_a = state->nulls >> a & 1, null_b = state->nulls >> b & 1, null = 0, whole = 0;
	__s64 x = state->reg[a], y = state->reg[b], result = 0;

	switch (op) {
	case USC_QUERY_FIELD:
		if (value >= USC_QUERY_FIELD_COUNT)
			return USC_QUERY_WHOLE + 1;
		result = input->field[value];
		null = input->nulls >> value & 1;
		break;
	case USC_QUERY_NUMBER:
		result = (__s64)value;
		break;
	case USC_QUERY_INVERT:
		result = ~x;
		null = null_a;
		break;
	case USC_QUERY_BUCKET:
		result = usc_query_bucket(x);
		null = null_a;
		break;
	case USC_QUERY_IS_NULL:
		result = null_a;
		break;
	case USC_QUERY_NOT:
		result = !x;
		null = null_a;
		break;
	case USC_QUERY_BOTH:
	case USC_QUERY_EITHER:
		result = usc_query_join(op, !null_a && x, null_a, !null_b && y, null_b, &null);
		break;
	case USC_QUERY_UNLESS:
		return null_a || !x ? USC_QUERY_REFUSED + 1 : 0;
	case USC_QUERY_KEY:
		if (value >= USC_QUERY_KEYS)
			return USC_QUERY_WHOLE + 1;
		state->key.word[value] = null_a ? 0 : x;
		state->key.nulls = (state->key.nulls & ~(1u << value)) | (__u32)null_a << value;
		return 0;
	case USC_QUERY_MEASURE:
		if (value >= USC_QUERY_MEASURES)
			return USC_QUERY_WHOLE + 1;
		state->measure[value] = null_a ? 0 : x;
		state->measure_nulls = (state->measure_nulls & ~(1u << value)) | (__u32)null_a << value;
		return 0;
	default:
		null = null_a || null_b;
		if (!null)
			result = usc_query_compute(op, x, y, &null, &whole);
		break;
	}
	if (whole)
		return USC_QUERY_WHOLE + 1;
	state->reg[d] = null ? 0 : result;
	state->nulls = (state->nulls & ~(1u << d)) | (__u32)null << d;
	return 0;
}

/* Before the first instruction: registers and measures that nothing is put into are NULL, so that nothing of what was in
 * that memory is seen. */
USC_INLINE void usc_query_begin(struct usc_query_state *state)
{
	state->nulls = (1u << USC_QUERY_REGISTERS) - 1;
	state->measure_nulls = (1u << USC_QUERY_MEASURES) - 1;
	__builtin_memset(&state->key, 0, sizeof(state->key));
}

/* Runs a question over an event. `state` need not be cleared. Ends whatever the question holds. */
USC_INLINE enum usc_query_end usc_query_run(const volatile struct usc_query *query, const struct usc_query_input *input,
					    struct usc_query_state *state)
{
	__u32 at, length = query->length;

	usc_query_begin(state);
	for (at = 0; at < USC_QUERY_MOST && at < length; at++) {
		int end = usc_query_step(&query->insn[at], input, state);

		if (end)
			return (enum usc_query_end)(end - 1);
	}
	return USC_QUERY_GIVEN;
}

USC_INLINE int usc_query_same_key(const struct usc_query_key *a, const struct usc_query_key *b)
{
	__u64 differ = a->nulls ^ b->nulls;
	__u32 i;

	for (i = 0; i < USC_QUERY_KEYS; i++)
		differ |= (__u64)a->word[i] ^ (__u64)b->word[i];
	return !differ;
}

USC_INLINE __u64 usc_query_hash(const struct usc_query_key *key)
{
	__u64 hash = key->nulls;
	__u32 i;

	for (i = 0; i < USC_QUERY_KEYS; i++)
		hash = (hash ^ (__u64)key->word[i]) * 0x9e3779b97f4a7c15ull;
	return hash ^ hash >> 32;
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
