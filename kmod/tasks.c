// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
/*
 * The trace map's storage: an RCU hash by task. Nothing is written into task_struct. An entry holds a reference to its
 * task, so its pointer means that task for as long as the entry is there, whatever becomes of the task. An entry is
 * made at a fork, a first execve or an adoption. It is removed at the task's sched_process_exit, with one exception:
 * the first thread's entry stands for the whole process, and stays while other threads live. The kernel releases such a
 * first thread without a tracepoint of its own, either after the last thread of the process has ended, or when another
 * thread executes a program. So these entries are also kept by process, and removed by what does have a tracepoint: the
 * last thread's sched_process_exit, and that other thread's sched_process_exec. Detaching removes all entries.
 *
 * Hooks look entries up with preemption disabled, which is an RCU read side.
 */
#include <linux/hash.h>
#include <linux/rculist.h>
#include <linux/sched/signal.h>
#include <linux/sched/task.h>
#include <linux/slab.h>

#include "tasks.h"

#define OUTLIVED_BITS 10

struct hlist_head usc_tasks[1 << USC_TASK_BITS];
static struct hlist_head outlived_tasks[1 << OUTLIVED_BITS];
static DEFINE_RAW_SPINLOCK(map_lock);

static struct usc_task_node *find(struct task_struct *task)
{
	struct usc_task_node *node;

	hlist_for_each_entry(node, &usc_tasks[hash_ptr(task, USC_TASK_BITS)], link) if (node->task == task) return node;
	return NULL;
}

static struct hlist_head *outlived_of(struct signal_struct *process)
{
	return &outlived_tasks[hash_ptr(process, OUTLIVED_BITS)];
}

static void free_node(struct rcu_head *rcu)
{
	struct usc_task_node *node = container_of(rcu, struct usc_task_node, rcu);

	put_task_struct(node->task);
	kfree(node);
}

/* Under map_lock. */
static void drop(struct usc_task_node *node)
{
	hlist_del_rcu(&node->link);
	hlist_del_init(&node->outlived);
	call_rcu(&node->rcu, free_node);
}

/* The entry that is there already, or a new one. */
struct task_entry *usc_task_add(struct task_struct *task)
{
	struct usc_task_node *node = kzalloc(sizeof(*node), GFP_ATOMIC | __GFP_NOWARN), *found;
	unsigned long flags;

	if (!node)
		return NULL;
	node->task = task;
	raw_spin_lock_irqsave(&map_lock, flags);
	found = find(task);
	if (!found) {
		get_task_struct(task);
		hlist_add_head_rcu(&node->link, &usc_tasks[hash_ptr(task, USC_TASK_BITS)]);
	}
	raw_spin_unlock_irqrestore(&map_lock, flags);
	if (found) {
		kfree(node);
		return &found->entry;
	}
	/* A task that is ending may have passed sched_process_exit: the barrier is for one that just begins to end. */
	smp_mb();
	if (task != current && READ_ONCE(task->flags) & PF_EXITING)
		usc_task_outlived(task);
	return &node->entry;
}

void usc_task_remove(struct task_struct *task)
{
	struct usc_task_node *found;
	unsigned long flags;

	raw_spin_lock_irqsave(&map_lock, flags);
	found = find(task);
	if (found)
		drop(found);
	raw_spin_unlock_irqrestore(&map_lock, flags);
}

void usc_task_outlived(struct task_struct *task)
{
	struct usc_task_node *found;
	unsigned long flags;

	raw_spin_lock_irqsave(&map_lock, flags);
	found = find(task);
	if (found && hlist_unhashed(&found->outlived))
		hlist_add_head(&found->outlived, outlived_of(task->signal));
	raw_spin_unlock_irqrestore(&map_lock, flags);
}

void usc_process_remove(struct signal_struct *process)
{
	struct hlist_head *bucket = outlived_of(process);
	struct usc_task_node *node;
	struct hlist_node *next;
	unsigned long flags;

	if (hlist_empty(bucket))
		return;
	raw_spin_lock_irqsave(&map_lock, flags);
	hlist_for_each_entry_safe(node, next, bucket, outlived) if (node->task->signal == process) drop(node);
	raw_spin_unlock_irqrestore(&map_lock, flags);
}

/* With no hook attached any more. */
void usc_tasks_clear(void)
{
	struct usc_task_node *node;
	struct hlist_node *next;
	unsigned long flags;
	u32 bucket;

	for (bucket = 0; bucket < ARRAY_SIZE(usc_tasks); bucket++) {
		raw_spin_lock_irqsave(&map_lock, flags);
		hlist_for_each_entry_safe(node, next, &usc_tasks[bucket], link) drop(node);
		raw_spin_unlock_irqrestore(&map_lock, flags);
	}
}

u32 usc_tasks_count(void)
{
	struct usc_task_node *node;
	u32 bucket, count = 0;

	for (bucket = 0; bucket < ARRAY_SIZE(usc_tasks); bucket++) {
		rcu_read_lock();
		hlist_for_each_entry_rcu(node, &usc_tasks[bucket], link) count++;
		rcu_read_unlock();
	}
	return count;
}
