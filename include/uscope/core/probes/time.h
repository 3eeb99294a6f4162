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

/* A time off the processor, up to `now`, but for its kernel frames. */
static __always_inline void fill_offcpu(struct usc_hit *hit, const struct task_entry *t, __u32 how, __u64 now)
{
	hit->entry_ns = t->off_ns;
	hit->args[0] = t->off_waker;
	hit->args[1] = t->off_waker_process;
	hit->args[2] = t->off_woken_ns && t->off_woken_ns < now ? now - t->off_woken_ns : 0;
	hit->args[3] = t->off_state;
	hit->stack = t->off_stack;
	hit->image = t->off_image;
	hit->kind = t->off_kind;
	hit->source = USC_SOURCE_OFFCPU;
	hit->how = how;
	hit->flags = t->off_flags;
}

/* When a time off the processor ended, of a task that has since run for so long. */
static __always_inline __u64 end_before(const struct task_entry *t, __u64 ran_ns)
{
	__u64 now = now_ns();

	return t->off_ns + ran_ns < now ? now - ran_ns : t->off_ns;
}

/*
 * A task runs of which it was not seen that it came to the processor: not every kernel tells what follows tasks that it
 * hides from tracing. The time that it was off is what has passed without the time that it ran. Where its kernel frames
 * were, they are no more.
 */
USC_SUBPROGRAM int end_unseen_wait(struct task_entry *t, __u64 ran_ns)
{
	struct hit_room *room = t ? begin_hit(t) : 0;
	__u64 end;

	if (!room)
		return 0;
	end = end_before(t, ran_ns);
	fill_offcpu(&room->hit, t, USC_HOW_RETURNED, end);
	send_hit_at(room, t, end);
	end_hit(room);
	return 0;
}

/* `task`: the current one. */
static __always_inline void core_runs_unseen(struct task_struct *task, struct task_entry *t)
{
	if (!t->off_ns)
		return;
	end_unseen_wait(t, runtime_of(task) - t->off_runtime_ns);
	t->off_ns = 0;
}

/* The current task leaves the processor; interrupts are off, and the lock of the processor's queue is held. */
static __always_inline void core_switch_out(struct task_struct *task, bool preempted, __u32 state)
{
	struct task_entry *t = entry_to_hit(task);

	if (!t)
		return;
	core_runs_unseen(task, t);
	t->off_woken_ns = 0;
	t->off_waker = 0;
	t->off_waker_process = 0;
	t->off_state = state;
	t->off_kind = offcpu_kind(preempted, state);
	t->off_flags = USC_EVENT_NO_RESULT;
	t->off_image = t->flags & (TASK_IN_CALL | TASK_ASKED) ? t->call_image : t->image;
	t->off_stack = stack_of_hit(t);
	t->off_runtime_ns = runtime_of(task);
	t->off_ns = now_ns();
}

/* The entry of a task that is waiting; else 0. */
static __always_inline struct task_entry *entry_that_waits(struct task_struct *task)
{
	struct task_entry *t = traced_entry(task);

	return t && t->off_ns && t->off_kind != USC_OFFCPU_PREEMPTED ? t : 0;
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

	if (!state || t->off_ns)
		return;
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
		fill_offcpu(&room->hit, t, USC_HOW_RETURNED, now);
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
	now = end_before(t, ran_ns);
	fill_offcpu(&room->hit, t, ran_ns ? USC_HOW_RETURNED : USC_HOW_OPEN, now);
	if (wants_frames() && !ran_ns)
		note_frames(room, kernel_frames_of(task, room->frames, sizeof(room->frames)));
	fill_user_head(&room->hit.head, USC_RECORD_HIT,
		       sizeof(room->hit) + (room->hit.frames & (2 * USC_KERNEL_FRAMES - 1)) * sizeof(room->frames[0]),
		       t->serial, now);
	barrier();
	return *(volatile __u64 *)&t->off_ns == began;
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
