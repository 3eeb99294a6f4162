/* SPDX-License-Identifier: GPL-2.0-or-later OR MIT */
/*
 * From a pc to file and offset. A VMA look-up takes the mmap lock for an instant (which is only tried), so its
 * answers are cached by address space and generation. The generation moves at entry and return of every call that may
 * change executable mappings; while such a call is under way in an address space, nothing of it is cached.
 *
 * A call that cannot touch an executable mapping moves nothing: mmap without PROT_EXEC and MAP_FIXED, mprotect without
 * PROT_EXEC (file and offset stay), and any that unmaps or replaces memory outside the ranges of executable mappings,
 * memory that is remembered as data, or only a part of one mapping that is not executable: what servers and allocators
 * do all day. Where a look-up cannot tell (several mappings, mappings locked), it counts as a change.
 */
#ifndef USCOPE_CORE_MAPPINGS_H
#define USCOPE_CORE_MAPPINGS_H

#include "uscope/core/numbers.h"
#include "uscope/core/port.h"
#include "uscope/file_slots.h"

enum found_status { FOUND_NONE, FOUND, FOUND_BUSY, FOUND_LOST };

struct found {
	__u64 address;
	__u64 start;
	__u64 end;
	__u64 offset;
	__u32 file;
	__u32 status; /* enum found_status */
	__u32 mm;
	__u32 serial; /* of the task that asks */
};

/*
 * The number of a task's address space: the kernel's own, which no other one ever has (USC_MM_SERIAL; of 64 bits the
 * lower 32). So processes that share memory have one number however each of them came into the trace. The task's memory
 * must not go meanwhile.
 */
static __always_inline __u32 space_number(__u64 serial)
{
	__u32 number = serial;

	return number ? number : 1; /* 0 = none */
}

static __always_inline __u32 space_of(struct task_struct *task)
{
	return space_number((__u64)MM_FIELD(task, USC_MM_SERIAL));
}

/* Is the mapping one of the address space that the trace map has for the task? Not while it executes a program: memory is
 * replaced first, and the trace map told of it last. */
static __always_inline bool is_mapping_of(struct task_entry *t, struct vm_area_struct *vma)
{
	return space_number(VMA_SPACE(vma)) == t->mm;
}

static __always_inline struct mm_slot *mm_slot_of(__u32 mm)
{
	__u32 slot = mm % MM_SLOTS;

	return mm_slot_at(slot);
}

static __always_inline __u32 spread(__u64 value)
{
	return (value * 0x9e3779b97f4a7c15ull) >> 32;
}

/* The key under which mappings of this address space may be cached now, 0 = not now. */
static __always_inline __u64 mapping_key(__u32 mm)
{
	struct mm_slot *slot = mm_slot_of(mm);

	if (!slot || *(volatile __u32 *)&slot->changing)
		return 0;
	return (__u64)mm << 32 | *(volatile __u32 *)&slot->generation;
}

/* Names the mappings of an address space as they are between two calls that may change them, also while one is under way:
 * at its end, they have another name. */
static __always_inline __u64 mappings_name(__u32 mm)
{
	struct mm_slot *slot = mm_slot_of(mm);

	return slot ? (__u64)mm << 32 | *(volatile __u32 *)&slot->generation : 0;
}

/*
 * The key under which memory of this address space may be remembered as data now, 0 = not now. A call that may only
 * have removed mappings leaves it as it is: a server whose threads map and unmap all the time would otherwise forget
 * with each look-up that found the mappings locked, and so have to look up the more.
 */
static __always_inline __u64 data_key(__u32 mm)
{
	struct mm_slot *slot = mm_slot_of(mm);

	if (!slot || *(volatile __u32 *)&slot->making)
		return 0;
	return (__u64)mm << 32 | *(volatile __u32 *)&slot->made;
}

/* *at = max(*at, value), beside other processors; where they do not let it happen, the largest value there is. */
static __always_inline void raise_to(__u64 *at, __u64 value)
{
	__u64 old;
	int i;

	for (i = 0; i < 4; i++) {
		old = *(volatile __u64 *)at;
		if (old >= value || __sync_val_compare_and_swap(at, old, value) == old)
			return;
	}
	*(volatile __u64 *)at = ~0ull;
}

/* Executable mappings may lie here from now on. */
USC_SUBPROGRAM int widen_exec_range(__u32 mm, __u64 start, __u64 bytes)
{
	struct mm_slot *slot = mm_slot_of(mm);
	__u64 end = start + bytes;

	if (!slot)
		return 0;
	if (end < start)
		end = ~0ull;
	if (start < SPLIT_ADDRESS) {
		raise_to(&slot->low.below, ~start);
		raise_to(&slot->low.end, end);
	}
	if (end > SPLIT_ADDRESS) {
		raise_to(&slot->high.below, ~start);
		raise_to(&slot->high.end, end);
	}
	return 0;
}

/* Of an address space that has just been adopted nothing is known; nor of a copy of it. */
static __noinline int exec_ranges_unknown(__u32 mm)
{
	struct mm_slot *slot = mm_slot_of(mm);
	__u32 other = slot ? __sync_val_compare_and_swap(&slot->unannounced, 0, mm) : 0;

	if (other && other != mm)
		slot->unannounced = ~0u;
	if (slot)
		slot->held = mm;
	return 0;
}

/* All executable mappings of an adopted address space are in the ranges now. */
static __noinline int exec_ranges_known(__u32 mm)
{
	struct mm_slot *slot = mm_slot_of(mm);

	if (slot)
		__sync_val_compare_and_swap(&slot->unannounced, mm, 0);
	return 0;
}

static __always_inline bool exec_ranges_are_known(const struct mm_slot *slot, __u32 mm)
{
	__u32 unannounced = *(volatile __u32 *)&slot->unannounced;

	barrier();
	return unannounced != mm && unannounced != ~0u;
}

/* All executable mappings of an adopted address space have been told: whoever waits for that need not wait any more. */
static __noinline int mappings_known(__u32 mm)
{
	struct mm_slot *slot = mm_slot_of(mm);

	if (slot)
		__sync_val_compare_and_swap(&slot->held, mm, 0);
	return exec_ranges_known(mm);
}

/*
 * Are the mappings of a task with TASK_HELD not known yet? Until then its calls are as those before the trace: a walk
 * would find nothing that is known, each thread would try for the lock of the mappings, and where others hold it most of
 * the time, each call would send a copy of its stack. Not for longer than hold_until.
 */
USC_SUBPROGRAM int is_held(struct task_entry *t)
{
	struct mm_slot *slot;

	if (!t)
		return 0;
	slot = mm_slot_of(t->mm);
	if (slot && *(volatile __u32 *)&slot->held == t->mm && now_ns() < hold_until)
		return 1;
	t->flags &= ~TASK_HELD;
	return 0;
}

/* A forked address space begins with its parent's mappings. Not 0: those are not known yet, so the copy's are to be gone
 * through, too. */
static __noinline int copy_exec_ranges(__u32 from, __u32 to)
{
	struct mm_slot *source = mm_slot_of(from), *target = mm_slot_of(to);

	if (!source || !target)
		return 0;
	if (!exec_ranges_are_known(source, from)) {
		exec_ranges_unknown(to);
		return 1;
	}
	raise_to(&target->low.below, source->low.below);
	raise_to(&target->low.end, source->low.end);
	raise_to(&target->high.below, source->high.below);
	raise_to(&target->high.end, source->high.end);
	return 0;
}

static __always_inline bool overlaps_exec_range(const struct exec_range *range, __u64 start, __u64 end)
{
	return start < range->end && end > ~range->below;
}

/* A call begins that may change executable mappings: `makes`: that may make something executable. */
static __noinline int mappings_begin(struct task_entry *t, int makes)
{
	struct mm_slot *slot;

	if (!t)
		return 0;
	slot = mm_slot_of(t->mm);
	if (!slot)
		return 0;
	t->flags |= TASK_MAPPING;
	if (makes) {
		t->flags |= TASK_MAKING;
		__sync_fetch_and_add(&slot->making, 1);
		__sync_fetch_and_add(&slot->made, 1);
	}
	__sync_fetch_and_add(&slot->changing, 1);
	__sync_fetch_and_add(&slot->generation, 1);
	return 0;
}

/* It has ended, or its task has. */
USC_SUBPROGRAM int mappings_end(struct task_entry *t)
{
	struct mm_slot *slot;

	if (!t)
		return 0;
	slot = mm_slot_of(t->mm);
	if (!slot)
		return 0;
	__sync_fetch_and_add(&slot->generation, 1);
	__sync_fetch_and_add(&slot->changing, -1);
	if (t->flags & TASK_MAKING) {
		__sync_fetch_and_add(&slot->made, 1);
		__sync_fetch_and_add(&slot->making, -1);
	}
	t->flags &= ~(TASK_MAPPING | TASK_MAKING);
	return 0;
}

/* What was executable where may have changed unseen: nothing cached so far holds. */
static __always_inline void mappings_expire(__u32 mm)
{
	struct mm_slot *slot = mm_slot_of(mm);

	if (slot) {
		__sync_fetch_and_add(&slot->made, 1);
		__sync_fetch_and_add(&slot->generation, 1);
	}
}

struct data_range {
	__u64 end;
	__u32 data;
};

static long on_range_vma(struct task_struct *task, struct vm_area_struct *vma, struct data_range *range)
{
	range->data = !(vma->vm_flags & VM_EXEC) && vma->vm_end >= range->end;
	return 0;
}

static __always_inline struct data_slot *data_slot_of(__u32 mm, __u64 start)
{
	__u32 number = (__u32)(start >> 12) * 0x9e3779b1u;

	number = (number >> 8 ^ mm) % DATA_SLOTS;
	return data_slot_at(number);
}

/* A mapping without PROT_EXEC was made by a call that began under this key. */
static __noinline int remember_data(__u32 mm, __u64 key, __u64 start, __u64 bytes)
{
	struct data_slot *slot = data_slot_of(mm, start);

	if (!slot || !key || key != data_key(mm))
		return 0;
	*(volatile __u64 *)&slot->key = 0;
	barrier();
	slot->start = start;
	slot->end = start + ((bytes + USC_PAGE_BYTES - 1) & ~(USC_PAGE_BYTES - 1));
	barrier();
	*(volatile __u64 *)&slot->key = key;
	return 0;
}

static __always_inline bool is_remembered_data(__u32 mm, __u64 start, __u64 end)
{
	struct data_slot *slot = data_slot_of(mm, start);
	__u64 key = data_key(mm);
	bool inside;

	if (!slot || !key || *(volatile __u64 *)&slot->key != key)
		return false;
	inside = slot->start == start && end <= slot->end;
	barrier();
	return inside && *(volatile __u64 *)&slot->key == key;
}

/* Is nothing executable in the range, for certain? */
USC_SUBPROGRAM int is_data_range(__u32 mm, __u64 start, __u64 bytes)
{
	struct data_range range = {.end = start + bytes};
	struct mm_slot *slot = mm_slot_of(mm);

	if (range.end < start || !slot)
		return 0;
	if (exec_ranges_are_known(slot, mm) && !overlaps_exec_range(&slot->low, start, range.end) &&
	    !overlaps_exec_range(&slot->high, start, range.end))
		return 1;
	bytes = (bytes + USC_PAGE_BYTES - 1) & ~(USC_PAGE_BYTES - 1);
	if (is_remembered_data(mm, start, start + bytes))
		return 1;
	with_vma(start, on_range_vma, &range);
	return range.data;
}

/* What is known of a file; 0 = it has given its slot back. */
static __always_inline struct usc_file_entry *entry_of_file(__u32 serial)
{
	struct usc_file_entry *entry = file_slot_at(usc_file_slot(serial));

	return entry && entry->serial == serial ? entry : 0;
}

struct slot_search {
	__u32 serial;
};

static long try_slot(__u32 i, struct slot_search *search)
{
	__u32 number = next_serial(SERIAL(file));
	struct usc_file_entry *entry = file_slot_at(usc_file_slot(number));

	search->serial = entry ? usc_file_take_slot(entry, number) : 0;
	return search->serial != 0;
}

/* A serial for a file that is met, 0 = no slot was found free. */
static __always_inline __u32 take_file_serial(void)
{
	struct slot_search search = {};

	usc_loop(USC_FILE_TRIES, try_slot, &search);
	return search.serial;
}

/* The serial will not be used: nothing knows it. */
static __always_inline void give_back_file_serial(__u32 serial)
{
	struct usc_file_entry *entry = entry_of_file(serial);

	if (entry)
		entry->serial = 0;
}

/* A mapped file, and the task that has mapped it. */
struct met_file {
	struct task_struct *task;
	struct file *file;
};

/* Tells the collector of a file met for the first time. */
static __always_inline int send_file(const struct met_file *met, const struct found *found, __u32 serial,
				     const struct usc_file_key *key)
{
	struct task_struct *task = met->task;
	struct file *file = met->file;
	__u32 cpu_number = current_cpu();
	struct text_scratch *text = text_at(cpu_number);
	__u32 bytes;
	int error;

	if (!text)
		return -1;
	__builtin_memset(&text->file, 0, sizeof(text->file));
	text->file.file = serial;
	text->file.pid = TASK_FIELD(task, tgid);
	text->file.key = *key;
	text->file.start = found->start;
	text->file.end = found->end;
	text->file.offset = found->offset;
	text->file.links = file_links(file);
	text->file.leased = has_lease(file);
	bytes = path_components(task, file, text); /* last: 6.1's BPF has 512 bytes of stack for all calls */
	text->file.path_bytes = bytes;
	bytes = (bytes + 7) & ~7u;
	if (bytes > USC_PATH_BYTES + NAME_BYTES)
		return -1;
	error = send_record(&text->file.head, USC_RECORD_FILE, sizeof(text->file) + bytes, found->serial, now_ns(),
			    true);
	if (error)
		count_loss(cpu_state_of(cpu_number), USC_LOSS_RING_FULL_RECORD, 0);
	return error;
}

/* The serial of a file, 0 = none to be had now. A function of its own for the verifier, which goes through it once. */
USC_SUBPROGRAM __u32 serial_of_met(const struct met_file *met, const struct found *found)
{
	struct usc_file_key key;
	struct file *file;
	__u32 known, serial;

	if (!met || !found)
		return 0;
	file = met->file;
	/*
	 * What run-time compilers write to all the time stays one file: the collector has entered it under that key. Any
	 * other memory is another file as soon as something else has been written there.
	 */
	if (read_memory_key(file, &key)) {
		known = known_file(&key);
		if (known)
			return known;
	}
	read_file_key(file, &key);
	known = known_file(&key);
	if (known || !may_meet_files())
		return known;
	serial = take_file_serial();
	if (!serial || enter_file(&key, serial)) {
		if (serial)
			give_back_file_serial(serial);
		known = known_file(&key);
		if (known)
			return known;
		count_loss(cpu_state_of(current_cpu()), USC_LOSS_FILE_MAP_FULL, 0);
		return 0;
	}
	if (send_file(met, found, serial, &key)) {
		drop_file(&key);
		give_back_file_serial(serial);
		return 0;
	}
	return serial;
}

/* The serial of a mapped file, 0 = none to be had now. */
static __always_inline __u32 file_serial(struct task_struct *task, struct file *file, const struct found *found)
{
	struct met_file met = {.task = task, .file = file};

	return serial_of_met(&met, found);
}

/*
 * Where the kernel's valid_vma() (kernel/events/uprobes.c) is false, a probed file has no breakpoints. They are put in when a mapping is
 * made (uprobe_mmap()), and not when it ceases to be writable.
 */
#define WITHOUT_BREAKPOINTS (VM_MAYSHARE | VM_WRITE)

static __noinline int send_blind_mapping(struct found *found, __u64 time)
{
	struct usc_blind_map record = {};

	if (!found)
		return -1;
	record.mm = found->mm;
	record.file = found->file;
	record.start = found->start;
	record.end = found->end;
	record.offset = found->offset;
	if (send_record(&record.head, USC_RECORD_BLIND_MAP, sizeof(record), found->serial, time, false))
		count_loss(cpu_state_of(current_cpu()), USC_LOSS_RING_FULL_RECORD, 0);
	return 0;
}

static long on_vma(struct task_struct *task, struct vm_area_struct *vma, struct found *found)
{
	struct file *file = vma->vm_file;

	found->start = vma->vm_start;
	found->end = vma->vm_end;
	found->offset = vma->vm_pgoff * USC_PAGE_BYTES;
	if (!(vma->vm_flags & VM_EXEC))
		return 0;
	if (file) {
		found->file = file_serial(task, file, found);
		found->status = found->file ? FOUND : FOUND_LOST;
		if (has_probes_in_files() && vma->vm_flags & WITHOUT_BREAKPOINTS && found->file)
			send_blind_mapping(found, now_ns());
	} else {
		found->file = (__u64)MM_FIELD(task, context.vdso) == found->start ? USC_FILE_VDSO : USC_FILE_NONE;
		found->offset = 0;
		found->status = FOUND;
	}
	return 0;
}

/* Announces a mapping to the collector, unless it was announced before. `again`: in any case, since it is new. */
static __noinline int send_mapping(struct found *found, __u32 again)
{
	struct announced_key key = {};
	struct usc_map record = {};

	if (!found)
		return -1;
	key.mm = found->mm;
	key.file = found->file;
	key.start = found->start;
	key.generation = mappings_name(found->mm);
	if (!again && was_announced(&key))
		return 0;
	record.mm = found->mm;
	record.file = found->file;
	record.start = found->start;
	record.end = found->end;
	record.offset = found->offset;
	if (send_record(&record.head, USC_RECORD_MAP, sizeof(record), found->serial, now_ns(), false)) {
		count_loss(cpu_state_of(current_cpu()), USC_LOSS_RING_FULL_RECORD, 0);
		return -1;
	}
	remember_announced(&key);
	return 0;
}

static __always_inline __u32 mapping_hash(__u64 key, __u64 address)
{
	return spread(key ^ address >> MAPPING_GRAIN_BITS);
}

#define SLOT_TAKEN (~0ull) /* mapping_slot.key of a shared slot that one processor is writing */

/* Writes what was found into a slot whose key does not hold meanwhile, and then the key under which it holds. */
static __always_inline void fill_mapping_slot(struct mapping_slot *slot, const struct found *found, __u64 key)
{
	barrier();
	slot->start = found->start;
	slot->end = found->end;
	slot->offset = found->offset;
	slot->file = found->file;
	barrier();
	*(volatile __u64 *)&slot->key = key;
}

/* Shares what is known of a mapping with the other processors, for the code around an address. */
static __always_inline void share_mapping(const struct found *found, __u64 key, __u64 address)
{
	struct mapping_slot *slot = shared_mapping_at(mapping_hash(key, address) % SHARED_MAPPING_SLOTS);
	__u64 old;

	if (!slot || !key)
		return;
	old = *(volatile __u64 *)&slot->key;
	if (old == key || old == SLOT_TAKEN || __sync_val_compare_and_swap(&slot->key, old, SLOT_TAKEN) != old)
		return;
	(*(volatile __u64 *)&slot->turn)++;
	fill_mapping_slot(slot, found, key);
}

/* What has been shared of the mapping that holds found->address. */
static __always_inline bool find_shared_mapping(struct found *found, __u64 key)
{
	struct mapping_slot *slot = shared_mapping_at(mapping_hash(key, found->address) % SHARED_MAPPING_SLOTS);
	__u64 turn;

	if (!slot || !key)
		return false;
	turn = *(volatile __u64 *)&slot->turn;
	barrier();
	if (*(volatile __u64 *)&slot->key != key)
		return false;
	barrier();
	found->start = slot->start;
	found->end = slot->end;
	found->offset = slot->offset;
	found->file = slot->file;
	barrier();
	return *(volatile __u64 *)&slot->key == key && *(volatile __u64 *)&slot->turn == turn &&
	       found->address >= found->start && found->address < found->end;
}

struct share_context {
	const struct found *found;
	__u64 key;
};

static long share_grain(__u32 i, struct share_context *context)
{
	__u64 address = context->found->start + ((__u64)i << MAPPING_GRAIN_BITS);

	if (i && address >> MAPPING_GRAIN_BITS > (context->found->end - 1) >> MAPPING_GRAIN_BITS)
		return 1;
	share_mapping(context->found, context->key, address);
	return 0;
}

/* One that was there before the trace. The caller keeps it from changing. */
static __always_inline void adopt_mapping(struct task_struct *task, struct task_entry *t, struct vm_area_struct *vma)
{
	struct found found = {.mm = t->mm, .serial = t->serial};
	struct share_context context = {.found = &found, .key = mapping_key(t->mm)};

	if (!is_mapping_of(t, vma))
		return;
	widen_exec_range(t->mm, vma->vm_start, vma->vm_end - vma->vm_start);
	on_vma(task, vma, &found);
	if (found.status != FOUND || send_mapping(&found, 0))
		return;
	usc_loop(MAPPING_GRAINS, share_grain, &context);
}

/* Looks the executable mapping at found->address up in the current task's VMAs. */
static __always_inline void find_mapping(struct found *found)
{
	struct cpu_state *cpu = cpu_state_of(current_cpu());
	long error;

	found->status = FOUND_NONE;
	if (cpu)
		cpu->stats.mapping_lookups++;
	error = with_vma(found->address, on_vma, found);
	if (error == RESULT_EBUSY)
		found->status = FOUND_BUSY;
}

static long on_vma_before(struct task_struct *task, struct vm_area_struct *vma, __u32 *blind)
{
	*blind = vma->vm_file && vma->vm_flags & WITHOUT_BREAKPOINTS;
	return 0;
}

/* Is what is mapped at an address from a file, and without breakpoints? */
static __noinline bool is_blind_now(__u64 address)
{
	__u32 blind = 0;

	with_vma(address, on_vma_before, &blind);
	return blind;
}

/* Tells of a mapping that has become executable, in which there were no breakpoints at `time`. */
USC_SUBPROGRAM int announce_blind(__u64 address, __u32 mm, __u32 serial, __u64 time)
{
	struct found found = {.address = address, .mm = mm, .serial = serial};

	find_mapping(&found);
	if (found.status == FOUND && found.file >= USC_FILE_FIRST)
		send_blind_mapping(&found, time);
	return 0;
}

/* Tells of the executable mapping at an address, if there is one. For the verifier, which goes through it once, not for
 * each caller. */
USC_SUBPROGRAM int announce_mapping(__u64 address, __u32 mm, __u32 serial)
{
	struct found found = {.address = address, .mm = mm, .serial = serial};

	find_mapping(&found);
	if (found.status == FOUND)
		send_mapping(&found, 1);
	return found.status == FOUND_BUSY || found.status == FOUND_LOST;
}

#endif
