// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
/*
 * Which processes the trace is of, where it is not of one launched command: by name, number or control group
 * (include/uscope/target.h). The questions are asked in probes, with preemption disabled, which is an RCU read side:
 * tasks, control groups and the memory of files stay while they are looked at. Another task's mm is looked at under its
 * task_lock.
 */
#include <linux/binfmts.h>
#include <linux/cgroup.h>
#include <linux/fdtable.h>
#include <linux/file.h>
#include <linux/fs_struct.h>
#include <linux/limits.h>
#include <linux/mm.h>
#include <linux/pid.h>
#include <linux/sched/signal.h>
#include <linux/sched/task.h>
#include <linux/slab.h>
#include <linux/uaccess.h>
#include <linux/vmalloc.h>

#include "compat.h"
#include "session.h"
#include "target.h"
#include "uscope/interpreter.h"

#define MOST_NAMES 64u
#define MOST_GROUPS 64u
#define MOST_PIDS 65536u
#define MOST_ANCESTORS 64
#define MOST_GROUP_LEVELS 32

static struct {
	char (*names)[USC_APP_NAME_BYTES];
	u32 name_count;
	u64 groups[MOST_GROUPS];
	u32 group_count;
	struct pid **pids;
	u32 pid_count;
} target;

/* The task whose task_lock this processor holds: usc_adopt. */
static DEFINE_PER_CPU(struct task_struct *, locked);

static int add_name(const char *name)
{
	if (!name[0] || memchr(name, '/', USC_APP_NAME_BYTES) || !memchr(name, 0, USC_APP_NAME_BYTES))
		return -EINVAL;
	if (!target.names)
		target.names = kvcalloc(MOST_NAMES, USC_APP_NAME_BYTES, GFP_KERNEL_ACCOUNT);
	if (!target.names)
		return -ENOMEM;
	if (target.name_count == MOST_NAMES)
		return -ENOSPC;
	strscpy(target.names[target.name_count++], name, USC_APP_NAME_BYTES);
	return 0;
}

static int add_pid(u64 number)
{
	struct pid *pid;

	if (number > PID_MAX_LIMIT)
		return -EINVAL;
	if (!target.pids)
		target.pids = kvcalloc(MOST_PIDS, sizeof(*target.pids), GFP_KERNEL_ACCOUNT);
	if (!target.pids)
		return -ENOMEM;
	if (target.pid_count == MOST_PIDS)
		return -ENOSPC;
	pid = find_get_pid(number);
	if (!pid)
		return -ESRCH;
	target.pids[target.pid_count++] = pid;
	return 0;
}

/* Names count with a launched command too, which follows them from image to image; numbers with names. */
static bool fits_target(u32 kind)
{
	const u32 kinds = usc.config.target.kinds;

	return kind == kinds || (kind == USC_TARGET_APP && kinds == USC_TARGET_LAUNCH) ||
	       (kind == USC_TARGET_PID && kinds == USC_TARGET_APP);
}

int usc_target_add(const struct usc_device_target *request)
{
	if (!fits_target(request->kind))
		return -EINVAL;
	switch (request->kind) {
	case USC_TARGET_APP:
		return request->value ? -EINVAL : add_name(request->name);
	case USC_TARGET_PID:
		return add_pid(request->value);
	case USC_TARGET_CGROUP:
		if (target.group_count == MOST_GROUPS)
			return -ENOSPC;
		target.groups[target.group_count++] = request->value;
		return 0;
	default:
		return -EINVAL;
	}
}

/* From here on processes by number are no target any more: all have been found. */
void usc_target_drop_pids(void)
{
	struct pid **pids = target.pids;
	u32 i, count = target.pid_count;

	WRITE_ONCE(target.pid_count, 0);
	synchronize_rcu(); /* probes read it with preemption disabled */
	target.pids = NULL;
	for (i = 0; i < count; i++)
		put_pid(pids[i]);
	kvfree(pids);
}

/* With no hook attached. */
void usc_target_free(void)
{
	usc_target_drop_pids();
	kvfree(target.names);
	memset(&target, 0, sizeof(target));
}

void usc_target_lock(struct task_struct *task)
{
	task_lock(task);
	this_cpu_write(locked, task);
}

void usc_target_unlock(struct task_struct *task)
{
	this_cpu_write(locked, NULL);
	task_unlock(task);
}

static bool is_target_name(const char *name)
{
	u32 i;

	for (i = 0; i < target.name_count; i++)
		if (!strcmp(name, target.names[i]))
			return true;
	return false;
}

/* The base name of a process's executable: 0, or there is none. The caller keeps task->mm as it is. */
static int read_executable_name(struct task_struct *task, char *name)
{
	struct file *file = task->mm ? usc_exe_file(task->mm) : NULL;
	struct dentry *dentry;

	if (!file)
		return -ENOENT;
	dentry = file->f_path.dentry;
	spin_lock(&dentry->d_lock);
	strscpy(name, (const char *)dentry->d_name.name, USC_APP_NAME_BYTES);
	spin_unlock(&dentry->d_lock);
	fput(file);
	return 0;
}

/* The current process's argument 0 and, where it has a `language`, what it was told to interpret. `text`:
 * USC_ARGUMENT_BYTES to work in. */
static bool arguments_match(char *text, u32 language)
{
	u64 start = current->mm->arg_start, bytes = current->mm->arg_end - start;
	struct usc_argument_scan scan = {.language = language};
	u32 i;

	bytes = min_t(u64, bytes, USC_ARGUMENT_BYTES - 1);
	if (start > TASK_SIZE_MAX - USC_ARGUMENT_BYTES || copy_from_user_nofault(text, (void __user *)start, bytes))
		return false;
	text[bytes] = 0;
	if (is_target_name(kbasename(text)))
		return true;
	if (!language)
		return false;
	for (i = 0; i <= bytes; i++)
		if (usc_scan_argument(&scan, text, i))
			break;
	return scan.found && is_target_name(text + scan.base);
}

/* Whether it was locked here. */
static bool lock_other(struct task_struct *task)
{
	if (task == current || this_cpu_read(locked) == task)
		return false;
	spin_lock_nested(&task->alloc_lock, SINGLE_DEPTH_NESTING);
	return true;
}

static void unlock_other(struct task_struct *task, bool was_locked)
{
	if (was_locked)
		task_unlock(task);
}

/*
 * Threads that are ending are not counted in `live` any more, but may have their table still: then the answer is no.
 */
bool usc_has_own_files(struct task_struct *task)
{
	int live = atomic_read(&task->signal->live);
	bool lock = lock_other(task);
	bool own = task->files && atomic_read(&task->files->count) <= live;

	unlock_other(task, lock);
	return own && atomic_read(&task->signal->live) == live;
}

bool usc_has_own_fs(struct task_struct *task)
{
	int live = atomic_read(&task->signal->live);
	bool lock = lock_other(task);
	bool own = task->fs && READ_ONCE(task->fs->users) <= live;

	unlock_other(task, lock);
	return own && atomic_read(&task->signal->live) == live;
}

static bool executable_matches(struct task_struct *task)
{
	char *room = usc.cpus[smp_processor_id()].path; /* PATH_MAX bytes; nobody uses it here */
	bool lock = lock_other(task);
	int error;

	error = read_executable_name(task, room);
	unlock_other(task, lock);
	if (error)
		return false;
	if (is_target_name(room))
		return true;
	return same_thread_group(task, current) && current->mm &&
	       arguments_match(room + USC_APP_NAME_BYTES, usc_language_of(*(u64 *)room));
}

static bool number_matches(struct task_struct *leader)
{
	struct pid *pid = task_tgid(leader);
	u32 i, count = READ_ONCE(target.pid_count);

	for (i = 0; i < count; i++)
		if (target.pids[i] == pid)
			return true;
	return false;
}

int usc_cgroup_matches(struct task_struct *task)
{
#ifdef CONFIG_CGROUPS
	struct css_set *set = rcu_dereference_raw(task->cgroups);
	struct cgroup *group = set ? set->dfl_cgrp : NULL;
	u32 level, i;

	for (level = 0; group && level < MOST_GROUP_LEVELS; level++) {
		for (i = 0; i < target.group_count; i++)
			if (cgroup_id(group) == target.groups[i])
				return 1;
		group = cgroup_parent(group);
	}
#endif
	return 0;
}

/* As prctl(PR_SET_NAME) may change it meanwhile; its last byte is always 0. */
static bool thread_name_matches(const struct task_struct *leader)
{
	char name[TASK_COMM_LEN];

	memcpy(name, leader->comm, sizeof(name));
	name[sizeof(name) - 1] = 0;
	return is_target_name(name);
}

/* Numbers count with names too: the tracer gives those of processes that it has found. */
int usc_process_matches(struct task_struct *leader, struct task_struct *task)
{
	const u32 kinds = usc.config.target.kinds;

	if (kinds & USC_TARGET_CGROUP)
		return usc_cgroup_matches(task);
	if (number_matches(leader))
		return 1;
	return kinds & USC_TARGET_APP && (thread_name_matches(leader) || executable_matches(task));
}

int usc_ancestor_matches(struct task_struct *leader)
{
	struct task_struct *task = leader;
	u32 i;

	for (i = 0; i < MOST_ANCESTORS; i++) {
		task = rcu_dereference_raw(task->real_parent);
		task = task ? READ_ONCE(task->group_leader) : NULL;
		if (!task || !task->tgid)
			return 0;
		if (usc_process_matches(task, task))
			return 1;
	}
	return 0;
}

int usc_image_matches(struct task_struct *task, struct linux_binprm *bprm)
{
	return is_target_name(kbasename(bprm->filename)) || thread_name_matches(task) || executable_matches(task);
}
