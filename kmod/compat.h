/* SPDX-License-Identifier: GPL-2.0-or-later OR MIT */
/* The only place that knows kernel versions. Supported: 6.1 and later, x86-64. */
#ifndef USCOPE_KMOD_COMPAT_H
#define USCOPE_KMOD_COMPAT_H

#include <linux/fs.h>
#include <linux/ftrace.h>
#include <linux/mm.h>
#include <linux/module.h>
#include <linux/uaccess.h>
#include <linux/version.h>

#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 3, 0)
#include <linux/filelock.h>
#endif

#if LINUX_VERSION_CODE < KERNEL_VERSION(6, 1, 0)
#error "uscope needs Linux 6.1 or later"
#endif

/* 6.16: sched_process_exit also says whether the whole group is dead. */
#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 16, 0)
#define USC_EXIT_PROBE_ARGS void *data, struct task_struct *task, bool group_dead
#else
#define USC_EXIT_PROBE_ARGS void *data, struct task_struct *task
#endif

/* 6.6: an inode's times are hidden behind functions; 6.13: and a bit in them, which these take out. */
static inline void usc_inode_ctime(const struct inode *inode, s64 *seconds, u32 *nanoseconds)
{
#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 6, 0)
	struct timespec64 time = inode_get_ctime(inode);

	*seconds = time.tv_sec;
	*nanoseconds = time.tv_nsec;
#else
	*seconds = inode->i_ctime.tv_sec;
	*nanoseconds = inode->i_ctime.tv_nsec;
#endif
}

/* What kernfs_path() returns, up to 6.7: the length that the path needs; from 6.8 on: the bytes written, or an error.
 */
static inline bool usc_fits(int got, int room)
{
	return got >= 0 && got < room;
}

/* The path by which a mapped file was opened. 6.7: of a file in a layer (overlayfs), f_path is the layer's. */
static inline const struct path *usc_opened_path(struct file *file)
{
#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 7, 0)
	return file_user_path(file);
#else
	return &file->f_path;
#endif
}

/* 6.3: locks have a header of their own. */
static inline bool usc_has_lease(struct inode *inode)
{
	struct file_lock_context *locks = inode ? smp_load_acquire(&inode->i_flctx) : NULL;

	return locks && !list_empty_careful(&locks->flc_lease);
}

/*
 * A reference to the executable of an address space, NULL = none. Threads of a user namespace's root may replace it by
 * prctl(PR_SET_MM_MAP) at any time. Under RCU. 6.7: files are reused, so the pointer is looked at again.
 */
static inline struct file *usc_exe_file(struct mm_struct *mm)
{
#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 7, 0)
	return get_file_rcu(&mm->exe_file);
#else
	struct file *file = rcu_dereference_raw(mm->exe_file);

	return file && get_file_rcu(file) ? file : NULL;
#endif
}

/*
 * Of what ftrace saves at a function's entry: the registers of its arguments, and the stack pointer, which points to
 * the return address; the others are not set. 6.13: they are hidden.
 */
static inline struct pt_regs *usc_entry_regs(struct ftrace_regs *saved)
{
#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 13, 0)
	return &arch_ftrace_regs(saved)->regs;
#else
	return &saved->regs;
#endif
}

/* 6.4: a module's memory is in several pieces. */
static inline unsigned long usc_module_text(const struct module *module)
{
#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 4, 0)
	return (unsigned long)module->mem[MOD_TEXT].base;
#else
	return (unsigned long)module->core_layout.base;
#endif
}

/* 6.3: a mapping's flags change by functions. */
static inline void usc_vm_flags(struct vm_area_struct *vma, vm_flags_t set, vm_flags_t clear)
{
#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 3, 0)
	vm_flags_mod(vma, set, clear);
#else
	vma->vm_flags = (vma->vm_flags | set) & ~clear;
#endif
}

/*
 * A word of memory below TASK_SIZE_MAX, which the caller has looked at: as __get_user reads it, with the same barrier
 * against speculation, but inlined. Where a kernel has other names for that, __get_user does it.
 */
static __always_inline int usc_get_user_word(u64 *value, const u64 __user *from)
{
#ifdef __uaccess_begin_nospec
	__uaccess_begin_nospec();
	unsafe_get_user(*value, from, fault);
	__uaccess_end();
	return 0;
fault:
	__uaccess_end();
	return -EFAULT;
#else
	return __get_user(*value, from);
#endif
}

#endif
