/* SPDX-License-Identifier: GPL-2.0-or-later OR MIT */
/*
 * Programs for targets `kfunction`: loaded only where a plan has such. Ftrace calls them wherever a function is called, in
 * interrupts and under any lock too, with preemption off, and runs none inside another one: what they call themselves is
 * counted as missed, not told.
 */
#ifndef USCOPE_BPF_KERNEL_FUNCTIONS_H
#define USCOPE_BPF_KERNEL_FUNCTIONS_H

#include "probes.bpf.h"
#include "uscope/core/probes/returns.h"

/*
 * With interrupts off, a look-up of a mapping ends with an interrupt that gives the lock back. If a function of that
 * interrupt's is a target, its hit would look mappings up, and so on without end. So none are looked up: walks that need
 * one are finished by the collector.
 */
static __always_inline void close_mappings(__u32 step)
{
	struct cpu_state *cpu = cpu_state_of(current_cpu());

	if (cpu)
		*(volatile __u32 *)&cpu->closed_mappings += step;
}

/* What is known of a hit at a function's entry, but for its user stack. 0: there is no room (end_hit() all the same). */
static __always_inline struct probe_room *take_function(struct pt_regs *ctx, struct hit_room *hit,
							const struct usc_probe *probe, struct task_entry *t)
{
	struct probe_room *room = room_beside(hit);

	if (!room)
		return 0;
	room->record = 0;
	room->in_kernel = 1;
	if (is_asked_for(ASKED_ARGS)) {
		read_registers(ctx, room->registers);
		room->registers[USC_PROBE_REGISTERS - 1] = ctx->ip;
	}
	take_probe(hit, room, probe, t);
	if (wants_frames())
		note_frames(hit, bpf_get_stack(ctx, hit->frames, sizeof(hit->frames), 0));
	return room;
}

SEC("kprobe.multi")
int on_kernel_function(struct pt_regs *ctx)
{
	struct task_struct *task = this_task();
	const struct usc_probe *probe;
	struct task_entry *t;
	struct hit_room *hit;

	if (is_surely_untraced(task))
		return 0;
	t = entry_to_hit(task);
	probe = t ? probe_at(bpf_get_attach_cookie(ctx)) : 0;
	if (!probe || asked_at_once(t, probe->source, probe->kind))
		return 0;
	hit = begin_hit(t);
	if (!hit)
		return 0;
	close_mappings(1);
	if (take_function(ctx, hit, probe, t))
		send_hit(hit, t);
	close_mappings(-1);
	end_hit(hit);
	return 0;
}

/* What stands before the place where ftrace has stopped a function: its call of ftrace, behind an endbr64 maybe. */
#define CALL_BYTES 5
#define ENDBR_BYTES 4

/* A return is in the middle of another function, or behind a call in this one, where neither of these places is. */
static __always_inline bool is_at_entry(struct pt_regs *ctx)
{
	__u64 inside = ctx->ip - bpf_get_func_ip(ctx);

	return inside == CALL_BYTES || inside == ENDBR_BYTES + CALL_BYTES;
}

#define WITHOUT_RETURN 1 /* at an entry: this program is not to be run at the return */

static __always_inline int enter_function(struct pt_regs *ctx, struct task_struct *task, __u32 number,
					  const struct usc_probe *probe)
{
	struct task_entry *t = entry_to_hit(task);
	struct hit_room *hit = t ? begin_hit(t) : 0;
	int kept = 0;

	if (!hit)
		return WITHOUT_RETURN;
	close_mappings(1);
	if (take_function(ctx, hit, probe, t)) {
		/* What has found no room is known of by its return alone. */
		core_function_entered(t, hit, number, 0);
		kept = 1;
	}
	close_mappings(-1);
	end_hit(hit);
	return kept ? 0 : WITHOUT_RETURN;
}

/*
 * A session of kprobe.multi: of one call of a function both the entry and the return are met, or none of them. All that the
 * two share is kept with the thread.
 */
SEC("kprobe.multi")
int on_kernel_function_with_return(struct pt_regs *ctx)
{
	struct task_struct *task = this_task();
	const struct usc_probe *probe;
	struct task_entry *t;
	__u32 number;

	if (is_surely_untraced(task))
		return WITHOUT_RETURN;
	number = bpf_get_attach_cookie(ctx);
	probe = probe_at(number);
	if (!probe)
		return WITHOUT_RETURN;
	if (is_at_entry(ctx))
		return enter_function(ctx, task, number, probe);
	t = traced_entry(task);
	if (t)
		core_function_returned(t, number, probe, 0, ctx->ax);
	return 0;
}

#endif
