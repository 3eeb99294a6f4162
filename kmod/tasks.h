/* SPDX-License-Identifier: GPL-2.0-or-later OR MIT */
/* tasks.c: the trace map. */
#ifndef USCOPE_KMOD_TASKS_H
#define USCOPE_KMOD_TASKS_H

#include <linux/list.h>
#include <linux/types.h>

#include "uscope/core/state.h"

struct signal_struct;
struct task_struct;

struct usc_task_node {
	struct hlist_node link;
	struct hlist_node outlived; /* of a task that has ended, or is ending, before its process */
	struct task_struct *task;   /* a reference to it is held */
	struct rcu_head rcu;
	u16 open[OPEN_KERNEL_FUNCTIONS]; /* functions of the kernel that it is in: usc_open_slot() */
	struct task_entry entry;
};

#define USC_TASK_BITS 12
extern struct hlist_head usc_tasks[1 << USC_TASK_BITS];

struct task_entry *usc_task_add(struct task_struct *task);
void usc_task_remove(struct task_struct *task);
void usc_task_outlived(struct task_struct *task);	/* its entry stays until: */
void usc_process_remove(struct signal_struct *process); /* removes what has been outlived */
void usc_tasks_clear(void);
u32 usc_tasks_count(void);

#endif
