/* SPDX-License-Identifier: GPL-2.0-or-later OR MIT */
/* Functions from entry to return (`%return`): what probes do at entries, and what is told when tracing ends. */
#ifndef USCOPE_CORE_RETURNS_H
#define USCOPE_CORE_RETURNS_H

#include "uscope/core/probes/arguments.h"
#include "uscope/core/probes/hits.h"
#include "uscope/core/probes/open_functions.h"

/*
 * The current task has entered a function. `hit` is filled in (take_probe(), note_frames()), but for its image and stack,
 * which are found here. `sp`: where its return address is; 0: not known, of functions of the kernel alone. Keeps it until its
 * end; 0: kept.
 */
static __always_inline int core_function_entered(struct task_entry *t, struct hit_room *hit, __u32 number, __u64 sp)
{
	complete_hit(hit, t);
	return keep_function(t, hit, number, sp);
}

/* The same where no hits are kept. */
static __always_inline int core_function_entered_briefly(struct task_entry *t, __u32 number, __u64 sp,
							 const bool of_kernel)
{
	struct function_begin begin = {.sp = sp, .image = image_of_hit(t), .number = number};

	if (is_asked_for(ASKED_TIME))
		begin.entry_ns = now_ns();
	return keep_function_either(t, 0, &begin, of_kernel, true);
}

/* What is known of a function that is kept without its hit. False: nothing. */
static __always_inline bool fill_brief_hit(struct usc_hit *hit, const struct open_function *f)
{
	const struct usc_probe *probe = probe_at(f->number);

	if (!probe)
		return false;
	hit->entry_ns = f->entry_ns;
	hit->image = f->image;
	hit->kind = probe->kind;
	hit->source = probe->source;
	hit->flags = USC_EVENT_NO_RESULT;
	return true;
}

/* Asks a question of its end, without room for its hit. As ask_hit(). */
static __always_inline int ask_briefly(const struct task_entry *t, const struct open_function *f,
				       const struct told_end *end)
{
	const struct usc_probe *probe = probe_at(f->number);
	struct usc_event event = {.entry_ns = f->entry_ns, .result = end->result, .image = f->image};
	struct query_scratch *scratch;

	if (!probe)
		return 0;
	scratch = begin_asking();
	if (!scratch)
		return 1;
	event.head.task = f->serial;
	event.head.time = end->now;
	event.kind = probe->kind;
	event.how = end->how;
	event.flags = end->has_result ? 0 : USC_EVENT_NO_RESULT;
	event.source = probe->source;
	return ask_of_event(scratch, &event, 0, t->process);
}

static __always_inline int tell_briefly(struct task_entry *t, const struct open_function *f, const struct told_end *end)
{
	struct hit_room *room;

	if (!ask_briefly(t, f, end))
		return 0;
	room = begin_hit(t);
	if (!room)
		return 0;
	if (fill_brief_hit(&room->hit, f)) {
		note_end(&room->hit, end);
		send_function_record(room, t, f->serial, end->now, 0);
	}
	end_hit(room);
	return 0;
}

/*
 * When tracing has ended: one of the functions that a task is in, by number (0 … OPEN_FUNCTIONS - 1). 1: the hit is in `room`,
 * a copy, since the task may run meanwhile. No function of it ends any more, but by the end of its thread.
 */
static __always_inline int core_open_function(struct task_entry *t, __u32 number, struct hit_room *room, __u64 now)
{
	bool of_kernel = number >= OPEN_USER_FUNCTIONS;
	__u32 depth = of_kernel ? number - OPEN_USER_FUNCTIONS : number;
	struct open_function *f;

	if (t->state != USC_TRACED || t->flags & TASK_ENDED || depth >= t->open_functions[of_kernel])
		return 0;
	if (keeps_hits()) {
		f = function_at_depth(t, of_kernel, depth, false, false);
		if (!f)
			return 0;
		room->hit = room_of(f)->hit;
		__builtin_memcpy(room->frames, room_of(f)->frames, sizeof(room->frames));
	} else {
		f = function_at_depth(t, of_kernel, depth, false, true);
		if (!f || !fill_brief_hit(&room->hit, f))
			return 0;
	}
	room->hit.how = USC_HOW_OPEN;
	fill_user_head(&room->hit.head, USC_RECORD_HIT,
		       sizeof(room->hit) + (room->hit.frames & (2 * USC_KERNEL_FRAMES - 1)) * sizeof(room->frames[0]),
		       f->serial, now);
	return 1;
}

struct open_list {
	struct task_entry *t;
	struct hit_room *room;
	__u64 now;
};

static long send_open_function(__u32 i, struct open_list *list)
{
	if (core_open_function(list->t, i, list->room, list->now))
		send_function(list->room, list->t, list->room->hit.head.task, list->now);
	return 0;
}

/* The same of all of them, sent. */
static __always_inline void core_open_functions(struct task_entry *t)
{
	struct open_list list = {.t = t, .now = now_ns()};

	if (!t->functions)
		return;
	give_up_unread_jump(t);
	list.room = begin_hit(t);
	if (!list.room)
		return;
	usc_loop(OPEN_FUNCTIONS, send_open_function, &list);
	end_hit(list.room);
}

#endif
