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
#include "uscope/control.h"
#include "uscope/trace_map.h"
#include "uscope/unwind.h"

#define MM_SLOTS 65536
#define DATA_SLOTS 16384
#define MAPPING_SLOTS 1024 /* of each processor, and of the next three */
#define ROW_SLOTS 4096
#define STACK_SLOTS 32768
#define STACK_WAYS 4
#define STACK_LOG_WORDS (1u << 18)
#define MEMO_SLOTS 4096
#define MEMO_WORDS 64
#define SCRATCH_LEVELS 3
#define BLOCK_BYTES 512

/* task_entry.flags */
#define MAPPING_I386 ~0u

#define TASK_IN_CALL 1 /* between entry and exit of a recorded call */
#define TASK_NEWBORN 2 /* its first exit without an entry is its birth */
#define TASK_SKIPPED 4 /* in a call that -e leaves out */
#define TASK_MAPPING 8 /* in a call that counts in mm_slot.in_flight */

/* One thread of the trace map: kept in the task itself, so that it ends with it. */
struct task_entry {
	__u32 state; /* enum usc_process_state */
	__u32 serial;
	__u32 process;
	__u32 mm;
	__u32 image;
	__u32 exe_file;
	__u32 flags;
	/* The call it is in. */
	__u32 nr;
	__u64 entry_ns;
	__u64 args[6];
	__u64 open_ns; /* entry_ns of the last call that was written as open */
	__u32 stack;
	__u32 call_serial; /* serial and image at entry: an exec may change them */
	__u32 call_image;
	__u8 abi;
	__u8 pad;
	__u16 event_flags;
	/* What restart_syscall would continue. */
	__u32 restart_nr;
	__u32 mapping_nr; /* MAPPING_I386: one of the 32-bit ABI */
	__u64 mapping_ns; /* when the call that counts in in_flight began */
	__u64 untold;	  /* an executable mapping that could not be looked up when it was made */
	__u64 restart_args[6];
};

/* The addresses between which executable mappings lie, or once lay. `below` is ~start, so that zeroes are the empty
 * range. */
struct hull {
	__u64 below;
	__u64 end;
};

/*
 * The generation of an address space's mappings, and where the executable ones lie: one hull for the program, one for
 * what is mapped above SPLIT_ADDRESS (libraries). Slots are shared by address spaces whose serials collide, which costs
 * refills and look-ups, never truth: cached entries carry the serial too, and hulls only grow.
 */
struct mm_slot {
	__u32 generation;
	__u32 in_flight; /* calls under way that may change mappings */
	struct hull low;
	struct hull high;
};

#define SPLIT_ADDRESS 0x700000000000ull

/* Memory that was mapped without PROT_EXEC under this key: nothing in it is executable as long as the generation
 * stands. */
struct data_slot {
	__u64 key; /* as in mapping_slot */
	__u64 start;
	__u64 end;
	__u64 pad;
};

/* A cached executable mapping. key 0 = empty. */
struct mapping_slot {
	__u64 key; /* mm serial << 32 | generation */
	__u64 start;
	__u64 end;
	__u64 offset; /* file offset of start */
	__u64 file;
	__u64 pad;
};

/* A cached pc: its frame word and the rule that holds there. */
struct row_slot {
	__u64 key;
	__u64 pc; /* pc << 1 | exact */
	__u64 frame;
	__u32 rule;
	__u32 classes;
};

/* A stack that was sent: its words lie in this processor's log, as long as the log has not run over them. */
struct stack_slot {
	__u64 hash;
	__u64 position; /* in the log, ever growing */
	__u32 stack;
	__u32 tag; /* stack_tag */
	__u32 mm;
	__u32 pad;
};

/*
 * A whole walk, remembered: sound as long as the mappings are unchanged (key) and every stack word that the walk read,
 * and rbp if it was used, are what they were. Walks that may have used other registers are not remembered.
 */
struct memo_slot {
	__u64 key;
	__u64 pc;
	__u64 rsp;
	__u64 rbp;
	__u32 stack;
	__u32 exe_file;
	__u32 words;
	__u32 frames;
	__u32 kept;
	__u32 rbp_used;
	__u32 pad;
	__u32 candidate;      /* the stack that the last walk from here gave */
	__u16 at[MEMO_WORDS]; /* word number from rsp */
	__u64 value[MEMO_WORDS];
};

/* Where one walk works. */
struct scratch {
	struct usc_frame frame;
	__u64 key; /* of the address space now; 0 = mappings are changing, nothing is cached */
	__u64 block_base;
	__u32 block_bytes;
	__u32 cpu;
	struct usc_scope_state scope;
	__u32 exe_file;
	__u32 mm;
	__u32 ended;
	__u32 done;
	__u32 defer;
	__u32 walked;
	__u32 has_jit;
	__u32 serial;
	/* for the memo */
	__u32 reads; /* words read; above MEMO_WORDS: no memo */
	__u32 memo_ok;
	__u32 rbp_used;	    /* the CFA of a frame came from the rbp that the walk began with */
	__u32 rbp_restored; /* rbp has been read from the stack since */
	__u64 hash;
	__u64 start_rsp;
	__u16 read_at[MEMO_WORDS];
	__u64 read_value[MEMO_WORDS];
	__u8 block[BLOCK_BYTES];
	struct usc_stack record; /* and its frames behind it */
	__u64 frames[USC_MAX_FRAMES];
};

/* Room for records of variable length. */
struct text_scratch {
	union {
		struct usc_exec exec;
		struct usc_file file;
		char bytes[4096];
	};
};

struct sample_scratch {
	struct usc_sample sample;
	char data[USC_SAMPLE_BYTES + USC_SAMPLE_END_BYTES];
};

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

ARRAY_MAP(mm_slots, MM_SLOTS, struct mm_slot);
ARRAY_MAP(data_slots, DATA_SLOTS, struct data_slot);
ARRAY_MAP(files, USC_FILE_MAX + 1, struct usc_file_entry);
ARRAY_MAP(cpus, 1, struct cpu_state);
ARRAY_MAP(mapping_slots, MAPPING_SLOTS, struct mapping_slot);
ARRAY_MAP(row_slots, ROW_SLOTS, struct row_slot);
ARRAY_MAP(stack_slots, STACK_SLOTS, struct stack_slot);
ARRAY_MAP(stack_log, STACK_LOG_WORDS, __u64);
ARRAY_MAP(memo_slots, MEMO_SLOTS, struct memo_slot);
ARRAY_MAP(scratches, SCRATCH_LEVELS, struct scratch);
ARRAY_MAP(texts, 1, struct text_scratch);
ARRAY_MAP(samples, 1, struct sample_scratch);
ARRAY_MAP(rules, 1, struct usc_rule);

/* Unwind rows of all files, written by the collector through a mapping. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct usc_row);
} rows SEC(".maps");

/* Index entries, two in each value: an array's values are padded to 8 bytes. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, __u64);
} row_index SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 32768);
	__type(key, struct usc_file_key);
	__type(value, __u32);
} file_serials SEC(".maps");

/* Mappings that the collector has been told of. */
struct told_key {
	__u32 mm;
	__u32 file;
	__u64 start;
	__u64 generation; /* key of mapping_slot: after a change all is told again when it is met */
};

struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, 32768);
	__type(key, struct told_key);
	__type(value, __u32);
} told SEC(".maps");

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

/* The tracer's pid namespace: the pid it knows the command by is of that one. */
const volatile __u64 pid_namespace_dev, pid_namespace_ino;

/*
 * Set by the tracer between loading and launching: the process whose first execve begins the trace, as the tracer's
 * namespace numbers it. 0 once it has begun.
 */
__u32 launch_pid;

/* Set when tracing ends: from here on no entry is seen, so an exit without one says nothing. */
__u32 entries_closed;

/* Serial numbers given out last. */
__u32 last_task, last_process, last_image, last_mm, last_stack;
__u32 last_file = USC_FILE_VDSO;

static __always_inline __u32 next_serial(__u32 *last)
{
	return __sync_fetch_and_add(last, 1) + 1;
}

static __always_inline struct cpu_state *cpu_state_of(__u32 cpu)
{
	return bpf_map_lookup_elem(&cpus, &cpu);
}

static __noinline void count_process_loss(__u32 cause, __u32 process)
{
	struct usc_loss_key key = {.process = process, .cause = cause};
	__u64 one = 1, *count;

	count = bpf_map_lookup_elem(&loss_by_process, &key);
	if (count)
		__sync_fetch_and_add(count, 1);
	else
		bpf_map_update_elem(&loss_by_process, &key, &one, BPF_NOEXIST);
}

/* Counts one loss, for the processor and for the process (serial, 0 = not known). */
static __always_inline void count_loss(struct cpu_state *cpu, __u32 cause, __u32 process)
{
	if (cpu)
		__sync_fetch_and_add(&cpu->stats.loss[cause], 1);
	if (process)
		count_process_loss(cause, process);
}

#endif
