/* SPDX-License-Identifier: GPL-2.0-or-later OR MIT */
/* target.c: which processes are traced, where it is not one launched command. */
#ifndef USCOPE_KMOD_TARGET_H
#define USCOPE_KMOD_TARGET_H

#include <linux/types.h>

struct linux_binprm;
struct task_struct;
struct usc_device_target;

int usc_target_add(const struct usc_device_target *request);
void usc_target_drop_pids(void);
void usc_target_free(void);
/* No other task is asked about while the mm of the locked one changes. */
void usc_target_lock(struct task_struct *task);
void usc_target_unlock(struct task_struct *task);

/* Asked in probes, with preemption disabled. */
int usc_process_matches(struct task_struct *leader, struct task_struct *task);
int usc_ancestor_matches(struct task_struct *leader);
int usc_cgroup_matches(struct task_struct *task);
bool usc_has_own_files(struct task_struct *task);
bool usc_has_own_fs(struct task_struct *task);
int usc_image_matches(struct task_struct *task, struct linux_binprm *bprm);

#endif
