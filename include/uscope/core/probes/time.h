/* SPDX-License-Identifier: GPL-2.0-or-later OR MIT */
/*
 * Where a thread's time goes: samples, by a clock of each processor, and the times that it is off the processors, from one
 * switch to the other.
 */
#ifndef USCOPE_CORE_TIME_H
#define USCOPE_CORE_TIME_H

#include "uscope/core/probes/hits.h"

/*
 * Supplied by the backend: addresses in the kernel of a task that does not run, innermost first. How many bytes; less than 0:
 * they could not be had.
 */
static long kernel_frames_of(struct task_struct *task, __u64 *frames, __u32 bytes);
/* task_struct.__state, read now. */
static __u32 state_of(struct task_struct *task);
/* For how long it has run, up to its last tick or switch. */
static __u64 runtime_of(struct task_struct *task);

/* include/linux/sched.h: of task_struct.__state. */
#define STATE_INTERRUPTIBLE 1u
#define STATE_UNINTERRUPTIBLE 2u
#define STATE_STOPPED 0xcu /* by a signal or a debugger */

static __always_inline __u32 offcpu_kind(bool preempted, __u32 state)
{
	if (preempted || !(state & (STATE_INTERRUPTIBLE | STATE_UNINTERRUPTIBLE | STATE_STOPPED)))
		return USC_OFFCPU_PREEMPTED;
	if (state & STATE_STOPPED)
		return USC_OFFCPU_STOPPED;
	return state & STATE_INTERRUPTIBLE ? USC_OFFCPU_SLEEPING : USC_OFFCPU_BLOCKED;
}

/* A time off the processor, from `began` to `end`, but for its kernel frames. */
static __always_inline void fill_offcpu(struct usc_hit *hit, const struct task_entry *t, __u32 how, __u64 began,
					__u64 end)
{
	hit->entry_ns = began;
	hit->args[0] = t->off_waker;
	hit->args[1] = t->off_waker_process;
	hit->args[2] = t->off_woken_ns && t->off_woken_ns < end ? end - t->off_woken_ns : 0;
	hit->args[3] = t->off_state;
	hit->stack = t->off_stack;
	hit->image = t->off_image;
	hit->kind = t->off_kind;
	hit->source = USC_SOURCE_OFFCPU;
	hit->how = how;
	hit->flags = t->off_flags;
}

/* Of those who may tell of a time off the processor, the first one tells it. */
static __always_inline bool take_over_wait(struct task_entry *t, __u64 began)
{
	return __sync_val_compare_and_swap(&t->off_ns, began, 0) == began;
}

/* When a time off the processor ended, of a task that has since run for so long. The kernel counts that at each tick and
 * switch: within a tick, it may have been earlier. */
static __always_inline __u64 end_before(__u64 began, __u64 ran_ns)
{
	__u64 now = now_ns();

	return began + ran_ns < now ? now - ran_ns : began;
}

USC_SUBPROGRAM int end_unseen_wait(struct task_entry *t, __u64 began, __u64 ran_ns)
{
	struct hit_room *room = t ? begin_hit(t) : 0;
	__u64 end;

	if (!room)
		return 0;
	end = end_before(began, ran_ns);
	fill_offcpu(&room->hit, t, USC_HOW_RETURNED, began, end);
	send_hit_at(room, t, end);
	end_hit(room);
	return 0;
}

/*
 * The current task runs. If it was not seen that it came to the processor, since the kernel does not tell what it switches
 * to after tasks that it hides from tracing, its time off is told now: what has passed without the time that it ran. The
 * kernel frames of that time are gone.
 */
static __always_inline void core_runs(struct task_struct *task, struct task_entry *t)
{
	__u64 began = *(volatile __u64 *)&t->off_ns;

	if (began && !(t->flags & TASK_ENDED) && take_over_wait(t, began))
		end_unseen_wait(t, began, runtime_of(task) - t->off_runtime_ns);
}

/* The current task leaves the processor; interrupts are off, and the lock of the processor's queue is held. */
static __always_inline void core_switch_out(struct task_struct *task, bool preempted, __u32 state)
{
	struct task_entry *t = traced_entry(task);

	if (!t)
		return;
	core_runs(task, t);
	if (!records_hits(t))
		return;
	t->off_woken_ns = 0;
	t->off_waker = 0;
	t->off_waker_process = 0;
	t->off_state = state;
	t->off_kind = offcpu_kind(preempted, state);
	t->off_flags = USC_EVENT_NO_RESULT;
	t->off_image = image_of_hit(t);
	t->off_stack = stack_of_hit(t, true);
	t->off_runtime_ns = runtime_of(task);
	t->off_ns = now_ns();
}

/* The entry of a task that waits, as far as was seen, and has not been woken yet; else 0. */
static __always_inline struct task_entry *entry_that_waits(struct task_struct *task)
{
	struct task_entry *t = traced_entry(task);

	return t && t->off_ns && !t->off_woken_ns && t->off_kind != USC_OFFCPU_PREEMPTED ? t : 0;
}

/* Another task, or an interrupt (`waker` 0), ends the wait of a task. */
static __always_inline void note_waker(struct task_entry *t, const struct task_struct *waker)
{
	t->off_waker = waker ? waker->pid : 0;
	t->off_waker_process = waker ? waker->tgid : 0;
	t->off_woken_ns = now_ns();
}

/* A task that has come into the map, and does not run: it is off the processors from now on, as far as anybody knows. */
static __always_inline void core_met_off(struct task_struct *task, struct task_entry *t)
{
	__u32 state = state_of(task);

	if (!state || t->off_ns || TASK_FIELD(task, on_cpu))
		return;
	t->off_woken_ns = 0;
	t->off_waker = 0;
	t->off_waker_process = 0;
	t->off_state = state;
	t->off_kind = offcpu_kind(false, state);
	t->off_flags = USC_EVENT_NO_RESULT | USC_EVENT_ATTACHED;
	t->off_image = t->image;
	t->off_stack = 0;
	t->off_runtime_ns = runtime_of(task);
	barrier();
	t->off_ns = now_ns();
	barrier();
	/* It may have been switched to in between. */
	if (state_of(task) != state)
		t->off_ns = 0;
}

/* A task comes to the processor, and does not run yet. */
static __always_inline void core_switch_in(struct task_struct *task)
{
	struct task_entry *t = traced_entry(task);
	struct hit_room *room;
	__u64 now;

	if (!t || !t->off_ns)
		return;
	room = t->flags & TASK_ENDED ? 0 : begin_hit(t);
	if (room) {
		now = now_ns();
		fill_offcpu(&room->hit, t, USC_HOW_RETURNED, t->off_ns, now);
		if (wants_frames())
			note_frames(room, kernel_frames_of(task, room->frames, sizeof(room->frames)));
		send_hit_at(room, t, now);
		end_hit(room);
	}
	t->off_ns = 0;
}

/* A task that is off the processor when tracing ends. 1: the hit is there. */
static __always_inline int core_open_wait(struct task_struct *task, struct task_entry *t, struct hit_room *room)
{
	__u64 began = *(volatile __u64 *)&t->off_ns, ran_ns, now;

	if (!began || t->state != USC_TRACED || t->flags & TASK_ENDED)
		return 0;
	ran_ns = runtime_of(task) - t->off_runtime_ns;
	now = end_before(began, ran_ns);
	fill_offcpu(&room->hit, t, ran_ns ? USC_HOW_RETURNED : USC_HOW_OPEN, began, now);
	if (wants_frames() && !ran_ns)
		note_frames(room, kernel_frames_of(task, room->frames, sizeof(room->frames)));
	fill_user_head(&room->hit.head, USC_RECORD_HIT,
		       sizeof(room->hit) + (room->hit.frames & (2 * USC_KERNEL_FRAMES - 1)) * sizeof(room->frames[0]),
		       t->serial, now);
	barrier();
	return ran_ns ? take_over_wait(t, began) : *(volatile __u64 *)&t->off_ns == began;
}

#define LATE_TICKS                                                                                                     \
	4 /* a tick that is later than so many may come out of idleness, in which some machines' clocks rest */

/*
 * At each tick of this processor's clock, whatever runs: the time since the last one. A tick may be late, and several may be
 * one, but the times of all of them add up to what has passed.
 */
static __always_inline __u64 time_of_tick(__u64 period_ns)
{
	struct cpu_state *cpu = cpu_state_of(current_cpu());
	__u64 now = now_ns(), before;

	if (!cpu)
		return period_ns;
	before = cpu->ticked_ns;
	cpu->ticked_ns = now;
	return before && before < now && now - before < LATE_TICKS * period_ns ? now - before : period_ns;
}

/* The tick has met the current task, in the program's code or in the kernel's. */
static __always_inline void fill_sample(struct hit_room *room, bool in_kernel, __u64 time_ns)
{
	room->hit.source = USC_SOURCE_SAMPLE;
	room->hit.kind = in_kernel ? USC_SAMPLE_KERNEL : USC_SAMPLE_USER;
	room->hit.args[0] = current_cpu();
	room->hit.args[1] = time_ns;
}

#endif
