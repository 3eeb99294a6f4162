/* SPDX-License-Identifier: GPL-2.0-or-later OR MIT */
/*
 * Where the kernel preempts programs. Tracepoints used to keep their probes from that (6.12); where they are guarded by
 * SRCU (7.2) they do not, and a program that was interrupted so is not run for any other task of that processor, which
 * may be for many milliseconds. There:
 *   system calls  come by perf, which still keeps preemption off: dearer, and nothing is lost;
 *   fork, exec, exit and renaming, whose perf events have no tasks, have three programs each. One that comes after
 *     another that did the work finds that out and does nothing;
 *   all of them, and the iterators, keep preemption off while they work, since they use what one processor owns.
 *     Without the three this would not do: that a program is under way is said until after its end.
 */
#ifndef USCOPE_BPF_PREEMPTION_H
#define USCOPE_BPF_PREEMPTION_H

#include "storage.h"

/* Set by the tracer before loading. */
const volatile bool preemptible;

extern void bpf_preempt_disable(void) __ksym __weak;
extern void bpf_preempt_enable(void) __ksym __weak;

#define UNPREEMPTED(call)                                                                                              \
	do {                                                                                                           \
		if (preemptible)                                                                                       \
			bpf_preempt_disable();                                                                         \
		call;                                                                                                  \
		if (preemptible)                                                                                       \
			bpf_preempt_enable();                                                                          \
	} while (0)

/* What raw_syscalls gives to perf: events/raw_syscalls/sys_enter/format, sys_exit/format. */
struct perf_sys_enter {
	__u64 common;
	long id;
	unsigned long args[6];
};

struct perf_sys_exit {
	__u64 common;
	long id;
	long result;
};

/* Has another program seen this fork? The child has not run yet. */
static __always_inline bool was_forked(struct task_struct *child)
{
	struct task_entry *t;

	if (!preemptible)
		return false;
	t = entry_of(child);
	return t && t->flags & TASK_NEWBORN;
}

/* Has another program seen this exec? */
static __always_inline bool was_executed(struct task_struct *task)
{
	struct task_entry *t;

	if (!preemptible)
		return false;
	t = entry_of(task);
	return t && t->state == USC_TRACED && t->flags & TASK_EXECED;
}

static __always_inline void mark_executed(struct task_struct *task)
{
	struct task_entry *t;

	if (!preemptible)
		return;
	t = entry_of(task);
	if (t && t->state == USC_TRACED)
		t->flags |= TASK_EXECED;
}

#endif
