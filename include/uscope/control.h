/* SPDX-License-Identifier: GPL-2.0-or-later OR MIT */
/*
 * What a tracer tells a backend, and what the backend counts. The walk's caches and the way configuration travels are
 * each backend's own; what is said is the same.
 */
#ifndef USCOPE_CONTROL_H
#define USCOPE_CONTROL_H

#include "query.h"
#include "record.h"
#include "rows.h"
#include "scope.h"
#include "target.h"

#define USC_CONTROL_ABI 17 /* moves with every change of a layout below */

#define USC_SYSCALL_BITS 512
#define USC_STRUCTURE_WORDS 128

struct usc_config {
	struct usc_scope scope;
	struct usc_target target;
	__u32 verify_every; /* every Nth event carries a sample; 0 = never */
	__u32 cpus;	    /* possible processors */
	__u64 calls[USC_CALL_TABLES]
		   [USC_SYSCALL_BITS / 64]; /* calls to record; others are not walked. USC_CALL_TABLE() */
	/* What arguments point to, by number of the call: words as usc_string_slot() makes them, with USC_CALL_FOLLOWED
	 * where the call changes descriptors, and USC_CALL_OPENS; 0: nothing is read. */
	__u64 strings[USC_CALL_TABLES][USC_SYSCALL_BITS];
	/* Sizes of the structures that they point to: by number of the call the place of a word that usc_structure_slot() makes;
	 * the first word is 0. */
	__u8 structures_of[USC_CALL_TABLES][USC_SYSCALL_BITS];
	__u64 structures[USC_STRUCTURE_WORDS];
	__u32 string_bytes; /* taken of each, at most: 1 … USC_STRING_MOST */
	__u32 data_bytes;   /* taken of what a call carries, at most: 1 … USC_DATA_MOST; 0: no kind asks for it */
	__u32 signals;	    /* 1: signals are recorded; the BPF programs of it are loaded only then */
	__u32 mount_space;  /* the tracer's mount namespace, by its inode; 0: files are not told apart by theirs */
	__u32 argument_bytes; /* kept of a program's argument list: USC_ARGV_LEAST … USC_ARGV_MOST; 0: USC_ARGV_DEFAULT */
	__u32 pad;
	struct usc_query query; /* what is summed of them, so that they leave no records; not of signals */
};

/* How long a process that ran before is held at most, until its mappings are known: is_held(). */
#define USC_HOLD_NS 2500000000ull

/* What is known of a file, in a slot that it has as long as a process may have it mapped: file_slots.h. */
struct usc_file_entry {
	struct usc_file_rows rows;
	__u32 state;   /* enum usc_file_state */
	__u32 classes; /* USC_CLASS_* */
	__u32 serial;  /* of the file; 0: the slot is free (slot 0: memory without a file) */
	__u32 turn;    /* how many files have had the slot */
};

/* Counters of one processor; all only grow. */
struct usc_stats {
	__u64 events;
	__u64 walks;
	__u64 frames_walked; /* physical frames looked at */
	__u64 frames_kept;
	__u64 walks_stopped_early; /* by scope or budget, before the stack's end was reached */
	__u64 memo_hits;
	__u64 row_cache_hits;
	__u64 mapping_lookups; /* VMA look-ups */
	__u64 stacks_sent;
	__u64 walked_twice; /* mappings changed during the walk */
	__u64 deferred[USC_DEFER_COUNT];
	__u64 loss[USC_LOSS_COUNT];
};

/* A call that a thread was found in when tracing began, and the registers that it was entered with. `sample` is still
 * without a copy of the stack. */
struct usc_attached_call {
	__u32 pid; /* of the initial namespace */
	__u32 tid;
	struct usc_event event;
	struct usc_sample sample;
};

/* Losses by process, where one is known. */
struct usc_loss_key {
	__u32 process;
	__u32 cause;
};

USC_ASSERT_SIZE(usc_config, 11456);
USC_ASSERT_SIZE(usc_file_entry, 48);
USC_ASSERT_SIZE(usc_loss_key, 8);

#endif
