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
#include "uscope/event_facts.h"
#include "uscope/records/call.h"
#include "uscope/records/partial.h"

#define USC_QUERY_VERSION 1 /* moves when an instruction or a number in it gets another meaning; not with new ones */
#define USC_QUERY_MOST 64   /* instructions */
#define USC_QUERY_REGISTERS 16
#define USC_QUERY_ROWS 4096 /* room for so many in each of a processor's two tables; a power of two */
#define USC_QUERY_ROWS_LEAST 8
#define USC_QUERY_STEP_ROWS 2048 /* of a table, where rows are spread by steps (query_rows.h); a power of two */
#define USC_QUESTION 2		 /* core/slots.def: for each processor, where there is a question */

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
	USC_QUERY_KEY_STEP, /* word `value` of the key = the end of the step that a lies in. Of rows that differ in this word
			     * alone, any may have what is measured of the events of all of them. */
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
	USC_QUERY_ERROR,  /* of a call: a result from -4095 to -1, without its sign; 0: none */
	USC_QUERY_ARG0,	  /* so the next five; NULL where a hit's could not be read */
	USC_QUERY_ARG1,
	USC_QUERY_ARG2,
	USC_QUERY_ARG3,
	USC_QUERY_ARG4,
	USC_QUERY_ARG5,
	USC_QUERY_GUISE, /* says, with TASK, which name and user the task had: serial of its image, or of its usc_guise */
	USC_QUERY_FIELD_COUNT
};

#define USC_QUERY_OF_ARGS                                                                                              \
	(1u << USC_QUERY_ARG0 | 1u << USC_QUERY_ARG1 | 1u << USC_QUERY_ARG2 | 1u << USC_QUERY_ARG3 |                   \
	 1u << USC_QUERY_ARG4 | 1u << USC_QUERY_ARG5)
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
	__u32 nulls;			    /* bits of those that may be NULL: TOOK, RESULT, ARG0 … ARG5 */
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
	case USC_QUERY_KEY_STEP:
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
	if ((insn->op == USC_QUERY_KEY || insn->op == USC_QUERY_KEY_STEP) &&
	    (insn->value < 0 || insn->value >= query->keys))
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

/* The last word of the key that KEY_STEP gives, and 1 more; 0: there is none. */
USC_INLINE __u32 usc_query_steps_word(const struct usc_query *query)
{
	__u32 at, word = 0;

	for (at = 0; at < query->length && at < USC_QUERY_MOST; at++)
		if (query->insn[at].op == USC_QUERY_KEY_STEP)
			word = (__u32)query->insn[at].value + 1;
	return word;
}

/* Is a question asked when calls begin? It is where it reads nothing of how they end. */
USC_INLINE int usc_query_is_of_beginnings(const volatile struct usc_query *query)
{
	return query->length && !(query->reads & USC_QUERY_OF_ENDS);
}

/* The fields that all moments of one probe have alike: what is told of its function's return is none. */
#define USC_QUERY_OF_PROBES (1u << USC_QUERY_SOURCE | 1u << USC_QUERY_KIND | 1u << USC_QUERY_ABI | 1u << USC_QUERY_HOW)

/* The fields of a hit that its probe, its thread, its times and its result do not say. */
#define USC_QUERY_OF_WHOLE_HITS (1u << USC_QUERY_STACK | USC_QUERY_OF_ARGS)

/* Is no more to be kept of a function that is entered than which probe has met it, when, and in which image? */
USC_INLINE int usc_query_is_of_brief_hits(const volatile struct usc_query *query)
{
	return query->length && !(query->reads & USC_QUERY_OF_WHOLE_HITS);
}

/* Is it enough to know how many moments there were of each probe? It is where nothing is summed of them, and nothing is
 * read in which two of one probe may differ. */
USC_INLINE int usc_query_counts_moments(const struct usc_query *query)
{
	return query->length && !query->measures && !(query->reads & ~USC_QUERY_OF_PROBES);
}

/* Fields of a call that its number and its ABI tell. */
#define USC_QUERY_OF_NUMBERS (1u << USC_QUERY_SOURCE | 1u << USC_QUERY_KIND | 1u << USC_QUERY_ABI)

/*
 * Is it enough to know how many calls there were of each number and ABI, of those that the question admits? It is where
 * calls are asked for when they begin, nothing is summed of them, and their key is what number and ABI tell.
 */
USC_INLINE int usc_query_counts_calls(const struct usc_query *query)
{
	__u32 at;

	if (!usc_query_is_of_beginnings(query) || query->measures ||
	    query->reads & ~(USC_QUERY_OF_NUMBERS | USC_QUERY_OF_ARGS))
		return 0;
	for (at = 0; at < query->length && at < USC_QUERY_MOST; at++) {
		const struct usc_query_insn *insn = &query->insn[at];

		if (insn->op == USC_QUERY_KEY_STEP)
			return 0;
		if (insn->op == USC_QUERY_KEY &&
		    (insn->a < USC_QUERY_OF_FIELD || !(USC_QUERY_OF_NUMBERS >> (insn->a - USC_QUERY_OF_FIELD) & 1)))
			return 0;
	}
	return 1;
}

/* Is no more asked of a call than what its number, its thread, its times and its result tell? */
USC_INLINE int usc_query_is_of_brief_calls(const struct usc_query *query)
{
	return usc_query_counts_calls(query) ||
	       (usc_query_is_of_brief_hits(query) && !usc_query_is_of_beginnings(query));
}

/* Fields of a call that may be words of a key by which it is counted: numbers of 32 bits and less. */
#define USC_QUERY_OF_COUNTS                                                                                            \
	(USC_QUERY_OF_NUMBERS | 1u << USC_QUERY_HOW | 1u << USC_QUERY_TASK | 1u << USC_QUERY_IMAGE |                   \
	 1u << USC_QUERY_ERROR | 1u << USC_QUERY_GUISE)
#define USC_QUERY_OF_COUNTED_STEPS (1u << USC_QUERY_TOOK | 1u << USC_QUERY_RESULT)

/*
 * Are calls only counted, when they end, by a key each word of which is one of these fields as it is, or the one step of a
 * time or result? Then `word_of` says of each field which word it gives, and 1 more; 0: none.
 */
USC_INLINE int usc_query_counts_by_fields(const struct usc_query *query, __u8 *word_of)
{
	__u32 at, words = 0, steps = 0;

	for (at = 0; at < USC_QUERY_FIELD_COUNT; at++)
		word_of[at] = 0;
	if (!usc_query_is_of_brief_calls(query) || usc_query_counts_calls(query) || query->measures ||
	    query->length != query->keys)
		return 0;
	for (at = 0; at < query->length && at < USC_QUERY_KEYS; at++) {
		const struct usc_query_insn *insn = &query->insn[at];
		__u32 field = (__u32)insn->a - USC_QUERY_OF_FIELD, word = (__u32)insn->value;
		int in_steps = insn->op == USC_QUERY_KEY_STEP;

		steps += in_steps;
		if ((insn->op != USC_QUERY_KEY && !in_steps) || steps > 1 || field >= USC_QUERY_FIELD_COUNT ||
		    !((in_steps ? USC_QUERY_OF_COUNTED_STEPS : USC_QUERY_OF_COUNTS) >> field & 1) || word_of[field] ||
		    words >> word & 1)
			return 0;
		words |= 1u << word;
		word_of[field] = (__u8)(word + 1);
	}
	return 1;
}

/* What a question reads of an event: the same that the loader writes to the table `event`. Fields that are not in `reads`
 * are left as they are. `unread`: of a hit, as in usc_hit; else 0. */
USC_INLINE void usc_query_fill_some(struct usc_query_input *input, const struct usc_event *event, __u32 unread,
				    __u32 reads)
{
	int returned = event->how == USC_HOW_RETURNED;
	int has_result = usc_event_has_result(event);
	/* Of functions, a number is no error. */
	int failed = event->source == USC_SOURCE_SYSCALL && has_result && event->result < 0 && event->result >= -4095;
	__u32 i;

	if (reads & 1u << USC_QUERY_SOURCE)
		input->field[USC_QUERY_SOURCE] = event->source;
	if (reads & 1u << USC_QUERY_KIND)
		input->field[USC_QUERY_KIND] = event->kind;
	if (reads & 1u << USC_QUERY_ABI)
		input->field[USC_QUERY_ABI] = event->abi;
	if (reads & 1u << USC_QUERY_HOW)
		input->field[USC_QUERY_HOW] = usc_event_how(event);
	if (reads & 1u << USC_QUERY_TASK)
		input->field[USC_QUERY_TASK] = event->head.task;
	if (reads & 1u << USC_QUERY_IMAGE)
		input->field[USC_QUERY_IMAGE] = event->image;
	if (reads & 1u << USC_QUERY_GUISE)
		input->field[USC_QUERY_GUISE] = event->image;
	if (reads & 1u << USC_QUERY_STACK)
		input->field[USC_QUERY_STACK] = event->stack;
	if (reads & 1u << USC_QUERY_TIME)
		input->field[USC_QUERY_TIME] = (__s64)event->entry_ns;
	if (reads & 1u << USC_QUERY_TOOK)
		input->field[USC_QUERY_TOOK] = (__s64)usc_event_took(event);
	if (reads & 1u << USC_QUERY_RESULT)
		input->field[USC_QUERY_RESULT] = has_result ? event->result : 0;
	if (reads & 1u << USC_QUERY_ERROR)
		input->field[USC_QUERY_ERROR] = failed ? -event->result : 0;
	for (i = 0; i < 6; i++)
		if (reads & 1u << (USC_QUERY_ARG0 + i))
			input->field[USC_QUERY_ARG0 + i] = (__s64)event->args[i];
	input->nulls = (returned ? 0u : 1u << USC_QUERY_TOOK) | (has_result ? 0u : 1u << USC_QUERY_RESULT);
	input->nulls |= unread << USC_QUERY_ARG0;
}

USC_INLINE void usc_query_fill(struct usc_query_input *input, const struct usc_event *event, __u32 unread)
{
	usc_query_fill_some(input, event, unread, ~0u);
}

USC_ASSERT_SIZE(usc_query_insn, 16);
USC_ASSERT_SIZE(usc_query, 1040);

#endif
