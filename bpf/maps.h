/* SPDX-License-Identifier: GPL-2.0-or-later OR MIT */
/*
 * Everything the programs keep. What one processor alone writes lies in arrays indexed by processor (an array look-up
 * is compiled inline; a per-CPU map's is not on 6.1). Sizes that depend on the machine are set by the tracer before
 * loading.
 */
#ifndef USCOPE_BPF_MAPS_H
#define USCOPE_BPF_MAPS_H

#include <linux/bpf.h>
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_core_read.h>
#include <bpf/bpf_tracing.h>

#include "kernel_types.h"
#include "shared.h"
#include "uscope/core/state.h"
#include "uscope/file_slots.h"
#include "uscope/query_counts.h"

struct {
	__uint(type, BPF_MAP_TYPE_TASK_STORAGE);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, int);
	__type(value, struct task_entry);
} tasks SEC(".maps");

#define ARRAY_MAP(name, entries, value_type)                                                                           \
	struct {                                                                                                       \
		__uint(type, BPF_MAP_TYPE_ARRAY);                                                                      \
		__uint(max_entries, entries);                                                                          \
		__type(key, __u32);                                                                                    \
		__type(value, value_type);                                                                             \
	} name SEC(".maps")

#define USC_SLOT(function, array, type, count, per_cpu) ARRAY_MAP(array, count, type);
#include "uscope/core/slots.def"
#undef USC_SLOT

ARRAY_MAP(files, USC_FILE_SLOTS, struct usc_file_entry);
ARRAY_MAP(cpus, 1, struct cpu_state);
ARRAY_MAP(rules, 1, struct usc_rule);

/* One that the tracer maps. */
#define MAPPED_ARRAY_MAP(name, value_type)                                                                             \
	struct {                                                                                                       \
		__uint(type, BPF_MAP_TYPE_ARRAY);                                                                      \
		__uint(map_flags, BPF_F_MMAPABLE);                                                                     \
		__uint(max_entries, 1);                                                                                \
		__type(key, __u32);                                                                                    \
		__type(value, value_type);                                                                             \
	} name SEC(".maps")

/* Unwind rows of all files, written by the collector. */
MAPPED_ARRAY_MAP(rows, struct usc_row);

/* Index entries, two in each value: an array's values are padded to 8 bytes. */
MAPPED_ARRAY_MAP(row_index, __u64);

/* Calls that are only counted: by CPU, turn, ABI and number; one where none are. */
MAPPED_ARRAY_MAP(call_counts, __u64);
/* Two in a cache line. USC_QUERY_BRIEF_THREADS where calls are told of so; else there is one. */
MAPPED_ARRAY_MAP(brief_calls, struct brief_call);
/* Beside the rows of a question that keeps steps of a number together; one where none does. */
MAPPED_ARRAY_MAP(query_steps, struct usc_query_steps);
/* By CPU and turn; there is none unless counts_by_fields. */
MAPPED_ARRAY_MAP(query_counts, struct usc_query_counts);

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, USC_FILE_SLOTS);
	__type(key, struct usc_file_key);
	__type(value, __u32);
} file_serials SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, 32768);
	__type(key, struct announced_key);
	__type(value, __u32);
} announced SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__uint(max_entries, 16384);
	__type(key, struct usc_loss_key);
	__type(value, __u64);
} loss_by_process SEC(".maps");

struct ring {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
	__uint(max_entries, 4096);
};

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY_OF_MAPS);
	__uint(max_entries, 1);
	__type(key, __u32);
	__array(values, struct ring);
} rings SEC(".maps");

const volatile struct usc_config config;

/* config.query once more. Where the verifier knows the instructions, it follows each way through them. */
struct usc_query query;
const volatile bool calls_counted; /* usc_query_counts_calls(&config.query) */
const volatile __u32 steps_word;   /* usc_query_steps_word(&config.query) */

/* Of calls whose entries are passed by (brief_calls.bpf.h): what each of them is asked stands in two lines of memory. */
const volatile __u64 brief_numbers[USC_SYSCALL_BITS / 64]; /* those that the configuration wants */
const volatile __u64 count_mask;			   /* usc_query_count_mask() */
const volatile bool calls_brief;
const volatile bool times_asked;      /* is_asked_for(ASKED_TIME) */
const volatile bool guises_asked;     /* asks_for_guises() */
const volatile bool counts_by_fields; /* usc_query_counts_by_fields(&config.query, …) */
const volatile bool counts_images;    /* the key has the image; so the next two */
const volatile bool counts_times;     /* a step of how long the call took */
const volatile bool counts_results;   /* a step of its result */

/* Which of a processor's two tables of rows the programs fill; the tracer reads the other one. */
__u32 query_turn;

/* The first stack that may still be named. */
__u32 first_stack;

/* The tracer's pid namespace: the pid it knows the command by is of that one. */
const volatile __u64 pid_namespace_dev, pid_namespace_ino;

/*
 * Set by the tracer between loading and launching: the process whose first execve begins the trace, as the tracer's
 * namespace numbers it. 0 once it has begun.
 */
__u32 launch_pending;
__u32 own_process; /* the tracer's pid */

/* All tasks have been decided, or wait for nothing but an exec, and the launched command has begun: who is not noted as
 * traced is not traced. */
__u32 settled;

/* A bit for each number that a task can have. A variable is reached by fewer instructions than a map's entry. */
#define TRACED_WORDS 65536
__u64 traced_numbers[TRACED_WORDS];

/* Set when tracing ends: from here on no entry is seen, so an exit without one says nothing. */
__u32 entries_closed;

/* Until then (CLOCK_MONOTONIC), tasks of processes that ran before are held: is_held(). */
__u64 hold_until;

/* Moves with every change of membership in a control group. */
__u32 cgroup_generation;

/* Serial numbers given out last. */
__u32 last_task, last_process, last_image, last_stack, last_space;
__u32 last_file = USC_FILE_VDSO;

#endif
