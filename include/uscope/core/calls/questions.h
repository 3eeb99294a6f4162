/* SPDX-License-Identifier: GPL-2.0-or-later OR MIT */
/*
 * An event of a question (uscope/query.h): it is added to the row of its key in a table of this processor, and leaves no
 * record. A row whose place another key wants goes through the ring, so that nothing depends on the table's size. A probe's
 * hit may interrupt a processor that is at work on an event; it is then sent as it is, and the tracer adds it: no row is
 * written by two at once.
 */
#ifndef USCOPE_CORE_QUESTIONS_H
#define USCOPE_CORE_QUESTIONS_H

#include "uscope/core/port.h"
#include "uscope/query_rows.h"
#include "uscope/query_run.h"

struct question_walk {
	struct query_scratch *scratch;
	__u32 length;
	int end; /* as of usc_query_step */
};

static long question_step(__u32 i, struct question_walk *walk)
{
	const volatile struct usc_query *query = query_of_config();

	i += USC_KNOWN_STEPS;
	if (i >= walk->length || i >= USC_QUERY_MOST)
		return 1;
	walk->end = usc_query_step(&query->insn[i], &walk->scratch->input, &walk->scratch->state);
	return walk->end != 0;
}

/* The first instructions, each in code of its own, of which a verifier that knows the configuration leaves what this
 * question does. As usc_query_step. */
static __always_inline int known_steps(struct query_scratch *scratch)
{
	int end = 0;
#if USC_KNOWN_STEPS
	__u32 i;

	USC_UNROLL
	for (i = 0; i < USC_KNOWN_STEPS; i++) {
		if (i >= config.query.length)
			break;
		end = usc_query_step(&config.query.insn[i], &scratch->input, &scratch->state);
		if (end)
			break;
	}
#endif
	return end;
}

static __always_inline int send_partial(struct query_scratch *scratch, const struct usc_query_row *row, __u32 turn)
{
	scratch->partial.turn = turn;
	__builtin_memcpy(&scratch->partial.row, row, sizeof(*row));
	return send_record(&scratch->partial.head, USC_RECORD_PARTIAL, sizeof(scratch->partial), 0, now_ns(), false);
}

/* Adds what the question has given of an event. For the verifier, which goes through it once, not for each caller. */
USC_SUBPROGRAM int add_to_row(struct query_scratch *scratch, __u32 process)
{
	__u32 cpu_number = current_cpu(), turn = query_turn_now(), number;
	__u32 keys = config.query.keys, measures = config.query.measures;
	struct cpu_state *cpu = cpu_state_of(cpu_number);
	struct usc_query_row *row;

	if (!scratch || !cpu)
		return 0;
	number = (cpu_number * 2 + turn) * USC_QUERY_ROWS;
	number += usc_query_hash_words(&scratch->state.key, keys) & (config.query.rows - 1);
	row = query_row_at(number);
	if (!row)
		return 0;
	if (row->events && (!usc_query_same_words(&row->key, &scratch->state.key, keys) ||
			    usc_query_sums_overflow(row, &scratch->state, measures))) {
		if (send_partial(scratch, row, turn)) {
			count_loss(cpu, USC_LOSS_RING_FULL_PARTIAL, process);
			return 0;
		}
		row->events = 0;
	}
	usc_query_add(row, &scratch->state, measures);
	cpu->stats.events++;
	return 0;
}

/* The event is in scratch->input. 0: it has been added, or is none of the question. Not 0: it is sent as it is, since SQL
 * counts on with REAL. */
USC_SUBPROGRAM int ask_question(struct query_scratch *scratch, __u32 process)
{
	struct question_walk walk = {.scratch = scratch, .length = config.query.length};

	if (!scratch)
		return 0;
	usc_query_begin(&scratch->state, config.query.keys);
	walk.end = known_steps(scratch);
	if (!walk.end && walk.length > USC_KNOWN_STEPS)
		usc_loop(walk.length - USC_KNOWN_STEPS, question_step, &walk);
	if (walk.end)
		return walk.end == USC_QUERY_WHOLE + 1;
	return add_to_row(scratch, process);
}

/* What this processor asks questions with, until ask_of_event(); 0: it is at work on another event. */
static __always_inline struct query_scratch *begin_asking(void)
{
	__u32 cpu_number = current_cpu();
	struct cpu_state *cpu = cpu_state_of(cpu_number);
	struct query_scratch *scratch = query_scratch_at(cpu_number);

	if (!cpu || !scratch || *(volatile __u32 *)&cpu->asking)
		return 0;
	*(volatile __u32 *)&cpu->asking = 1;
	barrier();
	return scratch;
}

/* As ask_question(), of an event of which the fields are there that the question reads; `unread`: as in usc_hit. */
static __always_inline int ask_of_event(struct query_scratch *scratch, const struct usc_event *event, __u32 unread,
					__u32 process)
{
	struct cpu_state *cpu = cpu_state_of(current_cpu());
	int whole;

	usc_query_fill_some(&scratch->input, event, unread, config.query.reads);
	whole = ask_question(scratch, process);
	barrier();
	if (cpu)
		*(volatile __u32 *)&cpu->asking = 0;
	return whole;
}

/* Does the question want to know one of these fields? Without a question, all of them are recorded. */
static __always_inline bool is_asked_for(__u32 fields)
{
	return !has_question() || config.query.reads & fields;
}

#define ASKED_TIME (1u << USC_QUERY_TIME | 1u << USC_QUERY_TOOK)

#endif
