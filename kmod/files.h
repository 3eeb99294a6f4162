/* SPDX-License-Identifier: GPL-2.0-or-later OR MIT */
/* files.c: files behind mappings, announced mappings, losses by process. */
#ifndef USCOPE_KMOD_FILES_H
#define USCOPE_KMOD_FILES_H

#include <linux/limits.h>
#include <linux/types.h>

struct file;
struct task_struct;
struct text_scratch;
struct announced_key;
struct usc_file_key;

void usc_file_read_key(struct file *file, struct usc_file_key *key);
bool usc_file_read_memory_key(struct file *file, struct usc_file_key *key);
#define USC_PATH_ROOM (2 * PATH_MAX)
u32 usc_file_path(struct task_struct *task, struct file *file, struct text_scratch *text, char *room);
u64 usc_cgroup_of(struct task_struct *task);
u32 usc_cgroup_path(struct task_struct *task, struct text_scratch *text, char *room);
u32 usc_file_known(const struct usc_file_key *key);
int usc_file_enter(const struct usc_file_key *key, u32 serial); /* 0, -EEXIST, -ENOSPC */
u32 usc_file_take_serial(void);
void usc_file_drop(const struct usc_file_key *key);
int usc_was_announced(const struct announced_key *key);
void usc_remember_announced(const struct announced_key *key);
void usc_count_process_loss(u32 cause, u32 process);

#endif
