/* SPDX-License-Identifier: GPL-2.0-or-later OR MIT */
/* What core/ keeps, in maps; and the current task's memory and mappings, by helpers. */
#ifndef USCOPE_BPF_STORAGE_H
#define USCOPE_BPF_STORAGE_H

#include "maps.h"

#define barrier() asm volatile("" ::: "memory")
#define USC_SUBPROGRAM __noinline
#define USC_HOT_SUBPROGRAM __noinline
#define USC_STAYS_BELOW(number, bound) ((number) < (bound))
#define USC_PLAIN_FRAMES 0 /* the verifier goes through each of them: loading took six times as long */
/* As many as the questions take that are asked most; each is some 400 instructions of a program before it is verified. */
#define USC_KNOWN_STEPS 24
#define USC_UNROLL _Pragma("unroll")
#define usc_loop(count, body, context) bpf_loop(count, body, context, 0)
#define MM_FIELD(task, field) BPF_CORE_READ(task, mm, field)
/*
 * Not by a load: of each load of a pointer through one that it trusts, in each state, the verifier looks up by name in all
 * of the kernel's types what the pointer is worth (6.18: a millisecond). A load is for what needs the pointer's type.
 */
#define TASK_FIELD(task, field) BPF_CORE_READ(task, field)
#define SIGNAL_FIELD(task, field) BPF_CORE_READ(task, signal, field)
#define VMA_SPACE(vma) BPF_CORE_READ(vma, vm_mm, USC_MM_SERIAL)
#define SERIAL(of) (&last_##of)
#define STRETCH_MOST_BYTES BLOCK_MOST_BYTES
#define with_vma(address, callback, context)                                                                           \
	(mappings_are_closed() ? (long)RESULT_EBUSY                                                                    \
			       : bpf_find_vma(bpf_get_current_task_btf(), address, callback, context, 0))

#include "uscope/core/numbers.h"
#include "uscope/core/port.h"
#include "uscope/unwind.h"

#define LOOK_UP(function, map, type)                                                                                   \
	static __always_inline type *function(__u32 number)                                                            \
	{                                                                                                              \
		return bpf_map_lookup_elem(&map, &number);                                                             \
	}

#define USC_SLOT(function, array, type, count, per_cpu) LOOK_UP(function, array, type)
#include "uscope/core/slots.def"
#undef USC_SLOT
LOOK_UP(file_slot_at, files, struct usc_file_entry)
LOOK_UP(cpu_state_of, cpus, struct cpu_state)

/* While a hit of a kernel's function is made: kernel_functions.bpf.h. */
static __always_inline bool mappings_are_closed(void)
{
	struct cpu_state *cpu = cpu_state_of(bpf_get_smp_processor_id());

	return cpu && *(volatile __u32 *)&cpu->closed_mappings;
}

static __always_inline __u32 current_cpu(void)
{
	return bpf_get_smp_processor_id();
}

static __always_inline struct task_struct *this_task(void)
{
	return bpf_get_current_task_btf();
}

static __always_inline __u64 now_ns(void)
{
	return bpf_ktime_get_ns();
}

static __always_inline struct pt_regs *user_regs(struct task_struct *task)
{
	return (struct pt_regs *)bpf_task_pt_regs(task);
}

static __always_inline void launch_begins(void)
{
	launch_pending = 0;
	settled = 1;
}

static __always_inline struct task_entry *entry_of(struct task_struct *task)
{
	return bpf_task_storage_get(&tasks, task, 0, 0);
}

static __always_inline struct task_entry *new_entry(struct task_struct *task)
{
	struct task_entry *t = bpf_task_storage_get(&tasks, task, 0, BPF_LOCAL_STORAGE_GET_F_CREATE);

	/* The first attempt has asked for a new stock of memory where there was none. */
	return t ? t : bpf_task_storage_get(&tasks, task, 0, BPF_LOCAL_STORAGE_GET_F_CREATE);
}

static __always_inline void note_traced(struct task_struct *task)
{
	__u32 pid = task->pid;

	__sync_fetch_and_or(&traced_numbers[pid / 64 % TRACED_WORDS], 1ull << pid % 64);
}

/* What a program that is not traced pays for a call, twice: one look-up in an array. */
static __always_inline bool is_surely_untraced(struct task_struct *task)
{
	__u32 pid = task->pid;

	return settled && !(traced_numbers[pid / 64 % TRACED_WORDS] >> pid % 64 & 1);
}

static __noinline int is_launched(void)
{
	struct bpf_pidns_info ids = {};

	if (bpf_get_ns_current_pid_tgid(pid_namespace_dev, pid_namespace_ino, &ids, sizeof(ids)))
		return 0;
	return ids.tgid == launch_pending;
}

static __always_inline const volatile struct usc_query *query_of_config(void)
{
	return &query;
}

static __always_inline bool has_question(void)
{
	return config.query.length;
}

static __always_inline __u32 query_turn_now(void)
{
	return *(volatile __u32 *)&query_turn & 1;
}

static __always_inline bool counts_calls(void)
{
	return calls_counted;
}

static __always_inline bool tells_briefly(void)
{
	return calls_brief;
}

static __always_inline __u64 *call_count_at(__u32 turn, __u32 abi, __u32 nr)
{
	__u32 number = ((current_cpu() * 2 + turn) * USC_ABI_COUNT + abi) * USC_SYSCALL_BITS + nr;

	return bpf_map_lookup_elem(&call_counts, &number);
}

static __always_inline __u32 query_steps_word(void)
{
	return steps_word;
}

static __always_inline struct usc_query_steps *query_steps_at(__u32 number)
{
	return bpf_map_lookup_elem(&query_steps, &number);
}

/* The counts that this processor fills. */
static __always_inline struct usc_query_counts *query_counts_here(void)
{
	__u32 number = current_cpu() * 2 + query_turn_now();

	return bpf_map_lookup_elem(&query_counts, &number);
}

static __always_inline __u32 first_stack_now(void)
{
	return *(volatile __u32 *)&first_stack;
}

static __always_inline void *tables_of(__u32 file)
{
	return 0; /* one table for all */
}

static inline const struct usc_row *usc_row_at(void *tables, __u32 number)
{
	return bpf_map_lookup_elem(&rows, &number);
}

static inline const __u32 *usc_index_at(void *tables, __u32 number)
{
	__u32 pair = number >> 1;
	__u32 *entry = bpf_map_lookup_elem(&row_index, &pair);

	return entry ? entry + (number & 1) : 0;
}

static inline const struct usc_rule *usc_rule_at(void *tables, __u32 number)
{
	return bpf_map_lookup_elem(&rules, &number);
}

/* Reads the stretch of stack that begins at an address: a block, or up to where it ends, or to the page's end, or one
 * word. */
__noinline int read_block(struct scratch *s, __u64 address)
{
	__u64 bytes;

	if (!s)
		return -1;
	s->block_base = address;
	bytes = s->wanted_end - address;
	if (!s->wanted_end || bytes < 8)
		bytes = BLOCK_BYTES;
	asm volatile("" : "+r"(bytes)); /* one bound that the verifier sees */
	if (bytes > BLOCK_MOST_BYTES)
		bytes = BLOCK_MOST_BYTES;
	s->block_bytes = bytes;
	if (!bpf_probe_read_user(s->block, bytes, (void *)address))
		return 0;
	bytes = USC_PAGE_BYTES - (address & (USC_PAGE_BYTES - 1));
	if (bytes >= 8 && bytes < BLOCK_BYTES) {
		s->block_bytes = bytes;
		if (!bpf_probe_read_user(s->block, bytes & (BLOCK_BYTES - 1), (void *)address))
			return 0;
	}
	s->block_bytes = 8;
	if (!bpf_probe_read_user(s->block, 8, (void *)address))
		return 0;
	s->block_bytes = 0;
	return -1;
}

static __always_inline int read_word(struct scratch *s, __u64 address, __u64 *value)
{
	__u64 at = address - s->block_base;

	if (s->block_bytes < 8 || at > s->block_bytes - 8) {
		if (read_block(s, address))
			return -1;
		at = 0;
	}
	if (at > BLOCK_MOST_BYTES - 8)
		return -1;
	*value = *(__u64 *)(s->block + at);
	return 0;
}

static __always_inline bool open_stretch(struct scratch *s, __u64 address, __u32 bytes)
{
	if (s->block_base == address && s->block_bytes >= bytes)
		return true;
	s->block_base = address;
	s->block_bytes = bytes;
	if (bytes <= BLOCK_MOST_BYTES && !bpf_probe_read_user(s->block, bytes, (void *)address))
		return true;
	s->block_bytes = 0;
	return false;
}

static __always_inline int stretch_word(struct scratch *s, __u32 at, __u64 *value)
{
	*value = *(__u64 *)(s->block + (at * 8 & (BLOCK_MOST_BYTES - 8)));
	return 0;
}

static __always_inline void close_stretch(void)
{
}

static __always_inline long read_kernel_text(void *to, __u32 bytes, const void *from)
{
	return bpf_probe_read_kernel_str(to, bytes, from);
}

static __always_inline long read_user_text(void *to, __u32 bytes, const void *from)
{
	return bpf_probe_read_user_str(to, bytes, from);
}

static __always_inline long read_user(void *to, __u32 bytes, const void *from)
{
	return bpf_probe_read_user(to, bytes, from);
}

static __always_inline long read_kernel(void *to, __u32 bytes, const void *from)
{
	return bpf_probe_read_kernel(to, bytes, from);
}

struct page_words {
	__u64 word[USC_PAGE_BYTES / 8];
};

/*
 * A function of its own for the verifier, which goes through it once. Without the asm clang makes a branch of every
 * word, and the verifier follows all ways through them.
 */
USC_SUBPROGRAM int compare_pages(const struct page_words *a, const struct page_words *b)
{
	__u64 differ = 0, other;
	__u32 i, k;

	if (!a || !b)
		return 1;
	for (i = 0; i < USC_PAGE_BYTES / 8; i += 16) {
#pragma unroll
		for (k = 0; k < 16; k++) {
			other = a->word[i + k] ^ b->word[i + k];
			asm volatile("" : "+r"(other));
			differ |= other;
		}
		if (differ)
			return 1;
	}
	return 0;
}

static __always_inline bool same_pages(const char *a, const char *b)
{
	return !compare_pages((const struct page_words *)a, (const struct page_words *)b);
}

static __always_inline void keep_page(char *to, const char *from)
{
	bpf_probe_read_kernel(to, USC_PAGE_BYTES, from);
}

/* Paths are read without a lock. */
static __always_inline bool may_meet_files(void)
{
	return true;
}

/* Set by the tracer before loading. */
const volatile bool has_file_probes;

static __always_inline bool has_probes_in_files(void)
{
	return has_file_probes;
}

static __always_inline int was_announced(const struct announced_key *key)
{
	return bpf_map_lookup_elem(&announced, key) != 0;
}

static __always_inline void remember_announced(const struct announced_key *key)
{
	__u32 one = 1;

	bpf_map_update_elem(&announced, key, &one, BPF_ANY);
}

static __always_inline __s64 time_offset(struct task_struct *task)
{
	struct time_namespace *space = BPF_CORE_READ(task, nsproxy, time_ns);

	if (!bpf_core_field_exists(space->offsets))
		return 0;
	return BPF_CORE_READ(space, offsets.monotonic.tv_sec) * 1000000000ll +
	       BPF_CORE_READ(space, offsets.monotonic.tv_nsec);
}

static __always_inline void fill_ids(struct task_struct *task, struct usc_task *record)
{
	struct pid *pid = BPF_CORE_READ(task, thread_pid);
	__u32 level = BPF_CORE_READ(pid, level);

	bpf_core_read(&record->ns_tid, 4, &pid->numbers[level].nr);
	pid = BPF_CORE_READ(task, group_leader, thread_pid);
	bpf_core_read(&record->ns_pid, 4, &pid->numbers[level].nr);
}

static __always_inline __u32 user_of(struct task_struct *task)
{
	return BPF_CORE_READ(task, real_cred, euid.val);
}

static __always_inline bool same_files(struct task_struct *a, struct task_struct *b)
{
	struct files_struct *files = TASK_FIELD(a, files);

	return files && files == TASK_FIELD(b, files);
}

static __always_inline bool same_fs(struct task_struct *a, struct task_struct *b)
{
	struct fs_struct *fs = TASK_FIELD(a, fs);

	return fs && fs == TASK_FIELD(b, fs);
}

/* Threads that are ending are not counted in `live` any more, but may have their table still: then it is not known. */
static __always_inline bool has_own_files(struct task_struct *task)
{
	int live = SIGNAL_FIELD(task, live.counter);

	return TASK_FIELD(task, files) && BPF_CORE_READ(task, files, count.counter) <= live &&
	       SIGNAL_FIELD(task, live.counter) == live;
}

static __always_inline bool has_own_fs(struct task_struct *task)
{
	int live = SIGNAL_FIELD(task, live.counter);

	return TASK_FIELD(task, fs) && BPF_CORE_READ(task, fs, users) <= live &&
	       SIGNAL_FIELD(task, live.counter) == live;
}

struct filter_walk {
	struct seccomp_filter *filter;
	__u32 listens;
};

static long filter_step(__u32 i, struct filter_walk *walk)
{
	struct seccomp_filter *filter = walk->filter;

	/* A kernel without filters has no such type. */
	if (!filter || !bpf_core_field_exists(filter->notif))
		return 1;
	if (BPF_CORE_READ(filter, notif)) {
		walk->listens = 1;
		return 1;
	}
	walk->filter = BPF_CORE_READ(filter, prev);
	return 0;
}

#define MOST_FILTERS 64

/* A filter that somebody listens to; of more filters than are looked at, one may be. */
static __always_inline bool may_be_supervised(struct task_struct *task)
{
	struct filter_walk walk = {};

	if (!bpf_core_field_exists(task->seccomp.filter))
		return false;
	walk.filter = BPF_CORE_READ(task, seccomp.filter);
	bpf_loop(MOST_FILTERS, filter_step, &walk, 0);
	return walk.listens || walk.filter;
}

/* A kernel without uprobes has no such field. */
static __always_inline bool meets_probes(struct task_struct *task)
{
	return bpf_core_field_exists(task->utask) && TASK_FIELD(task, utask);
}

static __always_inline __u64 copied_instruction(struct task_struct *task, __u64 *probed)
{
	struct uprobe_task *utask;

	if (!bpf_core_field_exists(task->utask))
		return 0;
	utask = TASK_FIELD(task, utask);
	if (!utask)
		return 0;
	*probed = BPF_CORE_READ(utask, vaddr);
	return BPF_CORE_READ(utask, xol_vaddr);
}

static __always_inline const char *image_name(struct linux_binprm *bprm)
{
	return BPF_CORE_READ(bprm, filename);
}

#endif
