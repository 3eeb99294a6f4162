// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
/*
 * The trace map's storage: an RCU hash by task. Nothing is written into task_struct, and no task is followed: an entry
 * lives from the fork, the first execve or the adoption of a task to its sched_process_exit (a first thread's that
 * ended before others: to its process's end), so a pointer here is that of a task that has not been freed. Hooks look
 * entries up with preemption disabled, which is an RCU read side.
 */
#include <linux/hash.h>
#include <linux/rculist.h>
#include <linux/slab.h>

#include "session.h"

struct hlist_head usc_tasks[1 << USC_TASK_BITS];
static DEFINE_RAW_SPINLOCK(map_lock);

static struct usc_task_node *find(struct task_struct *task)
{
	struct usc_task_node *node;

	hlist_for_each_entry(node, &usc_tasks[hash_ptr(task, USC_TASK_BITS)], link) if (node->task == task) return node;
	return NULL;
}

/* The entry that is there already, or a new one. */
struct task_entry *usc_task_add(struct task_struct *task)
{
	struct usc_task_node *node = kzalloc(sizeof(*node), GFP_ATOMIC | __GFP_NOWARN), *found;
	unsigned long flags;

	if (!node)
		return NULL;
	node->task = task;
	node->late = task != current && READ_ONCE(task->flags) & PF_EXITING;
	raw_spin_lock_irqsave(&map_lock, flags);
	found = find(task);
	if (!found)
		hlist_add_head_rcu(&node->link, &usc_tasks[hash_ptr(task, USC_TASK_BITS)]);
	raw_spin_unlock_irqrestore(&map_lock, flags);
	if (found)
		kfree(node);
	return found ? &found->entry : &node->entry;
}

static void remove(struct task_struct *task, bool if_late)
{
	struct usc_task_node *found;
	unsigned long flags;

	raw_spin_lock_irqsave(&map_lock, flags);
	found = find(task);
	if (found && if_late && !found->late)
		found = NULL;
	if (found)
		hlist_del_rcu(&found->link);
	raw_spin_unlock_irqrestore(&map_lock, flags);
	if (found)
		kfree_rcu(found, rcu);
}

void usc_task_remove(struct task_struct *task)
{
	remove(task, false);
}

void usc_task_remove_late(struct task_struct *task)
{
	remove(task, true);
}

/* With no hook attached any more. */
void usc_tasks_clear(void)
{
	struct usc_task_node *node;
	struct hlist_node *next;
	u32 bucket;

	for (bucket = 0; bucket < ARRAY_SIZE(usc_tasks); bucket++) {
		hlist_for_each_entry_safe(node, next, &usc_tasks[bucket], link) kfree(node);
		INIT_HLIST_HEAD(&usc_tasks[bucket]);
	}
}
