/* SPDX-License-Identifier: GPL-2.0-or-later OR MIT */
/*
 * Calls that are only counted (counts_calls()), without a look at the thread's entry, which would take longer than the
 * counting. A byte for each number that a thread can have says whether that is enough. Only the thread itself writes it,
 * and those that make it or see it end while it does not run. Where it is not, core/ does all of it, as always.
 */
#ifndef USCOPE_BPF_BRIEF_CALLS_H
#define USCOPE_BPF_BRIEF_CALLS_H

#include "storage.h"
#include "uscope/core/tasks/tasks.h"

#define BRIEF 1	     /* the thread is traced, and its entry says nothing of calls that are to come */
#define BRIEF_CALL 2 /* it is in a call that has been counted, or that the question leaves out */

static __always_inline __u8 *brief_state_of(struct task_struct *task)
{
	__u32 pid = task->pid, number = pid / BRIEF_STATES;
	struct brief_states *states = counts_calls() ? bpf_map_lookup_elem(&brief_calls, &number) : 0;

	return states ? &states->of[pid % BRIEF_STATES] : 0;
}

/* What the entry is needed for: it holds what the call goes on as, what it may do to mappings, or whose thread this is. */
static __always_inline bool needs_entry(__u32 nr)
{
	return nr == NR_restart_syscall || nr == NR_io_uring_setup || nr == NR_execve || nr == NR_execveat ||
	       may_change_mappings(nr);
}

/* true: the call that begins has been counted. `task`: the current one. */
static __always_inline bool enters_briefly(struct task_struct *task, struct pt_regs *regs, __u32 nr)
{
	__u8 *state = brief_state_of(task);
	__u64 args[6];

	if (!state || !*state)
		return false;
	*state = 0;
	if (nr >= USC_SYSCALL_BITS || needs_entry(nr) || abi_of(task, nr) != USC_ABI_X86_64)
		return false;
	if (wanted(USC_ABI_X86_64, nr)) {
		if (is_asked_for(USC_QUERY_OF_ARGS))
			read_args(regs, USC_ABI_X86_64, args);
		if (!count_call(USC_ABI_X86_64, nr, args))
			return false;
	}
	*state = BRIEF | BRIEF_CALL;
	return true;
}

/* true: the call that returns has been counted when it began. */
static __always_inline bool leaves_briefly(struct task_struct *task, struct pt_regs *regs, long result)
{
	__u8 *state = brief_state_of(task);
	struct task_entry *t;

	if (!state || *state != (BRIEF | BRIEF_CALL))
		return false;
	*state = BRIEF;
	if (result != RESULT_ERESTART_RESTARTBLOCK)
		return true;
	/* What is to go on is kept in the entry. */
	*state = 0;
	t = entry_of(task);
	if (t) {
		t->nr = identify_call(task, regs->orig_ax, &t->abi);
		read_args(regs, t->abi, t->args);
		t->flags |= TASK_ASKED;
	}
	return false;
}

/* A call has returned, and its entry has been looked at: do those to come need that? */
static __always_inline void becomes_brief(struct task_struct *task, const struct task_entry *t)
{
	__u8 *state = brief_state_of(task);

	if (state)
		*state = t && t->state == USC_TRACED && !(t->flags & ~TASK_COPIED) && !t->unannounced &&
					 t->restart_nr == NO_NUMBER && !targets(USC_TARGET_CGROUP)
				 ? BRIEF
				 : 0;
}

/* A thread begins, ends, or goes on as another program, maybe under another number. */
static __always_inline void ends_briefness(struct task_struct *task)
{
	__u8 *state = brief_state_of(task);

	if (state)
		*state = 0;
}

#endif
