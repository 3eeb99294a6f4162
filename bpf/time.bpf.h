/* SPDX-License-Identifier: GPL-2.0-or-later OR MIT */
/* Programs for targets `sample` and `offcpu`: loaded only where these are asked for. */
#ifndef USCOPE_BPF_TIME_H
#define USCOPE_BPF_TIME_H

#include "preemption.h"
#include "transport.h"
#include "uscope/core/probes/time.h"
#include "x86_64/sample_context.h"

/* Set by the tracer before loading. */
const volatile __u64 sample_period_ns;
const volatile bool has_offcpu;

static __always_inline __u32 state_of(struct task_struct *task)
{
	return *(volatile unsigned int *)&task->__state;
}

static __always_inline __u64 runtime_of(struct task_struct *task)
{
	return *(volatile __u64 *)&task->se.sum_exec_runtime;
}

static __always_inline long kernel_frames_of(struct task_struct *task, __u64 *frames, __u32 bytes)
{
	return bpf_get_task_stack(task, frames, bytes, 0);
}

SEC("perf_event")
int on_sample(struct sample_context *ctx)
{
	struct task_struct *task = this_task();
	__u64 time_ns = time_of_tick(sample_period_ns);
	bool in_kernel = USC_REGS_IN_KERNEL(ctx);
	struct hit_room *room;
	struct task_entry *t;

	if (is_surely_untraced(task))
		return 0;
	t = entry_to_hit(task);
	if (!t || asked_at_once(t, USC_SOURCE_SAMPLE, in_kernel ? USC_SAMPLE_KERNEL : USC_SAMPLE_USER))
		return 0;
	room = begin_hit(t);
	if (!room)
		return 0;
	fill_sample(room, in_kernel, time_ns);
	if (in_kernel && wants_frames())
		note_frames(room, bpf_get_stack(ctx, room->frames, sizeof(room->frames), 0));
	send_hit(room, t);
	end_hit(room);
	return 0;
}

/* Set by the tracer before loading: where the kernel's code lies that is on the stack while an interrupt is served, and no
 * thread's call. Not known (all 0): it is not said who wakes. */
const volatile struct address_range interrupt_code[INTERRUPT_RANGES];

struct frame_search {
	const __u64 *frames;
	__u32 found;
};

static long find_interrupt(__u32 i, struct frame_search *search)
{
	__u64 address;
	__u32 k;

	address = search->frames[i & (USC_KERNEL_FRAMES - 1)];
	for (k = 0; k < INTERRUPT_RANGES; k++)
		if (address - interrupt_code[k].start < interrupt_code[k].end - interrupt_code[k].start)
			search->found = 1;
	return search->found;
}

/* The current task, where it is its own call that wakes; 0: an interrupt does. */
static __always_inline struct task_struct *waking_task(void *ctx, const struct task_entry *t)
{
	struct hit_room *room = interrupt_code[0].end ? begin_hit(t) : 0;
	struct frame_search search = {};
	long bytes;

	if (!room)
		return 0;
	search.frames = room->frames;
	bytes = bpf_get_stack(ctx, room->frames, sizeof(room->frames), 0);
	if (bytes > 0)
		bpf_loop(bytes / sizeof(room->frames[0]), find_interrupt, &search, 0);
	end_hit(room);
	return bytes <= 0 || search.found ? 0 : this_task();
}

SEC("tp_btf/sched_switch")
int BPF_PROG(on_switch, bool preempted, struct task_struct *before, struct task_struct *next, unsigned int state)
{
	if (!is_surely_untraced(before))
		core_switch_out(before, preempted, state);
	if (!is_surely_untraced(next))
		core_switch_in(next);
	return 0;
}

/* Before the current task ends, or becomes another one. */
static __always_inline void tells_it_runs(struct task_struct *task)
{
	struct task_entry *t = has_offcpu ? traced_entry(task) : 0;

	if (t)
		core_runs(task, t);
}

SEC("tp_btf/sched_waking")
int BPF_PROG(on_waking, struct task_struct *task)
{
	struct task_entry *t;

	if (is_surely_untraced(task))
		return 0;
	t = entry_that_waits(task);
	if (t)
		note_waker(t, is_asked_for(1u << USC_QUERY_ARG0 | 1u << USC_QUERY_ARG1) ? waking_task(ctx, t) : 0);
	return 0;
}

/* Run once, when all tasks have been decided. */
SEC("iter/task")
int meet_waiting(struct bpf_iter__task *ctx)
{
	struct task_struct *task = ctx->task;
	struct task_entry *t = task ? traced_entry(task) : 0;

	if (t)
		core_met_off(task, t);
	return 0;
}

/* At the end of tracing: tasks that are off the processors. */
SEC("iter/task")
int list_open_waits(struct bpf_iter__task *ctx)
{
	struct task_struct *task = ctx->task;
	struct hit_room *room;
	struct task_entry *t;

	t = task ? entry_of(task) : 0;
	if (!t)
		return 0;
	room = begin_hit(t);
	if (!room)
		return 0;
	/* Where the buffer is full, the task is shown once more to the next one. */
	if (core_open_wait(task, t, room) && bpf_seq_write(ctx->meta->seq, room, sizeof(*room)) && !t->off_ns)
		t->off_ns = room->hit.entry_ns;
	end_hit(room);
	return 0;
}

#endif
