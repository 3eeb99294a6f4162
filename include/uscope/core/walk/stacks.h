/* SPDX-License-Identifier: GPL-2.0-or-later OR MIT */
/*
 * From a call to a stack id: by the memo, else by a walk whose frames are looked up among the stacks that this
 * processor has sent. Stacks are compared in full, and count as sent only when their record was. Two processors may
 * send one stack twice, under two ids; the loader makes them one.
 */
#ifndef USCOPE_CORE_STACKS_H
#define USCOPE_CORE_STACKS_H

#include "uscope/core/walk/memo.h"
#include "uscope/core/walk/samples.h"

struct log_context {
	struct scratch *s;
	struct stack_log *log;
	__u32 position;
	__u32 differs;
};

static __always_inline __u64 *log_word(struct stack_log *log, __u64 position)
{
	return &log->word[position & (STACK_LOG_WORDS - 1)];
}

static long compare_frame(__u32 i, struct log_context *c)
{
	if (i >= USC_MAX_FRAMES || *log_word(c->log, c->position + i) != c->s->frames[i]) {
		c->differs = 1;
		return 1;
	}
	return 0;
}

static long store_frame(__u32 i, struct log_context *c)
{
	if (i >= USC_MAX_FRAMES)
		return 1;
	*log_word(c->log, c->position + i) = c->s->frames[i];
	return 0;
}

/*
 * What makes a stack that stack is its frames, its end and, with JIT frames, the address space: `tag` is all but the
 * frames.
 */
static __always_inline __u32 stack_tag(const struct scratch *s)
{
	return s->ended | (s->has_jit ? 0x100 : 0) | s->scope.kept << 12;
}

static __noinline __u32 send_stack(struct scratch *s, __u64 now)
{
	struct cpu_state *cpu;
	__u32 bytes, id, kept;

	if (!s)
		return 0;
	kept = s->scope.kept;
	if (kept > USC_MAX_FRAMES)
		return 0;
	cpu = cpu_state_of(s->cpu);
	if (!cpu)
		return 0;
	id = next_serial(SERIAL(stack));
	s->record.stack = id;
	s->record.mm = s->has_jit ? s->mm : 0;
	s->record.depth = kept;
	s->record.ended = s->ended;
	s->record.deferred = 0;
	s->record.pad = 0;
	bytes = sizeof(s->record) + kept * 8;
	if (send_record(&s->record.head, USC_RECORD_STACK, bytes, s->serial, now, false)) {
		count_loss(cpu, USC_LOSS_RING_FULL_STACK, 0);
		return 0;
	}
	cpu->stats.stacks_sent++;
	return id;
}

struct intern {
	__u64 hash;
	__u32 tag;
	__u32 set; /* number of that where it can be */
};

#define INLINE_FRAMES 16

/* Are the frames in the log from this position on those in the scratch area? */
static __noinline int same_frames(struct scratch *s, __u64 position)
{
	struct log_context c = {.s = s, .position = position};
	__u32 i, kept;

	if (!s)
		return 0;
	c.log = stack_log_of(s->cpu);
	if (!c.log)
		return 0;
	kept = s->scope.kept;
	if (kept > INLINE_FRAMES) {
		usc_loop(kept, compare_frame, &c);
		return !c.differs;
	}
	for (i = 0; i < INLINE_FRAMES; i++) {
		if (i >= kept)
			break;
		if (*log_word(c.log, position + i) != s->frames[i])
			return 0;
	}
	return 1;
}

/* The id of the stack in the scratch area, if it was sent. */
static __always_inline __u32 find_stack(struct scratch *s, struct cpu_state *cpu, struct stack_set *set,
					const struct intern *in)
{
	struct stack_slot *slot;
	__u32 way, id;

	for (way = 0; way < STACK_WAYS; way++) {
		slot = &set->slot[way];
		if (slot->hash != in->hash || slot->tag != in->tag || (s->has_jit && slot->mm != s->mm) ||
		    cpu->log_head - slot->position >= STACK_LOG_WORDS - USC_MAX_FRAMES)
			continue;
		id = slot->stack;
		if (id < first_stack_now() || !same_frames(s, slot->position))
			continue;
		/* What interrupts this may keep a stack without frames in the slot. */
		barrier();
		if (slot->hash == in->hash && slot->stack == id)
			return id;
	}
	return 0;
}

/* Keeps the stack in the scratch area as sent, in place of the oldest one of its set. */
static __always_inline void keep_stack(struct scratch *s, struct cpu_state *cpu, struct stack_set *set,
				       const struct intern *in, __u32 id)
{
	struct log_context c = {.s = s, .log = stack_log_of(s->cpu)};
	struct stack_slot *slot = &set->slot[0];
	__u32 way;

	if (!c.log)
		return;
	for (way = 1; way < STACK_WAYS; way++)
		if (set->slot[way].position < slot->position)
			slot = &set->slot[way];
	slot->hash = ~in->hash;
	barrier();
	slot->position = __sync_fetch_and_add(&cpu->log_head, s->scope.kept);
	c.position = slot->position;
	usc_loop(s->scope.kept, store_frame, &c);
	slot->tag = in->tag;
	slot->mm = s->mm;
	slot->stack = id;
	barrier();
	slot->hash = in->hash;
}

/* The id of the stack in the scratch area, sent now if it was not before. 0 = it could not be sent. */
USC_HOT_SUBPROGRAM __u32 intern_stack(struct scratch *s, __u64 now)
{
	struct intern in = {};
	struct cpu_state *cpu;
	struct stack_set *set;
	__u32 id;

	if (!s)
		return 0;
	cpu = cpu_state_of(s->cpu);
	if (!cpu)
		return 0;
	in.tag = stack_tag(s);
	in.hash = s->hash ^ (__u64)in.tag * 0xff51afd7ed558ccdull;
	if (s->has_jit)
		in.hash ^= (__u64)s->mm << 20;
	in.set = s->cpu * STACK_SETS + spread(in.hash) % STACK_SETS;
	set = stack_set_at(in.set);
	if (!set)
		return 0;
	id = find_stack(s, cpu, set, &in);
	if (id)
		return id;
	id = send_stack(s, now);
	if (id)
		keep_stack(s, cpu, set, &in, id);
	return id;
}

/* Walks once under one generation of the mappings. The stack is then in the scratch area, or s->defer says why not. */
static __always_inline void walk_once(struct task_entry *t, struct scratch *s)
{
	struct walk_context context = {.s = s};

	walk_begin(s, t);
	walk_plain_frames(s);
	if (!s->done)
		usc_loop(MAX_STEPS, walk_frame, &context);
	if (!s->done)
		s->ended = USC_ENDED_BROKEN + USC_BROKEN_TOO_DEEP;
}

static __always_inline bool mappings_moved(struct scratch *s, struct task_entry *t)
{
	return s->key && mapping_key(t->mm) != s->key;
}

static __always_inline void count_walk(struct cpu_state *cpu, struct scratch *s)
{
	cpu->stats.frames_walked += s->walked;
	cpu->stats.frames_kept += s->scope.kept;
	if (s->ended == USC_ENDED_SCOPE || s->ended == USC_ENDED_BUDGET)
		cpu->stats.walks_stopped_early++;
}

/* An id for a stack without frames that ended so. */
static __noinline __u32 empty_stack(struct scratch *s, struct task_entry *t, __u32 ended, __u64 now)
{
	if (!s || !t)
		return 0;
	s->mm = t->mm;
	s->serial = t->serial;
	s->has_jit = 0;
	s->hash = 0;
	s->scope.kept = 0;
	s->ended = ended;
	return intern_stack(s, now);
}

/* The stack of a call, taken now from the task's user registers. 0 = none could be sent (counted). */
static __always_inline __u32 take_stack_in(struct pt_regs *regs, struct place place, struct task_entry *t,
					   struct scratch *s, struct cpu_state *cpu)
{
	__u32 attempt, id;

	cpu->stats.walks++;
	id = recall(s, cpu);
	if (id)
		return id;
	s->wanted_end = 0;
	for (attempt = 0; attempt < 2; attempt++) {
		/* Or clang lays the loop out so that its end falls through to its beginning, which Linux 6.1 refuses. */
		asm volatile("" : "+r"(attempt));
		if (attempt) {
			walk_starts_at(s, regs, place, t);
			s->memo_set = memo_set_of(s);
		}
		walk_once(t, s);
		if (s->defer || !mappings_moved(s, t))
			break;
		cpu->stats.walked_twice++;
		if (attempt)
			s->defer = USC_DEFER_MAPPINGS;
	}
	if (s->defer) {
		if (s->defer < USC_DEFER_COUNT)
			cpu->stats.deferred[s->defer]++;
		return send_sample(regs, t, s, 0, 0);
	}
	count_walk(cpu, s);
	id = intern_stack(s, t->entry_ns);
	if (id)
		memorise(s, id);
	return id;
}

/*
 * The id of the stack whose copy a walk has interrupted. All walks are of the current task and begin with its registers in
 * user space, which stay what they are while the tracer is at work: so the stack is the same one, and one copy is enough.
 * If that copy finds no room in the ring, its loss is counted, and so are the events with this id (stack_undefined).
 */
static __always_inline __u32 stack_being_copied(struct cpu_state *cpu, __u64 copying, const struct task_entry *t)
{
	if (copying >> 32 == t->serial)
		return (__u32)copying;
	count_loss(cpu, USC_LOSS_SCRATCH_BUSY, t->process);
	return 0;
}

/* A walk that would interrupt another one on this processor: of what that one writes nothing is touched, and the collector
 * walks from a copy. */
static __noinline __u32 leave_to_collector(struct pt_regs *regs, struct task_entry *t, struct scratch *s,
					   struct cpu_state *cpu)
{
	__u64 copying;

	if (!s || !cpu || !t)
		return 0;
	copying = *(volatile __u64 *)&cpu->copying;
	if (copying)
		return stack_being_copied(cpu, copying, t);
	s->defer = USC_DEFER_INTERRUPTED;
	cpu->stats.deferred[USC_DEFER_INTERRUPTED]++;
	return send_sample(regs, t, s, 0, 0);
}

/* `ended` not 0: no walk, a stack without frames that ended so. */
static __always_inline __u32 take_stack(struct pt_regs *regs, struct place place, struct task_entry *t, __u32 ended)
{
	__u32 cpu_number = current_cpu();
	struct cpu_state *cpu = cpu_state_of(cpu_number);
	struct scratch *s;
	__u32 level, number, id;

	if (!cpu || !t)
		return 0;
	level = enter_scratch(cpu);
	number = cpu_number * SCRATCH_LEVELS + level;
	s = level < SCRATCH_LEVELS ? scratch_at(number) : 0;
	if (s) {
		s->cpu = cpu_number;
		if (!ended)
			walk_starts_at(s, regs, place, t);
		if (ended)
			id = empty_stack(s, t, ended, t->entry_ns);
		else if (level)
			id = leave_to_collector(regs, t, s, cpu);
		else
			id = take_stack_in(regs, place, t, s, cpu);
		if (config.verify_every && id && !ended && !level && ++cpu->verify_count >= config.verify_every) {
			cpu->verify_count = 0;
			send_sample(regs, t, s, 1, id);
		}
	} else {
		count_loss(cpu, USC_LOSS_SCRATCH_BUSY, t->process);
		id = 0;
	}
	leave_scratch(cpu, level);
	return id;
}

#endif
