/* SPDX-License-Identifier: GPL-2.0-or-later OR MIT */
/*
 * Programs for targets `kfunction`: loaded only where a plan has such. Ftrace calls them wherever a function is called, in
 * interrupts and under any lock too, with preemption off, and runs none inside another one: what they call themselves is
 * counted as missed, not told.
 */
#ifndef USCOPE_BPF_KERNEL_FUNCTIONS_H
#define USCOPE_BPF_KERNEL_FUNCTIONS_H

#include "probes.bpf.h"

/* What is known of a hit at a function's entry, but for its user stack. 0: there is no room (end_hit() all the same). */
static __always_inline struct probe_room *take_function(struct pt_regs *ctx, struct hit_room *hit,
							const struct usc_probe *probe, struct task_entry *t)
{
	struct probe_room *room = room_beside(hit);

	if (!room)
		return 0;
	room->record = 0;
	room->in_kernel = 1;
	read_registers(ctx, room->registers);
	room->registers[USC_PROBE_REGISTERS - 1] = ctx->ip;
	take_probe(hit, room, probe, t);
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
	hit = probe ? begin_hit(t) : 0;
	if (!hit)
		return 0;
	if (take_function(ctx, hit, probe, t))
		send_hit(hit, t);
	end_hit(hit);
	return 0;
}

#endif
