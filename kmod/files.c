// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
/*
 * Files behind mappings: their keys and paths, the serials given to them; and what else is looked up only when a
 * mapping is met that no cache knows. One lock for all of it.
 */
#include <linux/cgroup.h>
#include <linux/dcache.h>
#include <linux/fs_struct.h>
#include <linux/jhash.h>
#include <linux/limits.h>
#include <linux/magic.h>
#include <linux/mount.h>
#include <linux/path.h>
#include <linux/sched.h>

#include "compat.h"
#include "files.h"
#include "session.h"

static bool is_memory(struct inode *inode)
{
	return inode->i_sb->s_flags & SB_KERNMOUNT || (!inode->i_nlink && inode->i_sb->s_magic == TMPFS_MAGIC);
}

bool usc_file_read_memory_key(struct file *file, struct usc_file_key *key)
{
	struct inode *inode = file_inode(file);

	if (!is_memory(inode))
		return false;
	memset(key, 0, sizeof(*key));
	key->dev = inode->i_sb->s_dev;
	key->ino = inode->i_ino;
	return true;
}

void usc_file_read_key(struct file *file, struct usc_file_key *key)
{
	struct inode *inode = file_inode(file);
	s64 seconds;
	u32 nanoseconds;

	memset(key, 0, sizeof(*key));
	key->dev = inode->i_sb->s_dev;
	key->ino = inode->i_ino;
	/* tmpfs counts here how often a file was truncated (from 6.1 on), however little time passed in between. */
	key->generation = is_memory(inode) ? (u32)(atomic64_read(&inode->i_version) >> 1) : inode->i_generation;
	key->size = i_size_read(inode);
	usc_inode_ctime(inode, &seconds, &nanoseconds);
	key->ctime_sec = seconds;
	key->ctime_nsec = nanoseconds;
}

#define DELETED " (deleted)"

/* The root directory of a task. The caller keeps task->fs: it is the current task, or its task_lock is held. */
static struct path root_of(struct task_struct *task)
{
	struct fs_struct *fs = task->fs;
	seqcount_spinlock_t *count;
	struct path root = {};
	unsigned int seq;

	if (!fs)
		return root;
	/* A seqlock_t in newer kernels, which begins with its count. */
	count = (void *)&fs->seq;
	do {
		seq = read_seqcount_begin(count);
		root = fs->root;
	} while (read_seqcount_retry(count, seq));
	return root;
}

/*
 * d_path names a file as the current task sees it. As another task sees it, it is what follows the path of that task's
 * root directory. Where the file does not lie below that one, the path is as the current task sees it. Called under
 * RCU, which keeps the root directory.
 */
static char *path_for(struct task_struct *task, struct file *file, char *room)
{
	char *path = d_path(usc_opened_path(file), room, PATH_MAX), *root;
	struct path here, there;
	size_t bytes;

	if (task == current || IS_ERR(path))
		return path;
	here = root_of(current);
	there = root_of(task);
	if (!there.dentry || path_equal(&here, &there))
		return path;
	root = d_path(&there, room + PATH_MAX, PATH_MAX);
	if (IS_ERR(root))
		return path;
	bytes = strlen(root);
	return !strncmp(path, root, bytes) && path[bytes] == '/' ? path + bytes : path;
}

/*
 * Takes a path from `path` up to `end` apart: its components, innermost first, each ended by NUL. How many bytes that
 * are. `first_room`: of the innermost one, with its NUL.
 */
static u32 put_components(const char *path, const char *end, u32 first_room, char *to, bool *truncated)
{
	u32 at = 0, bytes, components = 0;
	const char *name;

	while (end > path) {
		name = end;
		while (name > path && name[-1] != '/')
			name--;
		bytes = end - name;
		if (bytes) {
			if (at > USC_PATH_BYTES || bytes >= (at ? NAME_BYTES : first_room) ||
			    ++components > PATH_COMPONENTS) {
				*truncated = true;
				break;
			}
			memcpy(to + at, name, bytes);
			to[at + bytes] = 0;
			at += bytes + 1;
		}
		end = name > path ? name - 1 : path;
	}
	return at;
}

/*
 * The components of a path as the task sees it, innermost first, into the record. `room`: USC_PATH_ROOM bytes.
 * What d_path says of a file without links is left off; of memory that has a name for people only (memfd: it is no part
 * of any tree) it belongs to the name.
 */
u32 usc_file_path(struct task_struct *task, struct file *file, struct text_scratch *text, char *room)
{
	struct dentry *dentry = usc_opened_path(file)->dentry;
	bool truncated = false;
	char *path, *end;
	u32 bytes;

	path = path_for(task, file, room);
	if (IS_ERR(path)) {
		text->file.truncated = 1;
		return 0;
	}
	end = path + strlen(path);
	if (d_unlinked(dentry) && end - path > strlen(DELETED) && !strcmp(end - strlen(DELETED), DELETED))
		end -= strlen(DELETED);
	bytes = put_components(path, end, NAME_BYTES + strlen(DELETED), text->file.path, &truncated);
	text->file.truncated = truncated;
	return bytes;
}

u64 usc_cgroup_of(struct task_struct *task)
{
#ifdef CONFIG_CGROUPS
	struct css_set *set = rcu_dereference_raw(task->cgroups);

	return set ? cgroup_id(set->dfl_cgrp) : 0;
#else
	return 0;
#endif
}

/* `room`: USC_PATH_ROOM bytes. */
u32 usc_cgroup_path(struct task_struct *task, struct text_scratch *text, char *room)
{
	bool truncated = true;
	u32 bytes = 0;
#ifdef CONFIG_CGROUPS
	struct css_set *set = rcu_dereference_raw(task->cgroups);

	if (set && usc_fits(cgroup_path(set->dfl_cgrp, room, PATH_MAX), PATH_MAX)) {
		truncated = false;
		bytes = put_components(room, room + strlen(room), NAME_BYTES, text->cgroup.path, &truncated);
	}
#endif
	text->cgroup.truncated = truncated;
	return bytes;
}

static u32 *bucket_of(const struct usc_file_key *key)
{
	BUILD_BUG_ON(sizeof(*key) % 4);
	return &usc.file_buckets[jhash2((const u32 *)key, sizeof(*key) / 4, 0) % USC_FILE_SLOTS];
}

static u32 find_file(const struct usc_file_key *key)
{
	u32 number = *bucket_of(key);

	while (number && memcmp(&usc.file_nodes[number - 1].key, key, sizeof(*key)))
		number = usc.file_nodes[number - 1].next;
	return number ? usc.file_nodes[number - 1].serial : 0;
}

u32 usc_file_known(const struct usc_file_key *key)
{
	unsigned long flags;
	u32 serial;

	raw_spin_lock_irqsave(&usc.lock, flags);
	serial = find_file(key);
	raw_spin_unlock_irqrestore(&usc.lock, flags);
	return serial;
}

int usc_file_enter(const struct usc_file_key *key, u32 serial)
{
	struct usc_file_node *node;
	unsigned long flags;
	u32 *bucket, number;
	int error = 0;

	raw_spin_lock_irqsave(&usc.lock, flags);
	if (find_file(key)) {
		error = -EEXIST;
	} else if (!usc.free_node && usc.file_count >= USC_FILE_SLOTS) {
		error = -ENOSPC;
	} else {
		bucket = bucket_of(key);
		number = usc.free_node ? usc.free_node : ++usc.file_count;
		node = &usc.file_nodes[number - 1];
		if (usc.free_node)
			usc.free_node = node->next;
		node->key = *key;
		node->serial = serial;
		node->next = *bucket;
		*bucket = number;
	}
	raw_spin_unlock_irqrestore(&usc.lock, flags);
	return error;
}

void usc_file_drop(const struct usc_file_key *key)
{
	unsigned long flags;
	u32 *link, number;

	raw_spin_lock_irqsave(&usc.lock, flags);
	for (link = bucket_of(key); *link; link = &usc.file_nodes[*link - 1].next) {
		if (!memcmp(&usc.file_nodes[*link - 1].key, key, sizeof(*key))) {
			number = *link;
			*link = usc.file_nodes[number - 1].next;
			usc.file_nodes[number - 1].next = usc.free_node;
			usc.free_node = number;
			break;
		}
	}
	raw_spin_unlock_irqrestore(&usc.lock, flags);
}

/* A serial for a file that has not been met; 0: no slot was found free. */
u32 usc_file_take_serial(void)
{
	u32 i, number, serial = 0;

	for (i = 0; !serial && i < USC_FILE_TRIES; i++) {
		number = __sync_add_and_fetch(&usc.last_file, 1);
		serial = usc_file_take_slot(&usc.files[usc_file_slot(number)], number);
	}
	return serial;
}

/* An announced mapping may be forgotten, and is announced again then. */
static struct announced_key *announced_slot(const struct announced_key *key)
{
	BUILD_BUG_ON(sizeof(*key) % 4);
	return &usc.announced[jhash2((const u32 *)key, sizeof(*key) / 4, 0) % USC_ANNOUNCED_SLOTS];
}

int usc_was_announced(const struct announced_key *key)
{
	unsigned long flags;
	int known;

	raw_spin_lock_irqsave(&usc.lock, flags);
	known = !memcmp(announced_slot(key), key, sizeof(*key));
	raw_spin_unlock_irqrestore(&usc.lock, flags);
	return known;
}

void usc_remember_announced(const struct announced_key *key)
{
	unsigned long flags;

	raw_spin_lock_irqsave(&usc.lock, flags);
	*announced_slot(key) = *key;
	raw_spin_unlock_irqrestore(&usc.lock, flags);
}

/* Where the table is full or busy the loss still counts in its processor's total. */
void usc_count_process_loss(u32 cause, u32 process)
{
	u32 slot = jhash_2words(cause, process, 0), i;
	struct usc_device_loss *loss;
	unsigned long flags;

	/* Not waited for: a module that logs may be called where the lock is held. */
	if (!raw_spin_trylock_irqsave(&usc.lock, flags))
		return;
	for (i = 0; i < 64; i++) {
		loss = &usc.losses[(slot + i) % USC_LOSS_SLOTS];
		if (!loss->count) {
			loss->key.process = process;
			loss->key.cause = cause;
		}
		if (loss->key.process == process && loss->key.cause == cause) {
			loss->count++;
			break;
		}
	}
	raw_spin_unlock_irqrestore(&usc.lock, flags);
}
