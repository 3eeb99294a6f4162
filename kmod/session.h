/* SPDX-License-Identifier: GPL-2.0-or-later OR MIT */
/*
 * One tracing session: from USC_DEVICE_START to the closing of /dev/uscope. There is one at most, in `usc`. Its memory
 * is there before the first probe is registered and goes after the last one has ended, so probes need no count of
 * users. Ioctls are serialised by the device's mutex.
 */
#ifndef USCOPE_KMOD_SESSION_H
#define USCOPE_KMOD_SESSION_H

#include <linux/irq_work.h>
#include <linux/jump_label.h>
#include <linux/sched.h>
#include <linux/spinlock.h>
#include <linux/wait.h>

#include "uscope/core/state.h"
#include "uscope/device.h"

#define USC_ANNOUNCED_SLOTS 32768u
#define USC_LOSS_SLOTS 4096u
#define USC_PLACE_SLOTS 8192u
#define USC_KIND_SLOTS 256u

/* One processor's way out. `head` is ours; what user space can write, it can only harm itself with. */
struct usc_ring {
	struct usc_ring_control *control; /* shared with the collector */
	char *data;
	void *region; /* control page and data */
	u64 head;
	unsigned long irq_flags; /* before a reservation */
};

/* What one processor writes often. */
struct usc_cpu {
	struct cpu_state state;
	struct usc_event event; /* being filled, where its room is in two parts */
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
	u32 files; /* that have it */
};

struct usc_file_node {
	struct usc_file_key key;
	u32 serial;
	u32 next; /* node number + 1 */
};

/* A place in the kernel that was met. */
struct usc_place {
	unsigned long address;
	u32 place;    /* 0 = was not announced */
	u32 plumbing; /* that by which the kernel calls probes */
};

/* A name that other modules log under. Written once, then only `announced` changes. */
struct usc_known_kind {
	u32 hash;
	u16 bytes;
	bool announced;
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
	/* Unwind tables (free ones without rows); files by slot. */
	struct usc_file_entry *files;
	struct usc_table **file_tables;
	struct usc_table *tables;
	struct usc_rule *rules;
	u32 table_count; /* behind the last one that was ever taken */
	u32 rows_used, rows_limit;
	u32 index_used, index_limit;
	u32 rules_used, rules_limit;
	/* Files by key, announced mappings, losses by process: under `lock`. */
	u32 *file_buckets; /* node number + 1 */
	struct usc_file_node *file_nodes;
	u32 file_count;
	u32 free_node; /* node number + 1, linked by `next` */
	struct announced_key *announced;
	struct usc_device_loss *losses;
	struct usc_place *places;
	struct usc_known_kind *kinds;
	u32 kind_count;
	/* Trace. */
	struct pid *launched;
	u32 launch_pending;
	u32 own_process; /* the tracer's pid */
	u32 entries_closed;
	u32 cgroup_generation;
	u64 hold_until;
	u32 last_task, last_process, last_image, last_stack, last_space;
	u32 last_file;
	u32 last_place;
	u32 first_stack; /* that may still be named */
	u32 query_turn;	 /* which of a processor's two tables of rows is filled */
	/* From here on: as long as the module is loaded. */
	raw_spinlock_t lock;
	wait_queue_head_t readers;
	atomic_t urgent;
};

extern struct usc_session usc;
/* Does the session's configuration hold a question? */
DECLARE_STATIC_KEY_FALSE(usc_has_question);

int usc_session_start(struct usc_device_start *start);
void usc_session_free(void);

#endif
