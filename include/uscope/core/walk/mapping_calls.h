/* SPDX-License-Identifier: GPL-2.0-or-later OR MIT */
/* Calls that change where executable mappings lie, and what is known after them. */
#ifndef USCOPE_CORE_MAPPING_CALLS_H
#define USCOPE_CORE_MAPPING_CALLS_H

#include "uscope/core/walk/mappings.h"
#include "uscope/core/numbers.h"

#define REMAP_FIXED 2 /* MREMAP_FIXED */

/* Does a mapping with this protection become executable? */
static __always_inline bool makes_executable(__u64 protection)
{
	struct task_struct *task = this_task();

	return protection & PROT_EXEC || (protection & PROT_READ && task->personality & READ_IMPLIES_EXEC);
}

/* What a call may do to executable mappings. */
enum mapping_change {
	CHANGES_NOTHING,
	CHANGES_REMOVE, /* take some away, or put data in their place */
	CHANGES_MAKE,	/* make some, or move them */
};

USC_SUBPROGRAM int change_by_call(struct task_entry *t)
{
	if (!t)
		return CHANGES_NOTHING;
	if (t->abi == USC_ABI_COMPAT)
		return USC_IS_COMPAT_MAPPING_CALL(t->nr) ? CHANGES_MAKE : CHANGES_NOTHING;
	switch (t->nr) {
	case NR_mmap:
		if (makes_executable(t->args[2]))
			return CHANGES_MAKE;
		return t->args[3] & MAP_FIXED && !is_data_range(t->mm, t->args[0], t->args[1]) ? CHANGES_REMOVE
											       : CHANGES_NOTHING;
	case NR_munmap:
		return is_data_range(t->mm, t->args[0], t->args[1]) ? CHANGES_NOTHING : CHANGES_REMOVE;
	case NR_mremap: /* of no bytes: another mapping of the same memory */
		return t->args[3] & REMAP_FIXED || !t->args[1] || !is_data_range(t->mm, t->args[0], t->args[1])
			       ? CHANGES_MAKE
			       : CHANGES_NOTHING;
	case NR_mprotect:
	case NR_pkey_mprotect:
		return makes_executable(t->args[2]) ? CHANGES_MAKE : CHANGES_NOTHING;
	case NR_shmat:
	case NR_shmdt:
	case NR_remap_file_pages:
		return CHANGES_MAKE;
	case NR_arch_prctl:
		return USC_MAPS_VDSO(t->args[0]) ? CHANGES_MAKE : CHANGES_NOTHING;
	default:
		return CHANGES_NOTHING;
	}
}

static __always_inline bool may_change_mappings(__u32 nr)
{
	return nr == NR_mmap || nr == NR_munmap || nr == NR_mprotect || nr == NR_mremap || nr == NR_shmat ||
	       nr == NR_shmdt || nr == NR_remap_file_pages || nr == NR_pkey_mprotect || nr == NR_arch_prctl;
}

static __always_inline bool changes_protection(__u32 nr)
{
	return nr == NR_mprotect || nr == NR_pkey_mprotect;
}

/* A call begins that is one of those above. */
static __noinline int mapping_call_begins(struct task_entry *t)
{
	int change;

	if (!t)
		return 0;
	change = change_by_call(t);
	t->flags &= ~TASK_MAKES_BLIND;
	if (change != CHANGES_NOTHING) {
		if (has_probes_in_files() && t->abi == USC_ABI_NATIVE && changes_protection(t->nr) &&
		    is_blind_now(t->args[0]))
			t->flags |= TASK_MAKES_BLIND;
		t->mapping_nr = t->abi == USC_ABI_COMPAT ? MAPPING_COMPAT : t->nr;
		t->mapping_ns = now_ns();
		mappings_begin(t, change == CHANGES_MAKE);
	} else if (t->abi == USC_ABI_NATIVE && (t->nr == NR_mmap || t->nr == NR_mremap)) {
		t->data_key = data_key(t->mm);
		t->flags |= TASK_MAPS_DATA;
	}
	return 0;
}

static __always_inline void announce_unmap(struct task_entry *t, __u64 start, __u64 bytes, __u64 now)
{
	struct usc_unmap record = {.mm = t->mm, .start = start, .end = start + bytes};

	if (send_record(&record.head, USC_RECORD_UNMAP, sizeof(record), t->serial, now, false))
		count_loss(cpu_state_of(current_cpu()), USC_LOSS_RING_FULL_RECORD, t->process);
}

/* Announces a mapping now or, where mappings are locked, at the task's next call. One can wait; a second one is asked
 * for by the collector if a walk meets it. */
static __always_inline void announce_later(struct task_entry *t, __u64 address)
{
	if (!announce_mapping(address, t->mm, t->serial)) {
		if (t->unannounced == address)
			t->unannounced = 0;
	} else if (!t->unannounced) {
		t->unannounced = address;
	}
}

/* After a call that may have changed mappings: what is executable where now. */
static __noinline int mappings_changed(struct task_entry *t, __s64 result)
{
	if (!t || (result < 0 && result > -4096))
		return 0;
	switch (t->mapping_nr) {
	case NR_mmap:
		if (t->args[3] & MAP_FIXED)
			announce_unmap(t, result, t->args[1], t->mapping_ns);
		if (makes_executable(t->args[2])) {
			widen_exec_range(t->mm, result, t->args[1]);
			announce_later(t, result);
		}
		break;
	case NR_munmap:
		announce_unmap(t, t->args[0], t->args[1], t->mapping_ns);
		break;
	case NR_mprotect:
	case NR_pkey_mprotect:
		widen_exec_range(t->mm, t->args[0], t->args[1]);
		if (t->flags & TASK_MAKES_BLIND)
			announce_blind(t->args[0], t->mm, t->serial, t->mapping_ns);
		announce_later(t, t->args[0]);
		break;
	case NR_mremap:
		announce_unmap(t, t->args[0], t->args[1], t->mapping_ns);
		widen_exec_range(t->mm, result, t->args[2]);
		announce_later(t, result);
		break;
	case NR_shmat:
		widen_exec_range(t->mm, result, 1ull << 46); /* its size is not known here */
		announce_later(t, result);
		break;
	case NR_arch_prctl:
	case MAPPING_COMPAT:
		widen_exec_range(t->mm, 0, ~0ull);
		break;
	default:
		break;
	}
	return 0;
}

/* The return of a call with TASK_MAPPING or TASK_MAPS_DATA. */
static __noinline int mapping_call_returns(struct task_entry *t, __s64 result)
{
	if (!t)
		return 0;
	if (t->flags & TASK_MAPPING) {
		mappings_changed(t, result);
		mappings_end(t);
	} else if (result > 0) {
		remember_data(t->mm, t->data_key, result, t->nr == NR_mmap ? t->args[1] : t->args[2]);
	}
	t->flags &= ~TASK_MAPS_DATA;
	return 0;
}

/*
 * A call begins of a task whose last one has not been seen to return: the hook at entries is there before the one at
 * returns. Without this, two mapping calls in turn would count twice as under way and once as ended, so that nothing of
 * the address space could ever be cached. What such a call made executable, and where, is not known.
 */
USC_SUBPROGRAM int mapping_call_unseen(struct task_entry *t)
{
	if (!t)
		return 0;
	if (t->flags & TASK_MAKING)
		widen_exec_range(t->mm, 0, ~0ull);
	if (t->flags & TASK_MAPPING)
		mappings_end(t);
	t->flags &= ~TASK_MAPS_DATA;
	return 0;
}

/*
 * A call that was under way when its task was adopted: where it made something executable, and when, is not known. Other
 * threads, and processes that share the memory, may have been adopted before. Of mremap, what lies at the old address now
 * says nothing.
 */
USC_SUBPROGRAM int attached_mapping_call(struct task_entry *t)
{
	int change;

	if (!t)
		return 0;
	change = t->abi != USC_ABI_COMPAT && t->nr == NR_mremap ? CHANGES_MAKE : change_by_call(t);
	if (change == CHANGES_NOTHING)
		return 0;
	mappings_expire(t->mm);
	return change == CHANGES_MAKE ? widen_exec_range(t->mm, 0, ~0ull) : 0;
}

#endif
