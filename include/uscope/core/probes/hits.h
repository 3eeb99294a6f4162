/* SPDX-License-Identifier: GPL-2.0-or-later OR MIT */
/*
 * Hits of probes: what every source of them has in common (docs/adr/0008-targets.md). A probe may interrupt another one, or
 * core at work, on the same processor: each level of that has room of its own.
 */
#ifndef USCOPE_CORE_HITS_H
#define USCOPE_CORE_HITS_H

#include "uscope/core/calls/calls.h"
#include "uscope/core/probes/current_stack.h"

/* Are hits of a traced task recorded now? */
static __always_inline bool records_hits(struct task_entry *t)
{
	return !entries_closed && !(t->flags & TASK_ENDED) && !(t->flags & TASK_HELD && is_held(t));
}

/* The entry of a task whose hits are recorded now; else 0. */
static __always_inline struct task_entry *entry_to_hit(struct task_struct *task)
{
	struct task_entry *t = traced_entry(task);

	return t && records_hits(t) ? t : 0;
}

/* Room for a hit, until end_hit(); 0: there is none (counted). All but the head, the stack and the image is the caller's. */
static __always_inline struct hit_room *begin_hit(const struct task_entry *t)
{
	__u32 cpu_number = current_cpu(), level;
	struct cpu_state *cpu = cpu_state_of(cpu_number);
	struct hit_room *room;

	if (!cpu)
		return 0;
	level = *(volatile __u32 *)&cpu->hits;
	room = level < HIT_LEVELS ? hit_room_at(cpu_number * HIT_LEVELS + level) : 0;
	if (!room) {
		count_loss(cpu, USC_LOSS_PROBE_MISSED, t->process);
		return 0;
	}
	*(volatile __u32 *)&cpu->hits = level + 1;
	room->level = level;
	__builtin_memset(&room->hit, 0, sizeof(room->hit));
	return room;
}

static __always_inline void end_hit(struct hit_room *room)
{
	struct cpu_state *cpu = cpu_state_of(current_cpu());

	if (cpu)
		*(volatile __u32 *)&cpu->hits = room->level;
}

/* `bytes`: of the kernel frames that are in the room; less than 0: they could not be had. */
static __always_inline void note_frames(struct hit_room *room, long bytes)
{
	room->hit.frames = bytes > 0 ? bytes / sizeof(room->frames[0]) : 0;
	room->hit.flags |= USC_HIT_ADDRESSES;
}

/* Kernel frames are sent with a hit, and no question reads them. */
static __always_inline bool wants_frames(void)
{
	return !has_question();
}

/* The user stack of a hit of the current task, if somebody wants to know it. */
static __always_inline __u32 stack_of_hit(struct task_entry *t, bool in_kernel)
{
	return is_asked_for(1u << USC_QUERY_STACK) ? take_current_stack(t, in_kernel) : 0;
}

/* Has the hit interrupted the program's own code? */
static __always_inline bool is_of_program(const struct usc_hit *hit)
{
	return hit->source == USC_SOURCE_SAMPLE && hit->kind == USC_SAMPLE_USER;
}

/* The image of a hit of the current task now. */
static __always_inline __u32 image_of_hit(const struct task_entry *t)
{
	if (!(t->flags & (TASK_IN_CALL | TASK_ASKED)))
		return t->image;
	return asks_for_guises() && t->renamed_image ? t->renamed_image : t->call_image;
}

/* Of a hit, may something be told that its probe, image, times and result do not say? */
static __always_inline bool wants_whole_hits(void)
{
	return is_asked_for(USC_QUERY_OF_WHOLE_HITS);
}

/* Of a hit of this task (serial) and process. 0: it leaves no record. As ask_event(). */
static __always_inline int ask_hit(const struct hit_room *room, __u32 task, __u32 process, __u64 now)
{
	struct query_scratch *scratch = room ? begin_asking() : 0;
	struct usc_event *event;

	if (!scratch)
		return 1;
	event = &scratch->event;
	event->head.task = task;
	event->head.time = now;
	event->entry_ns = room->hit.entry_ns;
	event->result = room->hit.result;
	if (is_asked_for(USC_QUERY_OF_ARGS))
		__builtin_memcpy(event->args, room->hit.args, sizeof(event->args));
	event->stack = room->hit.stack;
	event->image = room->hit.image;
	event->kind = room->hit.kind;
	event->how = room->hit.how;
	event->abi = 0;
	event->flags = room->hit.flags;
	event->source = room->hit.source;
	return ask_of_event(scratch, event, room->hit.unread, process);
}

static __always_inline bool taken_by_question(const struct hit_room *room, __u32 task, __u32 process, __u64 now)
{
	return has_question() && !ask_hit(room, task, process, now);
}

/* Of a moment of this task's that has no arguments or stack which the question reads. As ask_hit(). */
USC_SUBPROGRAM int ask_moment(const struct task_entry *t, __u32 source, __u32 kind)
{
	struct query_scratch *scratch = t ? begin_asking() : 0;
	struct usc_event event;

	if (!scratch)
		return 1;
	__builtin_memset(&event, 0, sizeof(event));
	event.head.task = t->serial;
	if (is_asked_for(ASKED_TIME))
		event.head.time = event.entry_ns = now_ns();
	event.image = image_of_hit(t);
	event.kind = kind;
	event.how = USC_HOW_HIT;
	event.flags = USC_EVENT_NO_RESULT;
	event.source = source;
	return ask_of_event(scratch, &event, 0, t->process);
}

/* Has a question taken a moment, without room for a hit? If not, it is told like any other. */
static __always_inline bool asked_at_once(const struct task_entry *t, __u32 source, __u32 kind)
{
	return !wants_whole_hits() && !ask_moment(t, source, kind);
}

/* Sends a hit that is filled in, its stack and frames as well, unless a question takes it. `now`: its end; 0: a question
 * that reads no time has had no clock read. */
static __noinline int send_hit_at(struct hit_room *room, const struct task_entry *t, __u64 now)
{
	struct cpu_state *cpu = cpu_state_of(current_cpu());
	__u32 frames;

	if (!room || !t || !cpu)
		return 0;
	if (taken_by_question(room, t->serial, t->process, now))
		return 0;
	if (!now)
		room->hit.entry_ns = now = now_ns();
	frames = room->hit.frames;
	if (frames > USC_KERNEL_FRAMES)
		frames = USC_KERNEL_FRAMES;
	if (send_record(&room->hit.head, USC_RECORD_HIT, sizeof(room->hit) + frames * sizeof(room->frames[0]),
			t->serial, now, false))
		count_loss(cpu, USC_LOSS_RING_FULL_EVENT, t->process);
	else
		cpu->stats.events++;
	return 0;
}

/* Of a hit that happens to the current task now its image is found. entry_ns 0: so is its time. */
static __always_inline void complete_brief_hit(struct hit_room *room, const struct task_entry *t)
{
	if (!room->hit.entry_ns && is_asked_for(ASKED_TIME))
		room->hit.entry_ns = now_ns();
	room->hit.how = USC_HOW_HIT;
	room->hit.flags |= USC_EVENT_NO_RESULT;
	room->hit.image = image_of_hit(t);
}

/* And its stack. */
static __always_inline void complete_hit(struct hit_room *room, struct task_entry *t)
{
	complete_brief_hit(room, t);
	room->hit.stack = stack_of_hit(t, !is_of_program(&room->hit));
}

/* Completes and sends it. */
static __always_inline void send_hit(struct hit_room *room, struct task_entry *t)
{
	complete_hit(room, t);
	send_hit_at(room, t, room->hit.entry_ns);
}

/* Tells a moment where no whole hits are wanted. No stack is walked below this. */
static __always_inline void tell_moment_briefly(struct task_entry *t, __u32 source, __u32 kind)
{
	struct hit_room *room;

	if (!ask_moment(t, source, kind))
		return;
	room = begin_hit(t);
	if (!room)
		return;
	room->hit.source = source;
	room->hit.kind = kind;
	complete_brief_hit(room, t);
	send_hit_at(room, t, room->hit.entry_ns);
	end_hit(room);
}

#endif
