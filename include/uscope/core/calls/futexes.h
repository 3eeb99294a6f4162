/* SPDX-License-Identifier: GPL-2.0-or-later OR MIT */
/*
 * Futex calls: what a wait waits for, with the memory around its address, in which glibc's locks say who holds them,
 * and a key that is the same in all processes that share it. Of wakes only those that may be of shared memory: of
 * the others the event says all.
 */
#ifndef USCOPE_CORE_FUTEXES_H
#define USCOPE_CORE_FUTEXES_H

#include "uscope/core/port.h"
#include "uscope/futex.h"

#define VM_SHARED_MAPPING 0x8ul

/* A timeout as the program passed it. */
static __always_inline __u64 read_timeout(__u64 from, bool is_narrow)
{
	__u64 time[2] = {};

	if (!from || read_user(time, is_narrow ? 8 : 16, (const void *)from))
		return USC_FUTEX_NO_TIMEOUT;
	if (is_narrow) {
		time[1] = time[0] >> 32;
		time[0] = (__u32)time[0];
	}
	return time[0] * 1000000000 + time[1];
}

/* A time of the host's CLOCK_MONOTONIC, where the program passed one of its time namespace's. */
static __always_inline void leave_time_namespace(struct usc_futex *futex)
{
	__u32 command = usc_futex_command(futex->op);
	__s64 offset;

	if (futex->timeout == USC_FUTEX_NO_TIMEOUT || !(futex->flags & USC_FUTEX_ABSOLUTE) ||
	    futex->op & USC_FUTEX_OP_REALTIME || command == USC_FUTEX_OP_LOCK_PI)
		return;
	offset = time_offset(this_task());
	futex->timeout = offset > 0 && futex->timeout < (__u64)offset ? 0 : futex->timeout - offset;
}

/* The memory around the address; where not all is there, what its page has. */
static __always_inline void read_futex_words(struct string_scratch *room)
{
	struct usc_futex *futex = &room->futex;
	__u64 from = futex->address - USC_FUTEX_BEFORE;
	__u64 bytes = USC_FUTEX_WORDS;

	if (read_user(room->words, USC_FUTEX_WORDS, (const void *)from)) {
		bytes = usc_futex_words_in_page(futex->address, &from);
		/* For the verifier: from here on the bounds are those of this register. */
		__asm__ volatile("" : "+r"(bytes));
		if (!bytes || bytes > USC_FUTEX_WORDS || read_user(room->words, bytes, (const void *)from))
			bytes = 0;
	}
	futex->words_from = from;
	futex->bytes = bytes;
}

struct futex_place {
	__u64 address;
	__u64 dev;
	__u64 ino;
	__u64 offset;
	__u32 key; /* enum usc_futex_key */
	__u32 pad;
};

static long on_futex_vma(struct task_struct *task, struct vm_area_struct *vma, struct futex_place *place)
{
	struct file *file = vma->vm_file;
	struct usc_file_key key = {};

	place->key = USC_FUTEX_PRIVATE;
	if (!file || !(vma->vm_flags & VM_SHARED_MAPPING))
		return 0;
	read_file_key(file, &key);
	place->key = USC_FUTEX_SHARED;
	place->dev = key.dev;
	place->ino = key.ino;
	place->offset = place->address - vma->vm_start + vma->vm_pgoff * USC_PAGE_BYTES;
	return 0;
}

/* For the verifier, which goes through it once. */
USC_SUBPROGRAM int find_futex_key(struct string_scratch *room)
{
	struct futex_place place = {};

	if (!room)
		return 0;
	place.address = room->futex.address;
	with_vma(place.address, on_futex_vma, &place);
	room->futex.key = place.key;
	room->futex.dev = place.dev;
	room->futex.ino = place.ino;
	room->futex.offset = place.offset;
	return 0;
}

/* 0: there is nothing to tell. */
static __always_inline int describe_futex(struct usc_futex *futex, struct task_entry *t)
{
	struct usc_futex_call call = {};
	struct usc_futex_waiter first = {};
	bool is_wake;

	if (!usc_futex_describe(&call, t->abi, t->nr, t->args))
		return 0;
	is_wake = call.flags & USC_FUTEX_WAKE;
	if (is_wake && (call.op & USC_FUTEX_OP_PRIVATE || usc_futex_command(call.op) == USC_FUTEX_OP_TRYLOCK_PI))
		return 0;
	if (t->nr == USC_FUTEX_WAITV) {
		if (read_user(&first, sizeof(first), (const void *)call.address))
			return 0;
		usc_futex_take_first(&call, &first);
	}
	futex->address = call.address;
	futex->timeout = read_timeout(call.timeout_at, call.narrow_timeout);
	futex->op = call.op;
	futex->expected = call.expected;
	futex->futexes = call.futexes;
	futex->flags = call.flags;
	leave_time_namespace(futex);
	return 1;
}

USC_SUBPROGRAM int take_futex(struct task_entry *t)
{
	__u32 cpu_number = current_cpu();
	struct cpu_state *cpu = cpu_state_of(cpu_number);
	struct string_scratch *room = string_at(cpu_number);
	struct usc_futex *futex;
	__u64 bytes;

	if (!t)
		return 0;
	if (!cpu || !room) {
		count_loss(cpu, USC_LOSS_SCRATCH_BUSY_STRING, t->process);
		return 0;
	}
	futex = &room->futex;
	__builtin_memset(futex, 0, sizeof(*futex));
	if (!describe_futex(futex, t))
		return 0;
	futex->entry_ns = t->entry_ns;
	futex->mm = t->mm;
	futex->untraced_sharers = USC_FUTEX_SHARERS_UNKNOWN;
	if (!(futex->flags & USC_FUTEX_WAKE))
		read_futex_words(room);
	if (futex->op & USC_FUTEX_OP_PRIVATE)
		futex->key = USC_FUTEX_PRIVATE;
	else
		find_futex_key(room);
	bytes = futex->bytes;
	if (bytes > USC_FUTEX_WORDS)
		return 0;
	if (send_record(&futex->head, USC_RECORD_FUTEX, sizeof(*futex) + bytes, t->call_serial, t->entry_ns, false))
		count_loss(cpu, USC_LOSS_RING_FULL_STRING, t->process);
	return 0;
}

#endif
