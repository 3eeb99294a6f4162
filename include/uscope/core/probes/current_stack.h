/* SPDX-License-Identifier: GPL-2.0-or-later OR MIT */
/* The user stack of the current task at a moment that is no call's entry: where a signal or a probe has met it. */
#ifndef USCOPE_CORE_CURRENT_STACK_H
#define USCOPE_CORE_CURRENT_STACK_H

#include "uscope/core/walk/stacks.h"

/*
 * `t`: the current task's. The stack of the call that it is in, else taken now. `in_kernel`: as for place_now(). 0 = none could
 * be sent (counted).
 */
USC_SUBPROGRAM __u32 take_current_stack(struct task_entry *t, bool in_kernel)
{
	struct pt_regs *regs = user_regs(this_task());
	__u32 ended = 0, stack;
	__u64 entry_ns;

	if (!t)
		return 0;
	/* One that is only followed has none. */
	if (t->flags & (TASK_IN_CALL | TASK_ASKED) && !(t->event_flags & USC_EVENT_FOLLOWED))
		return t->stack;
	if (!t->image || (!USC_REGS_PC(regs) && !USC_REGS_SP(regs))) /* a worker of io_uring's has no code of its own */
		ended = USC_ENDED_SCOPE;
	else if (!USC_REGS_ARE_NATIVE(regs))
		ended = USC_ENDED_BROKEN + USC_BROKEN_COMPAT;
	/* The time of what this walk sends. A call that is left out, or was found under way, keeps its own. */
	entry_ns = t->entry_ns;
	t->entry_ns = now_ns();
	stack = take_stack(regs, place_now(regs, t, in_kernel), t, ended);
	t->entry_ns = entry_ns;
	return stack;
}

#endif
