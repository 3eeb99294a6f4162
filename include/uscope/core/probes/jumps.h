/* SPDX-License-Identifier: GPL-2.0-or-later OR MIT */
/*
 * Functions of the program at jumps by which they may end. An indirect jump is decided when it is hit, by where it goes: it
 * is an end if the target lies outside of the function's code and nothing of the function's frame is left, so that the stack
 * pointer is at the return address, as it was at the entry. A jump to the function's own entry with that stack pointer is no
 * end, and no new call: the function goes on.
 *
 * A target in memory that is not there (a table that nobody has read before) is read again at the thread's next hit: by then
 * the program has had it read. If there is no such hit, or still no such memory, the function is told without an end, and
 * that is counted (jump_unread).
 */
#ifndef USCOPE_CORE_JUMPS_H
#define USCOPE_CORE_JUMPS_H

#include "uscope/core/probes/open_functions.h"
#include "uscope/jumps.h"

/* Supplied by the backend: an indirect jump by its number in the plan; 0: there is none. */
static const struct usc_jump *indirect_jump_at(__u32 number);

/* A function of the program, by the number of its probe, at a jump out (or AGAIN) with its return address at sp: it has no
 * result of its own. `now`: when that was; 0: it is now. */
static __always_inline struct function_end end_at_jump(__u32 number, __u64 sp, enum usc_jump_goes goes, __u64 now)
{
	struct function_end end = {.sp = sp, .now = now, .number = number};

	end.goes_on = goes == USC_JUMP_AGAIN;
	return end;
}

static __always_inline void core_function_jumped(struct task_entry *t, __u32 number, __u64 sp, enum usc_jump_goes goes,
						 __u64 now)
{
	struct function_end end = end_at_jump(number, sp, goes, now);

	if (goes != USC_JUMP_INSIDE)
		function_ended(t, &end);
}

static __always_inline void core_function_jumped_briefly(struct task_entry *t, __u32 number, __u64 sp,
							 enum usc_jump_goes goes, __u64 now)
{
	struct function_end end = end_at_jump(number, sp, goes, now);

	if (goes != USC_JUMP_INSIDE)
		function_ended_either(t, &end, false, true);
}

/* May a function end here? Most jumps are made with a frame on the stack, and nothing more is looked at. */
static __always_inline bool may_end_at(struct task_entry *t, __u64 sp, const bool brief)
{
	__u32 depth = t->open_functions[0];
	struct open_function *f = depth ? function_at_depth(t, false, depth - 1, false, brief) : 0;

	if (!f)
		return false;
	if (f->on_alternate != is_on_alternate_stack(this_task(), sp))
		return f->on_alternate;
	return f->sp <= sp;
}

/* An indirect jump that is hit. */
struct jump_hit {
	const struct usc_jump *jump;
	const __u64 *registers; /* USC_JUMP_REGISTERS */
	__u32 jump_number;
	__u32 number; /* of the function's probe */
};

static __always_inline enum usc_jump_goes core_jump_goes(struct task_entry *t, const struct jump_hit *hit, __u64 sp)
{
	__u64 place = hit->registers[USC_JUMP_PLACE], to = usc_jump_operand(hit->jump, hit->registers), from = to;

	if (hit->jump->in_memory && read_user(&to, sizeof(to), (const void *)from)) {
		t->unread.from = from;
		t->unread.place = place;
		t->unread.sp = sp;
		t->unread.now = now_ns();
		t->unread.number = hit->number;
		t->unread.jump = hit->jump_number + 1;
		return USC_JUMP_INSIDE;
	}
	return usc_jump_goes(hit->jump, to - place);
}

/* Before anything else is done at a hit, if t->unread.jump is not 0: decides that jump. */
static __always_inline void core_settle_jump(struct task_entry *t, const bool brief)
{
	const struct unread_jump *unread = &t->unread;
	const struct usc_jump *jump = indirect_jump_at(unread->jump - 1);
	enum usc_jump_goes goes;
	__u64 to = 0;

	if (!jump || read_user(&to, sizeof(to), (const void *)unread->from)) {
		give_up_unread_jump(t);
		return;
	}
	t->unread.jump = 0;
	goes = usc_jump_goes(jump, to - unread->place);
	if (brief)
		core_function_jumped_briefly(t, unread->number, unread->sp, goes, unread->now);
	else
		core_function_jumped(t, unread->number, unread->sp, goes, unread->now);
}

#endif
