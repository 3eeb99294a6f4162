/* SPDX-License-Identifier: GPL-2.0-or-later OR MIT */
/* Functions from entry to return (`%return`): what probes do at entries, and what is told when tracing ends. */
#ifndef USCOPE_CORE_RETURNS_H
#define USCOPE_CORE_RETURNS_H

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
	f = function_at_depth(t, of_kernel, depth, false);
	if (!f)
		return 0;
	room->hit = f->room.hit;
	__builtin_memcpy(room->frames, f->room.frames, sizeof(room->frames));
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
	list.room = begin_hit(t);
	if (!list.room)
		return;
	usc_loop(OPEN_FUNCTIONS, send_open_function, &list);
	end_hit(list.room);
}

#endif
