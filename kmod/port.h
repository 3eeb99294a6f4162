/* SPDX-License-Identifier: GPL-2.0-or-later OR MIT */
/*
 * What include/uscope/core asks of a backend (core/port.h), by the module's means. Only tracer.c includes this: its
 * functions are core's inner loop, and inlined into it. They run with preemption and page faults disabled.
 */
#ifndef USCOPE_KMOD_PORT_H
#define USCOPE_KMOD_PORT_H

#include <linux/binfmts.h>
#include <linux/cred.h>
#include <linux/file.h>
#include <linux/hash.h>
#include <linux/mm.h>
#include <linux/mman.h>
#include <linux/net.h>
#include <linux/ns_common.h>
#include <linux/nsproxy.h>
#include <linux/personality.h>
#include <linux/pid.h>
#include <linux/rculist.h>
#include <linux/seccomp.h>
#include <linux/sched/signal.h>
#include <linux/sched/task_stack.h>
#include <linux/smp.h>
#include <linux/time_namespace.h>
#include <linux/timekeeping.h>
#include <linux/uaccess.h>
#include <net/sock.h>

#include "compat.h"
#include "files.h"
#include "ring.h"
#include "session.h"
#include "target.h"
#include "tasks.h"

#define USC_SUBPROGRAM static noinline
#define USC_HOT_SUBPROGRAM static __always_inline
#define USC_STAYS_BELOW(number, bound) true
#define USC_PLAIN_FRAMES 16
#define USC_KNOWN_STEPS 0
#ifndef __noinline
#define __noinline noinline
#endif

/* core's variables. */
#define config usc.config
#define launch_pending usc.launch_pending
#define own_process usc.own_process
#define entries_closed usc.entries_closed
#define cgroup_generation usc.cgroup_generation
#define hold_until usc.hold_until
#define SERIAL(of) (&usc.last_##of)
#define STRETCH_MOST_BYTES ~0u

#define MM_FIELD(of, field) ((of)->mm->field)
#define TASK_FIELD(task, field) ((task)->field)
#define SIGNAL_FIELD(task, field) ((task)->signal->field)
#define VMA_SPACE(vma) ((vma)->vm_mm->USC_MM_SERIAL)

#define usc_loop(count, body, context)                                                                                 \
	do {                                                                                                           \
		__u32 loop_, times_ = (count);                                                                         \
                                                                                                                       \
		for (loop_ = 0; loop_ < times_; loop_++)                                                               \
			if (body(loop_, context))                                                                      \
				break;                                                                                 \
	} while (0)

/* As bpf_find_vma does it: the lock is only tried, and nothing is looked up where its release could not wake anybody.
 */
static __always_inline long lock_mappings(struct mm_struct *mm)
{
	if (!mm || irqs_disabled() || !mmap_read_trylock(mm))
		return -EBUSY;
	return 0;
}

#define with_vma(address, callback, context)                                                                           \
	({                                                                                                             \
		struct mm_struct *mm_ = current->mm;                                                                   \
		struct vm_area_struct *vma_;                                                                           \
		long error_ = lock_mappings(mm_);                                                                      \
                                                                                                                       \
		if (!error_) {                                                                                         \
			vma_ = find_vma(mm_, address);                                                                 \
			if (vma_ && vma_->vm_start <= (address))                                                       \
				callback(current, vma_, context);                                                      \
			mmap_read_unlock(mm_);                                                                         \
		}                                                                                                      \
		error_;                                                                                                \
	})

#include "uscope/core/port.h"
#include "uscope/unwind.h"

static __always_inline __u32 current_cpu(void)
{
	return smp_processor_id();
}

static __always_inline struct task_struct *this_task(void)
{
	return current;
}

static __always_inline __u64 now_ns(void)
{
	return ktime_get_mono_fast_ns();
}

/* Of a task that has given up its memory, which ends: zeroes, as of one that has no code of its own. */
static struct pt_regs usc_no_regs;

static __always_inline struct pt_regs *user_regs(struct task_struct *task)
{
	return likely(task->mm) ? task_pt_regs(task) : &usc_no_regs;
}

static __always_inline struct cpu_state *cpu_state_of(__u32 cpu)
{
	return &usc.cpus[cpu].state;
}

#define USC_SLOT(function, array, type, count, per_cpu)                                                                \
	static __always_inline type *function(__u32 number)                                                            \
	{                                                                                                              \
		return &usc.array[number];                                                                             \
	}

#include "uscope/core/slots.def"
#undef USC_SLOT

static __always_inline struct usc_file_entry *file_slot_at(__u32 slot)
{
	return &usc.files[slot];
}

static __always_inline const volatile struct usc_query *query_of_config(void)
{
	return &config.query;
}

static __always_inline bool has_question(void)
{
	return static_branch_unlikely(&usc_has_question);
}

static __always_inline bool counts_calls(void)
{
	return false;
}

static __always_inline __u64 *call_count_at(__u32 turn, __u32 abi, __u32 nr)
{
	return NULL;
}

/* Each row is kept. */
static __always_inline __u32 query_steps_word(void)
{
	return 0;
}

static __always_inline struct usc_query_steps *query_steps_at(__u32 number)
{
	return NULL;
}

static __always_inline __u32 query_turn_now(void)
{
	return READ_ONCE(usc.query_turn);
}

static __always_inline __u32 first_stack_now(void)
{
	return READ_ONCE(usc.first_stack);
}

static __always_inline void *tables_of(__u32 file)
{
	return usc.file_tables[usc_file_slot(file)];
}

static inline const struct usc_row *usc_row_at(void *tables, __u32 number)
{
	const struct usc_table *t = tables;

	return t && number < t->row_count ? &t->rows[number] : NULL;
}

static inline const __u32 *usc_index_at(void *tables, __u32 number)
{
	const struct usc_table *t = tables;

	return t && number < t->index_count ? &t->index[number] : NULL;
}

static inline const struct usc_rule *usc_rule_at(void *tables, __u32 number)
{
	return number < usc.rules_limit ? &usc.rules[number] : NULL;
}

static __always_inline struct task_entry *entry_of(struct task_struct *task)
{
	struct usc_task_node *node;

	hlist_for_each_entry_rcu(node, &usc_tasks[hash_ptr(task, USC_TASK_BITS)],
				 link) if (node->task == task) return &node->entry;
	return NULL;
}

static __always_inline struct task_entry *new_entry(struct task_struct *task)
{
	return usc_task_add(task);
}

/* The module asks the map itself. */
static __always_inline void note_traced(struct task_struct *task)
{
}

static __always_inline int process_matches(struct task_struct *leader, struct task_struct *task)
{
	return usc_process_matches(leader, task);
}

static __always_inline int ancestor_matches(struct task_struct *leader)
{
	return usc_ancestor_matches(leader);
}

static __always_inline int cgroup_matches(struct task_struct *task)
{
	return usc_cgroup_matches(task);
}

static __always_inline int image_matches(struct task_struct *task, struct linux_binprm *bprm)
{
	return usc_image_matches(task, bprm);
}

static __always_inline void launch_begins(void)
{
	launch_pending = 0;
}

static __always_inline int is_launched(void)
{
	return task_tgid(current) == usc.launched;
}

#define TEXT_PIECE_BYTES 8u

/* From any address: a function's argument may be anything. Nothing is read beyond the word in which the text ends. */
static long read_kernel_text(void *to, __u32 bytes, const void *from)
{
	__u32 at, piece;
	const char *end;

	for (at = 0; at < bytes; at += piece) {
		piece = min_t(__u32, bytes - at, TEXT_PIECE_BYTES - (unsigned long)(from + at) % TEXT_PIECE_BYTES);
		if (copy_from_kernel_nofault(to + at, from + at, piece))
			return -EFAULT;
		end = memchr(to + at, 0, piece);
		if (end)
			return end - (const char *)to + 1;
	}
	if (bytes)
		((char *)to)[bytes - 1] = 0;
	return bytes;
}

/* Not access_ok alone: from 6.4 on it lets addresses pass that are not canonical, and reading there warns. */
static __always_inline bool is_user_range(__u64 address, __u32 bytes)
{
	return address <= TASK_SIZE_MAX - bytes;
}

static __always_inline long read_user(void *to, __u32 bytes, const void *from)
{
	if (!is_user_range((unsigned long)from, bytes))
		return -EFAULT;
	return copy_from_user_nofault(to, (const void __user *)from, bytes);
}

static __always_inline long read_kernel(void *to, __u32 bytes, const void *from)
{
	return copy_from_kernel_nofault(to, from, bytes);
}

/* Page faults are disabled: strncpy_from_user fails where it would take one. */
static __always_inline long read_user_text(void *to, __u32 bytes, const void *from)
{
	long got;

	if (!is_user_range((unsigned long)from, 1))
		return -EFAULT;
	got = strncpy_from_user(to, (const char __user *)from, bytes);
	return got < 0 || got == bytes ? got : got + 1;
}

static __always_inline bool same_pages(const char *a, const char *b)
{
	return !memcmp(a, b, USC_PAGE_BYTES);
}

static __always_inline void keep_page(char *to, const char *from)
{
	memcpy(to, from, USC_PAGE_BYTES);
}

/* Page faults are disabled: what is not in memory is an error at once. */
static __always_inline int read_word(struct scratch *s, __u64 address, __u64 *value)
{
	if (!is_user_range(address, sizeof(*value)))
		return -EFAULT;
	return usc_get_user_word(value, (__u64 __user *)address);
}

static __always_inline bool open_stretch(struct scratch *s, __u64 address, __u32 bytes)
{
	return is_user_range(address, bytes) && user_access_begin((void __user *)address, bytes);
}

static __always_inline int stretch_word(struct scratch *s, __u32 at, __u64 *value)
{
	unsafe_get_user(*value, (__u64 __user *)(s->start_sp + at * 8ull), fault);
	return 0;
fault:
	return -EFAULT;
}

static __always_inline void close_stretch(void)
{
	user_access_end();
}

static __always_inline bool has_rings(struct task_struct *task)
{
#ifdef CONFIG_IO_URING
	return READ_ONCE(task->io_uring);
#else
	return false;
#endif
}

/* The caller keeps task->mm: it is the current task's, or its task_lock is held. */
static __always_inline struct file *hold_image_file(struct task_struct *task, struct image_place *place)
{
	struct mm_struct *mm = task->mm;
	struct vm_area_struct *vma;
	struct file *file = NULL;

	if (!lock_mappings(mm)) {
		vma = find_vma(mm, mm->start_code);
		if (vma && vma->vm_start <= mm->start_code && vma->vm_file) {
			file = get_file(vma->vm_file);
			place->start = vma->vm_start;
			place->end = vma->vm_end;
			place->offset = (__u64)vma->vm_pgoff << PAGE_SHIFT;
		}
		mmap_read_unlock(mm);
	}
	return file || !mm ? file : usc_exe_file(mm);
}

/* Of the current task. */
static __always_inline struct file *hold_descriptor(struct task_struct *task, __u32 fd)
{
	return fget_raw(fd);
}

static __always_inline void describe_file(struct file *file, struct usc_passed *to)
{
	struct inode *inode = file_inode(file);

	to->dev = inode->i_sb->s_dev;
	to->ino = inode->i_ino;
	to->mode = inode->i_mode;
	to->filesystem = inode->i_sb->s_magic;
	to->links = inode->i_nlink;
}

/* The structure is the kernel's own, and begins with what every namespace has. Of the current task. */
static __always_inline __u32 mount_space(struct task_struct *task)
{
	return ((struct ns_common *)task->nsproxy->mnt_ns)->inum;
}

static __always_inline bool is_local_socket(struct file *file)
{
	struct socket *socket = sock_from_file(file);

	return socket && socket->sk && socket->sk->sk_family == AF_UNIX;
}

static __always_inline void release_image_file(struct file *file)
{
	fput(file);
}

static __always_inline void read_file_key(struct file *file, struct usc_file_key *key)
{
	usc_file_read_key(file, key);
}

static __always_inline bool read_memory_key(struct file *file, struct usc_file_key *key)
{
	return usc_file_read_memory_key(file, key);
}

static __always_inline __u32 path_components(struct task_struct *task, struct file *file, struct text_scratch *text)
{
	return usc_file_path(task, file, text, usc.cpus[current_cpu()].path);
}

/* Does this processor do what may be asked for anywhere: another module's request to log, or a function's hit? */
static DEFINE_PER_CPU(bool, usc_anywhere);

/*
 * Not there: d_path waits for writers of rename_lock and mount_lock, and the module that logs may have been called, or
 * the function hit, inside of what such a writer does, or in a softirq that interrupted one. The other hooks of the
 * tracer are raised under neither lock.
 */
static __always_inline bool may_meet_files(void)
{
	return !__this_cpu_read(usc_anywhere);
}

/* The module has none. */
static __always_inline bool has_probes_in_files(void)
{
	return false;
}

static __always_inline bool meets_probes(struct task_struct *task)
{
#ifdef CONFIG_UPROBES
	return task->utask;
#else
	return false;
#endif
}

static __always_inline __u64 copied_instruction(struct task_struct *task, __u64 *probed)
{
#ifdef CONFIG_UPROBES
	if (task->utask) {
		*probed = task->utask->vaddr;
		return task->utask->xol_vaddr;
	}
#endif
	return 0;
}

static __always_inline __u32 file_links(struct file *file)
{
	return file_inode(file)->i_nlink;
}

static __always_inline bool has_lease(struct file *file)
{
	return usc_has_lease(d_inode(usc_opened_path(file)->dentry));
}

static __always_inline __u64 cgroup_of(struct task_struct *task)
{
	return usc_cgroup_of(task);
}

static __always_inline __u32 cgroup_components(struct task_struct *task, struct text_scratch *text)
{
	return usc_cgroup_path(task, text, usc.cpus[current_cpu()].path);
}

static __always_inline __u32 known_file(const struct usc_file_key *key)
{
	return usc_file_known(key);
}

static __always_inline int enter_file(const struct usc_file_key *key, __u32 serial)
{
	return usc_file_enter(key, serial);
}

static __always_inline void drop_file(const struct usc_file_key *key)
{
	usc_file_drop(key);
}

static __always_inline int was_announced(const struct announced_key *key)
{
	return usc_was_announced(key);
}

static __always_inline void remember_announced(const struct announced_key *key)
{
	usc_remember_announced(key);
}

/* Of the current task: the kernel adds what its time namespace adds. */
static __always_inline __s64 time_offset(struct task_struct *task)
{
	struct timespec64 time = {};

	timens_add_monotonic(&time);
	return timespec64_to_ns(&time);
}

static __always_inline void fill_ids(struct task_struct *task, struct usc_task *record)
{
	struct pid *pid = READ_ONCE(task->thread_pid), *process = READ_ONCE(READ_ONCE(task->group_leader)->thread_pid);

	/* A first thread that has ended loses its numbers while it is looked at, when another one executes a program.
	 */
	if (!pid || !process || process->level != pid->level)
		return;
	record->ns_tid = pid->numbers[pid->level].nr;
	record->ns_pid = process->numbers[pid->level].nr;
}

static __always_inline __u32 user_of(struct task_struct *task)
{
	return __kuid_val(task_euid(task));
}

static __always_inline bool same_files(struct task_struct *a, struct task_struct *b)
{
	return a->files && READ_ONCE(a->files) == READ_ONCE(b->files);
}

static __always_inline bool same_fs(struct task_struct *a, struct task_struct *b)
{
	return a->fs && READ_ONCE(a->fs) == READ_ONCE(b->fs);
}

static __always_inline bool has_own_files(struct task_struct *task)
{
	return usc_has_own_files(task);
}

static __always_inline bool has_own_fs(struct task_struct *task)
{
	return usc_has_own_fs(task);
}

/* A filter's listener is known to kernel/seccomp.c alone: any filter may have one. */
static __always_inline bool may_be_supervised(struct task_struct *task)
{
	return seccomp_mode(&task->seccomp) == SECCOMP_MODE_FILTER;
}

static __always_inline const char *image_name(struct linux_binprm *bprm)
{
	return bprm->filename;
}

static __always_inline void count_process_loss(__u32 cause, __u32 process)
{
	usc_count_process_loss(cause, process);
}

static __always_inline int send_record(struct usc_record *head, __u16 type, __u32 bytes, __u32 task, __u64 now,
				       bool urgent)
{
	struct usc_cpu *cpu = &usc.cpus[current_cpu()];
	int error;

	fill_head(head, &cpu->state, current_cpu(), type, bytes, task, now);
	error = usc_ring_write(cpu, head, bytes);
	if (urgent || unlikely(error))
		usc_ring_wake(cpu);
	return error;
}

static __always_inline struct usc_event *reserve_event(__u32 cpu)
{
	struct usc_event *event = usc_ring_reserve(&usc.cpus[cpu]);

	if (unlikely(!event))
		usc_ring_wake(&usc.cpus[cpu]);
	return event;
}

static __always_inline int submit_event(__u32 cpu, struct usc_event *event)
{
	usc_ring_submit(&usc.cpus[cpu], event);
	return 0;
}

static __always_inline bool ring_is_half_full(__u32 cpu)
{
	return usc_ring_half_full(&usc.cpus[cpu]);
}

#endif
