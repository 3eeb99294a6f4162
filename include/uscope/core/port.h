/* SPDX-License-Identifier: GPL-2.0-or-later OR MIT */
/*
 * What a backend supplies to core/, before it includes any other header of it. `config`, `launch_pending`, `own_process`,
 * `entries_closed`, `hold_until` (CLOCK_MONOTONIC: is_held()), `cgroup_generation` (moves with every change of membership in a control group) are its variables.
 * Every function may be called at any of the hooks: none of them sleeps or faults.
 *
 * Macros: USC_SUBPROGRAM (before a function that is not to be inlined), USC_HOT_SUBPROGRAM (before one that only a verifier wants for
 * itself), USC_STAYS_BELOW(number, bound) (always true: what a verifier does not know), USC_PLAIN_FRAMES (so many frames of a
 * walk at most are taken by one turn of walk_plain_frames(); 0: there is no such function), USC_KNOWN_STEPS (so many instructions of a
 * question are run by code of their own, unrolled by USC_UNROLL: where config is known when that code is loaded), usc_loop(count, body,
 * context) (calls body(i, context) until it returns not 0), STRETCH_MOST_BYTES (open_stretch), MM_FIELD(task, field) (of task->mm),
 * TASK_FIELD(task, field) and SIGNAL_FIELD(task, field) (of task->signal; both for paths that are seldom taken), VMA_SPACE(vma)
 * (USC_MM_SERIAL of its mm), SERIAL(of) (where the last serial number of a task, process, image, stack or file is kept; of a space: not 0 once several mount namespaces were met), barrier().
 */
#ifndef USCOPE_CORE_PORT_H
#define USCOPE_CORE_PORT_H

#include "state.h"

/* Before uscope/unwind.h, which the backends include. */
#define USC_READ_COMPACT read_for_compact
static inline __attribute__((always_inline)) int read_for_compact(void *memory, __u64 address, __u64 *value);

struct file;
struct linux_binprm;
struct pt_regs;
struct task_struct;
struct vm_area_struct;

/* Here and now. */
static __u32 current_cpu(void);
static struct task_struct *this_task(void);
static __u64 now_ns(void); /* CLOCK_MONOTONIC */
static struct pt_regs *user_regs(struct task_struct *task);

/* config.query, likewise; and which of a processor's two tables takes rows now: 0 or 1. */
static const volatile struct usc_query *query_of_config(void);
static __u32 query_turn_now(void);
/*
 * usc_query_steps_word() of the question, where rows that differ in this word are kept as one (uscope/query_rows.h); 0 in a
 * backend that keeps each. Then the counts of a place are found by its number: USC_QUERY_STEP_ROWS in each table.
 */
static __u32 query_steps_word(void);
static struct usc_query_steps *query_steps_at(__u32 number);
/* Calls are only counted, by number and ABI (usc_query_counts_calls): where, of numbers below USC_SYSCALL_BITS; 0: this
 * backend sums them as all others. */
static bool counts_calls(void);
static __u64 *call_count_at(__u32 turn, __u32 abi, __u32 nr);
static bool has_question(void); /* config.query.length != 0, by a branch that costs next to nothing */
/* Stacks with a smaller number are not named any more: where they come again, they are sent anew. */
static __u32 first_stack_now(void);

/* Slots, by number; 0 where there is none of that number. */
#define USC_SLOT(function, array, type, count, per_cpu) static type *function(__u32 number);
#include "uscope/core/slots.def"
#undef USC_SLOT
static struct cpu_state *cpu_state_of(__u32 cpu);
static struct usc_file_entry *file_slot_at(__u32 slot);

/* Unwind tables of a file that has its slot, as usc_row_find takes them. */
static void *tables_of(__u32 file);

/* Tasks of the trace map. new_entry: zeroes, 0 = no memory. */
static struct task_entry *entry_of(struct task_struct *task);
static struct task_entry *new_entry(struct task_struct *task);
/* The task may be traced from now on, whatever its entry says: before it can make a call. Never taken back. */
static void note_traced(struct task_struct *task);
/* Is the current task the one whose first execve begins the trace? launch_begins: it is in the map now. */
static int is_launched(void);
static void launch_begins(void);

/*
 * What config.target says of a process, by its leader (and one of its threads that lives): does it match itself; does
 * an ancestor; is it in one of the control groups. image_matches: at its exec, the current one's new image.
 */
static int process_matches(struct task_struct *leader, struct task_struct *task);
static int ancestor_matches(struct task_struct *leader);
static int cgroup_matches(struct task_struct *task);
static int image_matches(struct task_struct *task, struct linux_binprm *bprm);

/* Memory. read_kernel_text: bytes with the NUL, or less than 1; read_user_text the same, negative where it could not be
 * read (of an empty text older kernels say 0). The others: 0, or not 0 where it could not be read. */
static long read_kernel_text(void *to, __u32 bytes, const void *from);
static long read_user_text(void *to, __u32 bytes, const void *from);
static long read_user(void *to, __u32 bytes, const void *from);
static long read_kernel(void *to, __u32 bytes, const void *from);
static int read_word(struct scratch *s, __u64 address, __u64 *value);
/*
 * Many words of one stretch of the stack, for less than read_word takes for each: open_stretch makes sure that as much as
 * STRETCH_MOST_BYTES can be read from an address on stretch_word reads by the word's number from
 * there. Nothing else is called before close_stretch.
 */
static bool open_stretch(struct scratch *s, __u64 address, __u32 bytes);
static int stretch_word(struct scratch *s, __u32 at, __u64 *value);
static void close_stretch(void);
/* Of kernel memory, USC_PAGE_BYTES each. */
static bool same_pages(const char *a, const char *b);
static void keep_page(char *to, const char *from);

/* Calls back with the current task's mapping that holds an address; RESULT_EBUSY where mappings are locked. */
/* static long with_vma(__u64 address, callback, void *context); a macro, for the callback's type */

/* Has a thread used io_uring since its last exec? The kernel keeps what belongs to that until the thread ends. */
static bool has_rings(struct task_struct *task);

/*
 * Files. path_components: the components' bytes, innermost first. read_memory_key: of memory behind a descriptor (memfd, a
 * deleted file in /dev/shm) the part of its key that stays whatever is written to it; false for other files.
 */
/*
 * The file that a task's program is mapped from, 0 = none, and where. It is the one at its code, since the kernel's own
 * note of the executable may be of another file system (overlayfs); where the mappings cannot be looked up now, the latter,
 * without a place.
 */
struct image_place {
	__u64 start;
	__u64 end;
	__u64 offset; /* bytes of the file */
};
static struct file *hold_image_file(struct task_struct *task, struct image_place *place);
static struct file *hold_descriptor(struct task_struct *task, __u32 fd); /* of the current task; 0 = not open */
static void describe_file(struct file *file, struct usc_passed *to);	 /* its fields but for fd and path */
static bool is_local_socket(struct file *file);				 /* of family AF_UNIX */
static __u32 mount_space(struct task_struct *task);			 /* its mount namespace, by its inode */
static void release_image_file(struct file *file);
static void read_file_key(struct file *file, struct usc_file_key *key);
static bool read_memory_key(struct file *file, struct usc_file_key *key);
static __u32 path_components(struct task_struct *task, struct file *file, struct text_scratch *text);
static __u32 file_links(struct file *file);
static bool has_lease(struct file *file); /* has the file that leads to it, for who opens it by its path */
static __u32 known_file(const struct usc_file_key *key); /* its serial, 0 = none */
static int enter_file(const struct usc_file_key *key, __u32 serial);
static void drop_file(const struct usc_file_key *key);
/* May a new file be announced here and now? Where it may not, the collector does the work that met the file. */
static bool may_meet_files(void);

/* The task's control group in the unified hierarchy: its number, 0 = none; and the components of its path, innermost first, into
 * text->cgroup.path: how many bytes. */
static __u64 cgroup_of(struct task_struct *task);
static __u32 cgroup_components(struct task_struct *task, struct text_scratch *text);

/* Is the collector to know in which mappings the kernel puts no breakpoints: are there probes in files? */
static bool has_probes_in_files(void);

/*
 * Probes in programs (uprobes), whoever has set them. meets_probes: has the task met one so far? copied_instruction: where the
 * copy of the probed instruction is that it executes now, and where the instruction itself (*probed); 0 = it executes none.
 */
static bool meets_probes(struct task_struct *task);
static __u64 copied_instruction(struct task_struct *task, __u64 *probed);

/* Mappings that have been announced to the collector. */
static int was_announced(const struct announced_key *key);
static void remember_announced(const struct announced_key *key);

/* How far CLOCK_MONOTONIC of the task's time namespace is before the host's, in nanoseconds. */
static __s64 time_offset(struct task_struct *task);

/* What is known of a task or an image besides its fields. */
static void fill_ids(struct task_struct *task, struct usc_task *record);
static __u32 user_of(struct task_struct *task); /* its effective user, as the initial namespace has it */
static const char *image_name(struct linux_binprm *bprm);

/*
 * Tables of descriptors, and roots with working directories: do two tasks share theirs? Does a task share its own with
 * threads of its process at most? Never true where a task has none left. may_be_supervised: may a supervisor (seccomp's
 * user notification) change its descriptors?
 */
static bool same_files(struct task_struct *a, struct task_struct *b);
static bool same_fs(struct task_struct *a, struct task_struct *b);
static bool has_own_files(struct task_struct *task);
static bool has_own_fs(struct task_struct *task);
static bool may_be_supervised(struct task_struct *task);

/*
 * Transport. send_record fills the head in; 0, or not 0 where the record was lost (a sequence number is used in any
 * case). reserve_event: 0 = no room. submit_event: not 0 = lost after all.
 */
static int send_record(struct usc_record *head, __u16 type, __u32 bytes, __u32 task, __u64 now, bool urgent);
static struct usc_event *reserve_event(__u32 cpu_number);
static int submit_event(__u32 cpu_number, struct usc_event *event);
static bool ring_is_half_full(__u32 cpu_number);
static void count_process_loss(__u32 cause, __u32 process);

/* The task's entry, if it is traced; else 0. */
static __always_inline struct task_entry *traced_entry(struct task_struct *task)
{
	struct task_entry *t = entry_of(task);

	return t && t->state == USC_TRACED ? t : 0;
}

static __always_inline __u32 next_serial(__u32 *last)
{
	return __sync_fetch_and_add(last, 1) + 1;
}

static __always_inline void fill_head(struct usc_record *head, struct cpu_state *cpu, __u32 cpu_number, __u16 type,
				      __u32 bytes, __u32 task, __u64 now)
{
	head->size = bytes;
	head->type = type;
	head->cpu = cpu_number;
	head->seq = __sync_fetch_and_add(&cpu->seq, 1);
	head->task = task;
	head->pad = 0;
	head->time = now;
}

/*
 * The number of a scratch area of this processor that nothing below uses, or one that is too large. Hooks are not
 * preempted, and what interrupts one ends before it goes on: so no locked instruction is needed.
 */
static __always_inline __u32 enter_scratch(struct cpu_state *cpu)
{
	__u32 level = *(volatile __u32 *)&cpu->nest;

	*(volatile __u32 *)&cpu->nest = level + 1;
	return level;
}

static __always_inline void leave_scratch(struct cpu_state *cpu, __u32 level)
{
	*(volatile __u32 *)&cpu->nest = level;
}

/* Counts one loss, for the processor and for the process (serial, 0 = not known). */
static __always_inline void count_loss(struct cpu_state *cpu, __u32 cause, __u32 process)
{
	if (cpu)
		__sync_fetch_and_add(&cpu->stats.loss[cause], 1);
	if (process)
		count_process_loss(cause, process);
}

/* The same of a record that is refused before it is sent: it takes the number that it would have had, so that the
 * numbers tell of it as of one that found no room. Only for causes that are `numbered`. */
static __always_inline void refuse_record(struct cpu_state *cpu, __u32 cause, __u32 process)
{
	if (cpu && usc_loss_is_numbered(cause))
		__sync_fetch_and_add(&cpu->seq, 1);
	count_loss(cpu, cause, process);
}

#endif
