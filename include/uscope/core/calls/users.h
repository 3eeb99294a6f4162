/* SPDX-License-Identifier: GPL-2.0-or-later OR MIT */
/*
 * The effective user of a task, which is looked at where it may have changed: when the task comes into the trace, after
 * calls that set it, and at an exec (set-user-ID programs). And what a question knows a task by whose name or user changes.
 */
#ifndef USCOPE_CORE_USERS_H
#define USCOPE_CORE_USERS_H

#include "uscope/core/calls/questions.h"

/* Of setfsuid() the effective user is none: it changes the file system's alone. */
static __always_inline bool may_change_user(__u32 abi, __u32 nr)
{
	if (abi != USC_ABI_COMPAT)
		return nr == NR_setuid || nr == NR_setreuid || nr == NR_setresuid;
	return nr == COMPAT_setuid || nr == COMPAT_setreuid || nr == COMPAT_setresuid || nr == COMPAT_setuid32 ||
	       nr == COMPAT_setreuid32 || nr == COMPAT_setresuid32;
}

/* The task has a name or a user from `now` on that a question asks for. */
static __noinline int take_guise(struct task_entry *t, const char *name, __u64 now)
{
	struct usc_guise record = {};

	if (!t || !name || !t->image)
		return 0;
	record.guise = next_serial(SERIAL(image));
	record.image = t->plain_image ? t->plain_image : t->image;
	record.uid = t->uid;
	__builtin_memcpy(record.name, name, sizeof(record.name));
	if (send_record(&record.head, USC_RECORD_GUISE, sizeof(record), t->serial, now, false)) {
		count_loss(cpu_state_of(current_cpu()), USC_LOSS_RING_FULL_RECORD, t->process);
		return 0;
	}
	t->plain_image = record.image;
	t->renamed_image = record.guise;
	barrier();
	t->image = record.guise;
	return 0;
}

/* The current task may have another user from `now` on. */
USC_SUBPROGRAM int tell_user(struct task_entry *t, __u64 now)
{
	struct task_struct *task = this_task();
	struct usc_task_user record = {};
	char name[sizeof(((struct usc_guise *)0)->name)];

	if (!t)
		return 0;
	record.uid = user_of(task);
	if (record.uid == t->uid)
		return 0;
	t->uid = record.uid;
	if (send_record(&record.head, USC_RECORD_TASK_USER, sizeof(record), t->serial, now, false)) {
		count_loss(cpu_state_of(current_cpu()), USC_LOSS_RING_FULL_RECORD, t->process);
	} else if (asks_for_guises()) {
		read_kernel_text(name, sizeof(name), task->comm);
		take_guise(t, name, now);
	}
	return 0;
}

#endif
