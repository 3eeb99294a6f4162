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

/* What is known of a hit at a function's entry, but for its user stack. False: there is no room (end_hit() all the same). */
static __always_inline bool take_function(struct pt_regs *ctx, struct hit_room *hit, const struct usc_probe *probe,
					  const struct task_entry *t)
{
	if (!take_stop(ctx, hit, probe, t, true))
		return false;
	take_kernel_frames(ctx, hit);
	return true;
}

/*
 * Which probe a function's hit is of, by address: the kernel would look for its cookie by bisection, which takes longer than
 * all the rest of a hit that is only counted. A number is 1 more than the probe's; 0: that of the cookie. Functions begin at
 * multiples of a cell's bytes, and a hit is in the function's first cell; where that is not so, there is a 0.
 */
ARRAY_MAP(function_numbers, 1, struct function_pair);

/* The first cell's address, and how many cells there are: set by the tracer before loading. */
const volatile __u64 functions_begin;
const volatile __u32 function_cells;

static __always_inline __u32 number_of_function(struct pt_regs *ctx)
{
	__u64 cell = (USC_REGS_PC(ctx) - functions_begin) / FUNCTION_CELL_BYTES;
	struct function_pair *pair = 0;
	__u32 at = cell / 2, number = 0;

	if (cell < function_cells)
		pair = bpf_map_lookup_elem(&function_numbers, &at);
	if (pair)
		number = pair->number[cell & 1];
	return number ? number - 1 : bpf_get_attach_cookie(ctx);
}

SEC("kprobe.multi")
int on_kernel_function(struct pt_regs *ctx)
{
	struct task_entry *t = current_to_hit();
	const struct usc_probe *probe;
	struct hit_room *hit;
	__u32 number;

	if (!t)
		return 0;
	number = number_of_function(ctx);
	if (counted_probes)
		return count_hit(number);
	probe = probe_at(number);
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
	__u64 inside = USC_REGS_PC(ctx) - bpf_get_func_ip(ctx);

	return inside == CALL_BYTES || inside == ENDBR_BYTES + CALL_BYTES;
}

#define WITHOUT_RETURN 1 /* at an entry: this program is not to be run at the return */

/* Functions of their own: what these have on the stack does not stand above what walks stacks. */
static __noinline int enter_briefly(struct task_entry *t, __u32 number)
{
	return core_function_entered_briefly(t, number, 0, true);
}

static __noinline int return_briefly(struct task_entry *t, __u32 number, const struct usc_probe *probe, __u64 result)
{
	core_function_returned_briefly(t, number, probe, 0, result, true);
	return 0;
}

static __always_inline int enter_function(struct pt_regs *ctx, __u32 number, const struct usc_probe *probe)
{
	struct task_entry *t = current_to_hit();
	struct hit_room *hit;
	int kept = 0;

	if (!t)
		return WITHOUT_RETURN;
	if (!keeps_hits()) {
		enter_briefly(t, number);
		return 0;
	}
	hit = begin_hit(t);
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
		return enter_function(ctx, number, probe);
	t = traced_entry(task);
	if (t && keeps_hits())
		core_function_returned(t, number, probe, 0, USC_REGS_RESULT(ctx), true);
	else if (t)
		return_briefly(t, number, probe, USC_REGS_RESULT(ctx));
	return 0;
}

#endif
