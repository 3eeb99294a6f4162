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

/* KEY_STEP where its word becomes a group's: a number has the group and the step of its step's end (add_to_steps). */
static __always_inline int give_whole_number(struct query_scratch *scratch, const volatile struct usc_query_insn *insn)
{
	int null;
	__s64 x = usc_query_operand(insn, insn->a, &scratch->input, &scratch->state, &null);

	return usc_query_give_key(insn, x, null, &scratch->state);
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
		if (config.query.insn[i].op == USC_QUERY_KEY_STEP &&
		    config.query.insn[i].value + 1 == query_steps_word())
			end = give_whole_number(scratch, &config.query.insn[i]);
		else
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

/* Sends what the question has given of one event as a row of its own. */
USC_SUBPROGRAM int send_alone(struct query_scratch *scratch, __u32 process)
{
	struct cpu_state *cpu = cpu_state_of(current_cpu());

	if (!scratch || !cpu)
		return 0;
	scratch->partial.turn = query_turn_now();
	scratch->partial.row.events = 0;
	usc_query_add(&scratch->partial.row, &scratch->state, config.query.measures);
	if (send_record(&scratch->partial.head, USC_RECORD_PARTIAL, sizeof(scratch->partial), 0, now_ns(), false))
		count_loss(cpu, USC_LOSS_RING_FULL_PARTIAL, process);
	else
		cpu->stats.events++;
	return 0;
}

#define STEP_TRIES 4 /* places for the row of one group: rows of other keys do not give way */

/*
 * As add_to_row, where rows that differ in a step are kept as one (uscope/query_rows.h): `word` of the key is a number of
 * the step, in whose place the row has its group. 0: it found no place, or goes beyond a number.
 * Little is kept on the stack: until 6.12, BPF has 512 bytes of it for all calls.
 */
USC_SUBPROGRAM int add_to_steps(struct query_scratch *scratch)
{
	__u32 word = query_steps_word() - 1, mask = config.query.rows - 1, turn = query_turn_now(), hash, i;
	struct cpu_state *cpu = cpu_state_of(current_cpu());
	struct usc_query_steps *steps;
	struct usc_query_row *row;
	__u32 *count;

	if (!scratch || !cpu || word >= USC_QUERY_KEYS)
		return 0;
	if (mask >= USC_QUERY_STEP_ROWS)
		mask = USC_QUERY_STEP_ROWS - 1;
	scratch->number_of_step = scratch->state.key.word[word];
	scratch->state.key.word[word] = usc_query_group(scratch->number_of_step, &scratch->step);
	hash = usc_query_hash_words(&scratch->state.key, config.query.keys);
	for (i = 0; i < STEP_TRIES; i++) {
		asm volatile("" : "+r"(i)); /* four copies of this would have twice the stack */
		row = query_row_at((current_cpu() * 2 + turn) * USC_QUERY_ROWS + ((hash + i) & mask));
		steps = query_steps_at((current_cpu() * 2 + turn) * USC_QUERY_STEP_ROWS + ((hash + i) & mask));
		if (!row || !steps)
			break;
		if (row->events && !usc_query_same_words(&row->key, &scratch->state.key, config.query.keys))
			continue;
		count = &steps->events[scratch->step & (USC_QUERY_STEPS - 1)];
		if (row->events &&
		    (usc_query_sums_overflow(row, &scratch->state, config.query.measures) || *count == ~0u))
			break;
		usc_query_add(row, &scratch->state, config.query.measures);
		++*count;
		cpu->stats.events++;
		return 1;
	}
	scratch->state.key.word[word] = usc_query_bucket(scratch->number_of_step);
	return 0;
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
	if (!query_steps_word())
		return add_to_row(scratch, process);
	if (!add_to_steps(scratch))
		send_alone(scratch, process);
	return 0;
}

/* What this processor asks questions with, until end_asking(); 0: it is at work on another event. */
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

static __always_inline void end_asking(struct cpu_state *cpu)
{
	barrier();
	if (cpu)
		*(volatile __u32 *)&cpu->asking = 0;
}

/* As ask_question(), of an event of which the fields are there that the question reads; `unread`: as in usc_hit. */
static __always_inline int ask_of_event(struct query_scratch *scratch, const struct usc_event *event, __u32 unread,
					__u32 process)
{
	struct cpu_state *cpu = cpu_state_of(current_cpu());
	int whole;

	usc_query_fill_some(&scratch->input, event, unread, config.query.reads);
	whole = ask_question(scratch, process);
	end_asking(cpu);
	return whole;
}

/* Does the question want to know one of these fields? Without a question, all of them are recorded. */
static __always_inline bool is_asked_for(__u32 fields)
{
	return !has_question() || config.query.reads & fields;
}

/* Does the question want to know what tasks were called? Without one, events have the serials of their images. */
static __always_inline bool asks_for_guises(void)
{
	return has_question() && config.query.reads & 1u << USC_QUERY_GUISE;
}

#define ASKED_TIME (1u << USC_QUERY_TIME | 1u << USC_QUERY_TOOK)
/* The conditions of a question over a call, without its key. USC_QUERY_GIVEN + 1: it admits the call; else as of
 * usc_query_step. */
static __always_inline int admit_call(struct query_scratch *scratch, __u32 abi, __u32 nr, const __u64 *args)
{
	int end = 0;
	__u32 i;

	scratch->input.field[USC_QUERY_SOURCE] = USC_SOURCE_SYSCALL;
	scratch->input.field[USC_QUERY_KIND] = nr;
	scratch->input.field[USC_QUERY_ABI] = abi;
	for (i = 0; i < 6; i++)
		if (is_asked_for(1u << (USC_QUERY_ARG0 + i)))
			scratch->input.field[USC_QUERY_ARG0 + i] = (__s64)args[i];
	scratch->input.nulls = 1u << USC_QUERY_TOOK | 1u << USC_QUERY_RESULT;
	__builtin_memset(scratch->state.null, 1, sizeof(scratch->state.null));
#if USC_KNOWN_STEPS
	USC_UNROLL
	for (i = 0; i < USC_KNOWN_STEPS; i++) {
		if (i >= config.query.length)
			break;
		if (config.query.insn[i].op == USC_QUERY_KEY)
			continue;
		end = usc_query_step(&config.query.insn[i], &scratch->input, &scratch->state);
		if (end)
			break;
	}
#endif
	return end ? end : USC_QUERY_GIVEN + 1;
}

/* A call of which no more is asked than whether it is admitted, and its number (counts_calls). false: it is not known
 * here. */
static __always_inline bool count_call(__u32 abi, __u32 nr, const __u64 *args)
{
	struct cpu_state *cpu = cpu_state_of(current_cpu());
	int end = USC_QUERY_GIVEN + 1;
	__u64 *count;

	if (!cpu || nr >= USC_SYSCALL_BITS || abi >= USC_ABI_COUNT)
		return false;
	if (config.query.length > config.query.keys) {
		struct query_scratch *scratch = begin_asking();

		if (!scratch)
			return false;
		end = admit_call(scratch, abi, nr, args);
		end_asking(cpu);
	}
	if (end == USC_QUERY_REFUSED + 1)
		return true;
	count = end == USC_QUERY_GIVEN + 1 ? call_count_at(query_turn_now(), abi, nr) : 0;
	if (!count)
		return false;
	*(volatile __u64 *)count += 1;
	cpu->stats.events++;
	return true;
}

#endif
