/* SPDX-License-Identifier: GPL-2.0-or-later OR MIT */
/* Programs for targets `tracepoint`, `usdt` and `ufunction`: loaded only where a plan has such probes. */
#ifndef USCOPE_BPF_PROBES_H
#define USCOPE_BPF_PROBES_H

#include "preemption.h"
#include "transport.h"
#include "uscope/core/probes/arguments.h"
#include "uscope/core/probes/jumps.h"
#include "uscope/core/probes/returns.h"

/* Those of the plan. A hit's cookie has the place of its probe here. */
ARRAY_MAP(probes, 1, struct usc_probe);

/* The indirect jumps of its functions. */
ARRAY_MAP(indirect_jumps, 1, struct usc_jump);

/* Whether any of them lasts to a function's return: set by the tracer before loading. */
const volatile bool has_returns;

/*
 * How often each probe was hit, where no more is asked (usc_query_counts_moments()): for each processor one table for each
 * turn of questions. One processor alone counts in one place, but at probes in files programs are preempted.
 */
MAPPED_ARRAY_MAP(probe_counts, __u64);

/* How many probes a table has room for; 0: hits are not only counted. Set by the tracer before loading. */
const volatile __u32 counted_probes;

/* Where this processor counts hits of a probe; 0: there is no such probe. */
static __always_inline __u64 *count_of_probe(__u32 number)
{
	__u32 at;

	if (number >= counted_probes)
		return 0;
	at = (current_cpu() * 2 + query_turn_now()) * counted_probes + number;
	return bpf_map_lookup_elem(&probe_counts, &at);
}

/* A hit that is only counted, where no program interrupts another one that counts the same. */
static __always_inline int count_hit(__u32 number)
{
	__u64 *count = count_of_probe(number);

	if (count)
		*(volatile __u64 *)count += 1;
	return 0;
}

struct open_function_key {
	__u32 thread; /* task_entry.functions */
	__u32 number;
};

/* One entry where no probe lasts. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, OPEN_FUNCTIONS_IN_ALL);
	__type(key, struct open_function_key);
	__type(value, struct open_slot);
} open_functions SEC(".maps");

/* What an entry of that map begins as. */
const volatile __u64 no_function[sizeof(struct open_slot) / 8];

static __always_inline struct open_slot *open_slot_at(struct task_entry *t, __u32 number, bool make)
{
	struct open_function_key key = {.thread = t->functions, .number = number};
	struct open_slot *slot = bpf_map_lookup_elem(&open_functions, &key);

	if (slot || !make)
		return slot;
	bpf_map_update_elem(&open_functions, &key, (const void *)no_function, BPF_NOEXIST);
	return bpf_map_lookup_elem(&open_functions, &key);
}

static __always_inline bool keeps_hits(void)
{
	return wants_whole_hits();
}

static long forget_open_function(__u32 i, struct task_entry **t)
{
	struct open_function_key key = {.thread = (*t)->functions, .number = i};

	if (i >= (*t)->made[0])
		key.number = i - (*t)->made[0] + OPEN_USER_FUNCTIONS;
	bpf_map_delete_elem(&open_functions, &key);
	return 0;
}

static __always_inline void forget_open_functions(struct task_entry *t)
{
	bpf_loop(t->made[0] + t->made[1], forget_open_function, &t, 0);
}

static __always_inline const struct usc_probe *probe_at(__u32 number)
{
	return bpf_map_lookup_elem(&probes, &number);
}

static __always_inline const struct usc_jump *indirect_jump_at(__u32 number)
{
	return bpf_map_lookup_elem(&indirect_jumps, &number);
}

/* Room beside that of the hit. */
static __always_inline struct probe_room *room_beside(const struct hit_room *hit)
{
	__u32 level = hit->level;

	return level < HIT_LEVELS ? probe_room_at(current_cpu() * HIT_LEVELS + level) : 0;
}

/* The current task's entry, if its hits are recorded now; else 0. */
static __always_inline struct task_entry *current_to_hit(void)
{
	struct task_struct *task = this_task();

	return is_surely_untraced(task) ? 0 : entry_to_hit(task);
}

/* What is known of a hit where a function, or a program, has been stopped with these registers, but for its stacks. False:
 * there is no room. */
static __always_inline bool take_stop(struct pt_regs *ctx, struct hit_room *hit, const struct usc_probe *probe,
				      const struct task_entry *t, bool in_kernel)
{
	struct probe_room *room = room_beside(hit);

	if (!room)
		return false;
	room->record = 0;
	room->in_kernel = in_kernel;
	if (is_asked_for(USC_QUERY_OF_ARGS)) {
		read_registers(ctx, room->registers);
		room->registers[USC_PROBE_REGISTERS - 1] = USC_REGS_PC(ctx);
	}
	take_probe(hit, room, probe, t);
	return true;
}

static __always_inline void take_kernel_frames(void *ctx, struct hit_room *hit)
{
	if (wants_frames())
		note_frames(hit, bpf_get_stack(ctx, hit->frames, sizeof(hit->frames), 0));
}

/* By perf, which runs no two such programs of a processor at once, and counts what it did not run one for. */
SEC("tp")
int on_tracepoint(void *ctx)
{
	struct task_entry *t = current_to_hit();
	const struct usc_probe *probe;
	struct probe_room *room;
	struct hit_room *hit;
	__u32 number;

	if (!t)
		return 0;
	number = bpf_get_attach_cookie(ctx);
	if (counted_probes)
		return count_hit(number);
	probe = probe_at(number);
	if (!probe || asked_at_once(t, probe->source, probe->kind))
		return 0;
	hit = begin_hit(t);
	if (!hit)
		return 0;
	room = room_beside(hit);
	if (room) {
		room->record = (__u64)ctx;
		room->in_kernel = 1;
		take_probe(hit, room, probe, t);
		take_kernel_frames(ctx, hit);
		send_hit(hit, t);
	}
	end_hit(hit);
	return 0;
}

/*
 * The kernel may preempt programs at probes in files. What one processor owns stays in order if only one of them is at work
 * there: all other programs run to their end, like interrupts. From 6.15 on, the kernel lets a program that calls functions
 * as this one does keep preemption off. Before, a program that meets another one at work gives up, and its hit is counted as
 * lost.
 */
const volatile bool keeps_processor; /* set by the tracer before loading */

/* Where an indirect jump goes that has a function of this thread open at this stack pointer. */
static __noinline int indirect_jump_goes(struct pt_regs *ctx, struct task_entry *t, __u64 place)
{
	__u32 jump_number = usc_place_indirect(place) - 1;
	const struct usc_jump *jump = indirect_jump_at(jump_number);
	__u64 registers[USC_JUMP_REGISTERS];
	struct jump_hit hit = {.jump = jump, .registers = registers, .jump_number = jump_number};

	if (!jump || !t)
		return USC_JUMP_INSIDE;
	read_registers(ctx, registers);
	registers[USC_JUMP_PLACE] = USC_REGS_PC(ctx);
	hit.number = place & USC_PLACE_NUMBER;
	return core_jump_goes(t, &hit, usc_place_sp(place, USC_REGS_SP(ctx)));
}

static __always_inline enum usc_jump_goes jump_goes(struct pt_regs *ctx, struct task_entry *t, __u64 place,
						    const bool brief)
{
	if (!usc_place_jumps(place, USC_REGS_FLAGS(ctx)))
		return USC_JUMP_INSIDE;
	if (!usc_place_indirect(place))
		return place & USC_PLACE_AGAIN ? USC_JUMP_AGAIN : USC_JUMP_OUT;
	return may_end_at(t, usc_place_sp(place, USC_REGS_SP(ctx)), brief) ? indirect_jump_goes(ctx, t, place)
									   : USC_JUMP_INSIDE;
}

/* Functions of their own, since what walks stacks lies below the other one, and 6.1's BPF has 512 bytes for all calls. */
static __noinline int user_return(struct pt_regs *ctx, __u64 place, const struct usc_probe *probe, struct task_entry *t)
{
	if (probe && t)
		core_function_returned(t, place & USC_PLACE_NUMBER, probe, USC_REGS_SP(ctx), USC_REGS_RESULT(ctx),
				       false);
	return 0;
}

static __noinline int user_jump(struct pt_regs *ctx, __u64 place, struct task_entry *t)
{
	if (t)
		core_function_jumped(t, place & USC_PLACE_NUMBER, usc_place_sp(place, USC_REGS_SP(ctx)),
				     jump_goes(ctx, t, place, false), 0);
	return 0;
}

static __always_inline bool place_ends(__u64 place)
{
	return place & (USC_PLACE_OF_RETURN | USC_PLACE_OF_JUMP);
}

static __always_inline int hit_user_probe(struct pt_regs *ctx, __u64 place, const struct usc_probe *probe,
					  struct task_entry *t)
{
	bool lasts = has_returns && probe->role & USC_PROBE_WITH_RETURN;
	__u32 number = place & USC_PLACE_NUMBER;
	struct hit_room *hit;

	if (has_returns && place_ends(place)) {
		if (place & USC_PLACE_OF_RETURN)
			user_return(ctx, place, probe, t);
		if (place & USC_PLACE_OF_JUMP)
			user_jump(ctx, place, t);
		return 0;
	}
	if (!lasts && asked_at_once(t, probe->source, probe->kind))
		return 0;
	hit = begin_hit(t);
	if (!hit)
		return 0;
	if (take_stop(ctx, hit, probe, t, false)) {
		if (lasts)
			core_function_entered(t, hit, number, USC_REGS_SP(ctx));
		else
			send_hit(hit, t);
	}
	end_hit(hit);
	return 0;
}

/* Functions of their own, as user_return(). */
static __noinline int settle_jump_with_hits(struct task_entry *t)
{
	if (t)
		core_settle_jump(t, false);
	return 0;
}

static __noinline int user_return_briefly(struct pt_regs *ctx, __u64 place, const struct usc_probe *probe,
					  struct task_entry *t)
{
	if (probe && t)
		core_function_returned_briefly(t, place & USC_PLACE_NUMBER, probe, USC_REGS_SP(ctx),
					       USC_REGS_RESULT(ctx), false);
	return 0;
}

static __noinline int user_jump_briefly(struct pt_regs *ctx, __u64 place, struct task_entry *t)
{
	if (t)
		core_function_jumped_briefly(t, place & USC_PLACE_NUMBER, usc_place_sp(place, USC_REGS_SP(ctx)),
					     jump_goes(ctx, t, place, true), 0);
	return 0;
}

static __noinline int settle_jump_briefly(struct task_entry *t)
{
	if (t)
		core_settle_jump(t, true);
	return 0;
}

/* `brief`: no hits of functions are kept. Known when this is compiled: on_user_probe_briefly(). */
static __always_inline void hit_user_probe_either(struct pt_regs *ctx, __u64 place, const struct usc_probe *probe,
						  struct task_entry *t, const bool brief)
{
	__u32 number = place & USC_PLACE_NUMBER;

	if (has_returns && t->unread.jump)
		brief ? settle_jump_briefly(t) : settle_jump_with_hits(t);
	if (!brief) {
		hit_user_probe(ctx, place, probe, t);
		return;
	}
	if (place & USC_PLACE_OF_RETURN)
		user_return_briefly(ctx, place, probe, t);
	if (place & USC_PLACE_OF_JUMP)
		user_jump_briefly(ctx, place, t);
	if (place_ends(place))
		return;
	if (probe->role & USC_PROBE_WITH_RETURN)
		core_function_entered_briefly(t, number, USC_REGS_SP(ctx), false);
	else
		tell_moment_briefly(t, probe->source, probe->kind);
}

static __always_inline void hit_user_probe_alone(struct pt_regs *ctx, __u64 place, const struct usc_probe *probe,
						 struct task_entry *t, const bool brief)
{
	struct cpu_state *cpu;

	if (keeps_processor) {
		hit_user_probe_either(ctx, place, probe, t, brief);
		return;
	}
	cpu = cpu_state_of(current_cpu());
	if (!cpu)
		return;
	if (__sync_lock_test_and_set(&cpu->user_probe, 1)) {
		count_loss(cpu, USC_LOSS_PROBE_MISSED, t->process);
		return;
	}
	hit_user_probe_either(ctx, place, probe, t, brief);
	barrier();
	*(volatile __u32 *)&cpu->user_probe = 0;
}

static __always_inline void keep_processor_and_hit(struct pt_regs *ctx, __u64 place, const struct usc_probe *probe,
						   struct task_entry *t, const bool brief)
{
	if (keeps_processor)
		bpf_preempt_disable();
	hit_user_probe_alone(ctx, place, probe, t, brief);
	if (keeps_processor)
		bpf_preempt_enable();
}

SEC("uprobe")
int on_user_probe(struct pt_regs *ctx)
{
	struct task_entry *t = current_to_hit();
	const struct usc_probe *probe;
	__u64 *count, place;

	if (!t)
		return 0;
	place = bpf_get_attach_cookie(ctx);
	note_met_probe(t, ctx, place);
	if (counted_probes) {
		count = count_of_probe(place);
		if (count)
			__sync_fetch_and_add(count, 1);
		return 0;
	}
	probe = probe_at(place & USC_PLACE_NUMBER);
	if (probe)
		keep_processor_and_hit(ctx, place, probe, t, false);
	return 0;
}

/*
 * In place of it where functions last to their return, and no hits of them are kept. A program of its own: no stack is walked
 * below it, whose calls leave 6.1's BPF no room for what this does at once, and not by calls.
 */
SEC("uprobe")
int on_user_probe_briefly(struct pt_regs *ctx)
{
	struct task_entry *t = current_to_hit();
	const struct usc_probe *probe;
	__u64 place;

	if (!t)
		return 0;
	place = bpf_get_attach_cookie(ctx);
	note_met_probe(t, ctx, place);
	probe = probe_at(place & USC_PLACE_NUMBER);
	if (!probe)
		return 0;
	/* Where no other function is open, nothing but the thread's own memory is written at an entry. */
	if (!place_ends(place) && probe->role & USC_PROBE_WITH_RETURN && !t->open_functions[0])
		core_function_entered_briefly(t, place & USC_PLACE_NUMBER, USC_REGS_SP(ctx), false);
	else
		keep_processor_and_hit(ctx, place, probe, t, true);
	return 0;
}

/* At the end of tracing: functions that have not returned. */
SEC("iter/task")
int list_open_functions(struct bpf_iter__task *ctx)
{
	struct task_struct *task = ctx->task;
	struct task_entry *t = task ? entry_of(task) : 0;

	if (t)
		UNPREEMPTED(core_open_functions(t));
	return 0;
}

#endif
