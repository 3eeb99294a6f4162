/* SPDX-License-Identifier: GPL-2.0-or-later OR MIT */
/*
 * One tracing session: from USC_DEVICE_START to the closing of /dev/uscope. There is one at most, in `usc`. Its memory
 * is there before the first probe is registered and goes after the last one has ended, so probes need no count of
 * users. Ioctls are serialised by the device's mutex.
 */
#ifndef USCOPE_KMOD_SESSION_H
#define USCOPE_KMOD_SESSION_H

#include <linux/irq_work.h>
#include <linux/sched.h>
#include <linux/spinlock.h>
#include <linux/wait.h>

#include "uscope/core/state.h"
#include "uscope/device.h"

struct linux_binprm;
struct signal_struct;

#define USC_TOLD_SLOTS 32768u
#define USC_LOSS_SLOTS 4096u
#define USC_PLACE_SLOTS 8192u
#define USC_KIND_SLOTS 256u

/* One processor's way out. `head` is ours; what user space can write, it can only harm itself with. */
struct usc_ring {
	struct usc_ring_control *control; /* shared with the collector */
	char *data;
	void *region; /* control page and data */
	u64 head;
	u64 lost_wakeups;
};

/* What one processor writes often. */
struct usc_cpu {
	struct cpu_state state;
	struct usc_event event; /* being filled */
	struct usc_ring ring;
	struct irq_work wake;
	char *path; /* room for paths, USC_PATH_ROOM bytes */
} ____cacheline_aligned;

struct usc_table {
	struct usc_row *rows;
	u32 *index;
	u32 row_count;
	u32 index_count;
	u32 rule_base;
	u32 rule_count;
	u32 text_start;
	u32 text_end;
};

struct usc_file_node {
	struct usc_file_key key;
	u32 serial;
	u32 next; /* node number + 1 */
};

/* A place in the kernel that was met. */
struct usc_place {
	unsigned long address;
	u32 place;    /* 0 = was not told of */
	u32 plumbing; /* that by which the kernel calls probes */
};

/* A name that other modules log under. Written once, then only `told` changes. */
struct usc_kind {
	u32 hash;
	u16 bytes;
	bool told;
	char name[USC_KIND_NAME_BYTES];
};

struct usc_session {
	struct usc_config config;
	u32 ring_bytes;
	u32 cpu_count;
	struct usc_cpu *cpus;
	/* Slots of core/. */
#define USC_SLOT(function, array, type, count, per_cpu) type *array;
#include "uscope/core/slots.def"
#undef USC_SLOT
	/* Unwind tables; files by serial. */
	struct usc_file_entry *files;
	struct usc_table **file_tables;
	struct usc_table *tables;
	struct usc_rule *rules;
	u32 table_count;
	u32 rows_used, rows_limit;
	u32 index_used, index_limit;
	u32 rules_used, rules_limit;
	/* Files by key, mappings that were told of, losses by process: under `lock`. */
	u32 *file_buckets; /* node number + 1 */
	struct usc_file_node *file_nodes;
	u32 file_count;
	struct told_key *told;
	struct usc_device_loss *losses;
	struct usc_place *places;
	struct usc_kind *kinds;
	u32 kind_count;
	/* Trace. */
	struct pid *launched;
	u32 launch_pending;
	u32 own_process; /* the tracer's pid */
	u32 entries_closed;
	u32 cgroup_generation;
	u32 last_task, last_process, last_image, last_stack;
	u32 last_file;
	u32 last_place;
	/* From here on: as long as the module is loaded. */
	raw_spinlock_t lock;
	wait_queue_head_t readers;
	atomic_t urgent;
};

extern struct usc_session usc;

/* session.c */
int usc_session_start(struct usc_device_start *start);
void usc_session_free(void);

/* target.c: what is traced beside a launched command. Questions: in probes, with preemption disabled. usc_target_lock:
 * no other task is asked about with this one's mm changing. */
int usc_target_add(const struct usc_device_target *request);
void usc_target_drop_pids(void);
void usc_target_free(void);
void usc_target_lock(struct task_struct *task);
void usc_target_unlock(struct task_struct *task);
int usc_process_matches(struct task_struct *leader, struct task_struct *task);
int usc_ancestor_matches(struct task_struct *leader);
int usc_cgroup_matches(struct task_struct *task);
bool usc_has_own_files(struct task_struct *task);
bool usc_has_own_fs(struct task_struct *task);
int usc_image_matches(struct task_struct *task, struct linux_binprm *bprm);

/* tracer.c: hooks. attach is once for a session; detach may come at any time, waits for running probes, and leaves the
 * trace map empty; so does an attach that fails. */
int usc_hooks_find(void);
int usc_hooks_attach(void);
void usc_hooks_close_entries(void);
void usc_hooks_detach(void);
/* What runs already: once hooks are attached, each in its turn. Sleep. */
void usc_adopt(void);
int usc_adopt_mappings(struct pid *pid);
u32 usc_attached_calls(struct usc_attached_call *calls, u32 capacity);
u32 usc_open_calls(struct usc_event *events, u32 capacity, u64 before_ns, u64 *traced);

/*
 * For export.c, between usc_log_begin (0, or why nothing can be logged here and now) and usc_log_end; nothing sleeps or
 * faults in between.
 */
struct usc_log_task {
	u32 serial;
	u32 image;
	u32 stack;
};

int usc_log_begin(void);
void usc_log_refused(void); /* counts an event for which usc_log_begin said -EOPNOTSUPP */
void usc_log_end(void);
int usc_log_task(struct usc_log_task *task, bool with_stack);
int usc_log_app_frame(u64 *pc, char *text, unsigned int room);
void usc_log_lost(u32 cause);
int usc_log_send(struct usc_record *record, u16 type, u32 bytes, u32 task);
bool usc_is_traced(struct task_struct *task);

/* places.c */
struct module;
void usc_find_kernel_text(void); /* once, before anybody logs */
/* The module that holds an address, NULL = none. Under preempt_disable, which keeps modules where they are. */
const struct module *usc_module_of(unsigned long address);
/* Is it that by which the kernel calls probes? Asked of what comes before the first place that is not. */
bool usc_is_plumbing(unsigned long address);
/* By which events name it; 0 = it has no name, or could not be told of (counted). `task`: who is told of with it. */
u32 usc_place_number(unsigned long address, u32 task);

/* tasks.c: the trace map. */
struct usc_task_node {
	struct hlist_node link;
	struct hlist_node outlived; /* of a task that has ended, or is ending, before its process */
	struct task_struct *task;   /* a reference to it is held */
	struct rcu_head rcu;
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

/* files.c */
void usc_file_read_key(struct file *file, struct usc_file_key *key);
bool usc_file_read_memory_key(struct file *file, struct usc_file_key *key);
#define USC_PATH_ROOM (2 * PATH_MAX)
u32 usc_file_path(struct task_struct *task, struct file *file, struct text_scratch *text, char *room);
u32 usc_file_known(const struct usc_file_key *key);
int usc_file_enter(const struct usc_file_key *key, u32 serial); /* 0, -EEXIST, -ENOSPC */
void usc_file_drop(const struct usc_file_key *key);
int usc_told(const struct told_key *key);
void usc_keep_told(const struct told_key *key);
void usc_count_process_loss(u32 cause, u32 process);

/* rows.c */
int usc_table_load(struct usc_device_table *request);
int usc_file_publish(const struct usc_device_file *request);
void usc_tables_free(void);

/* ring.c: all in any context but NMI. */
int usc_ring_write(struct usc_cpu *cpu, const void *record, u32 bytes);
void usc_ring_wake(struct usc_cpu *cpu);
bool usc_ring_half_full(const struct usc_cpu *cpu);
int usc_ring_open(struct usc_cpu *cpu, u32 bytes);
void usc_ring_close(struct usc_cpu *cpu);

/* device.c */
int usc_device_register(void);
void usc_device_unregister(void);

#endif
