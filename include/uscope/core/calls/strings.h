/* SPDX-License-Identifier: GPL-2.0-or-later OR MIT */
/*
 * What a call's arguments point to: paths, names, socket addresses. What the program passes is read at entry, so that a
 * call that hangs shows it; where that is not in memory (nothing here may fault), at return, marked late. What the
 * kernel writes is read at return. Which argument points to what is the configuration's: a call without strings pays
 * one look at it.
 */
#ifndef USCOPE_CORE_STRINGS_H
#define USCOPE_CORE_STRINGS_H

#include "uscope/core/calls/futexes.h"
#include "uscope/core/numbers.h"

#define STRING_KIND_BITS 4
#define STRING_ARGS 6
#define ADDRESS_BYTES 128 /* sizeof(struct sockaddr_storage): the kernel takes no more */

/* Of a call: a kind for each argument, 0 = no strings. */
static __always_inline __u32 string_kinds(const struct task_entry *t)
{
	__u32 nr = t->nr;

	if (nr >= USC_SYSCALL_BITS)
		return 0;
	if (t->abi == USC_ABI_I386)
		return config.strings_i386[nr % USC_SYSCALL_BITS];
	return config.strings_x86_64[nr % USC_SYSCALL_BITS];
}

static __always_inline __u64 most_string_bytes(void)
{
	__u64 most = config.string_bytes;

	return most > USC_STRING_MOST ? USC_STRING_MOST : most;
}

/* A text, up to its NUL. Two bytes more than are taken say whether it is longer. Its length, or -1. */
static __always_inline long read_text(struct string_scratch *room, __u64 from)
{
	__u64 most = most_string_bytes();
	long got = read_user_text(room->text, most + 2, (const void *)from);

	if (got < 0)
		return -1;
	if (got)
		got--;
	if (got > most) {
		room->string.flags |= USC_STRING_TRUNCATED;
		got = most;
	}
	return got;
}

/* Where other strings lie. */
struct string_place {
	__u64 from;
	__u64 bytes; /* 0: there is no string */
};

/* Of an address whose length is passed by its address. */
static __always_inline void find_address_out(struct string_place *place, __u64 from, __u64 length_at)
{
	__u32 bytes = 0;

	if (!from || read_user(&bytes, sizeof(bytes), (const void *)length_at))
		return;
	place->from = from;
	place->bytes = bytes > ADDRESS_BYTES ? ADDRESS_BYTES : bytes;
}

/* struct msghdr begins with msg_name and msg_namelen. */
static __always_inline int find_message(struct string_place *place, __u32 abi, __u64 from)
{
	__u64 head[2] = {};

	if (read_user(head, abi == USC_ABI_I386 ? 8 : 16, (const void *)from))
		return -1;
	if (abi == USC_ABI_I386) {
		head[1] = head[0] >> 32;
		head[0] = (__u32)head[0];
	}
	place->from = head[0];
	place->bytes = head[0] ? (__u32)head[1] : 0;
	return 0;
}

/* Not 0: it could not be read. */
static __always_inline int find_string(struct string_place *place, struct task_entry *t, __u32 arg, __u32 kind,
				       __s64 result)
{
	__u64 next = arg < STRING_ARGS - 1 ? t->args[arg + 1] : 0;

	place->from = t->args[arg];
	place->bytes = 0;
	switch (kind) {
	case USC_STRING_ADDRESS:
		place->bytes = (__u32)next;
		break;
	case USC_STRING_ADDRESS_OUT:
		find_address_out(place, place->from, next);
		break;
	case USC_STRING_MESSAGE:
	case USC_STRING_MESSAGE_OUT:
		return find_message(place, t->abi, place->from);
	case USC_STRING_RESULT:
		place->bytes = result;
		break;
	case USC_STRING_WORDS:
		place->bytes = 24;
		break;
	case USC_STRING_PAIR:
		place->bytes = 8;
		break;
	default:
		break;
	}
	return 0;
}

/* Of an address that is too long nothing is taken: no kernel takes it. */
static __always_inline __u64 most_of(__u32 kind, __u64 bytes)
{
	if (kind == USC_STRING_RESULT)
		return most_string_bytes();
	return bytes > ADDRESS_BYTES ? 0 : ADDRESS_BYTES;
}

/* Bytes read into the room; 0: there is no string; -1: it could not be read. */
static __always_inline long read_string(struct string_scratch *room, struct task_entry *t, __u32 arg, __u32 kind,
					__s64 result)
{
	struct string_place place = {};
	__u64 bytes, most;

	if (kind == USC_STRING_TEXT || kind == USC_STRING_EXEC)
		return read_text(room, t->args[arg]);
	if (find_string(&place, t, arg, kind, result))
		return -1;
	bytes = place.bytes;
	most = most_of(kind, bytes);
	if (bytes > most) {
		room->string.flags |= USC_STRING_TRUNCATED;
		bytes = most;
	}
	/* For the verifier: from here on the bounds are those of this register. */
	__asm__ volatile("" : "+r"(bytes));
	if (!bytes || bytes > USC_STRING_MOST)
		return 0;
	return read_user(room->text, bytes, (const void *)place.from) ? -1 : bytes;
}

/* Reads and sends one string. Not 0: it could not be read. A function of its own for the verifier, which goes through
 * it once. */
USC_SUBPROGRAM int take_string(struct task_entry *t, __u32 arg, __u32 kind, __u32 flags, __s64 result)
{
	__u32 cpu_number = current_cpu();
	struct cpu_state *cpu = cpu_state_of(cpu_number);
	struct string_scratch *room = string_at(cpu_number);
	__u64 bytes, last;
	long got;

	if (!t || arg >= STRING_ARGS)
		return 0;
	if (!cpu || !room) {
		count_loss(cpu, USC_LOSS_SCRATCH_BUSY_STRING, t->process);
		return 0;
	}
	room->string.flags = flags;
	got = read_string(room, t, arg, kind, result);
	if (got <= 0 && !(got == 0 && kind == USC_STRING_TEXT))
		return got < 0;
	bytes = got;
	if (bytes > USC_STRING_MOST)
		return 0;
	/* What lies behind it in its last word is another string's. */
	last = bytes & ~7ull;
	*(__u64 *)(room->text + last) &= (1ull << bytes % 8 * 8) - 1;
	room->string.entry_ns = t->entry_ns;
	room->string.bytes = bytes;
	room->string.arg = arg;
	room->string.kind = kind;
	room->string.pad = 0;
	bytes = (bytes + 7) & ~7ull;
	if (send_record(&room->string.head, USC_RECORD_STRING, sizeof(room->string) + bytes, t->call_serial, now_ns(),
			false))
		count_loss(cpu, USC_LOSS_RING_FULL_STRING, t->process);
	return 0;
}

static __noinline int take_strings_at_entry(struct task_entry *t, __u32 kinds)
{
	__u32 arg, kind, left = 0;

	if (!t)
		return 0;
	for (arg = 0; arg < STRING_ARGS; arg++) {
		kind = kinds >> arg * STRING_KIND_BITS & 15;
		if (!kind || !t->args[arg])
			continue;
		if (!usc_string_is_read_at_entry(kind) || take_string(t, arg, kind, 0, 0))
			left |= 1u << arg;
	}
	t->strings_left = left;
	return 0;
}

static __always_inline void strings_at_entry(struct task_entry *t)
{
	__u32 kinds = string_kinds(t);

	if (kinds == USC_STRING_FUTEX)
		take_futex(t);
	else if (kinds)
		take_strings_at_entry(t, kinds);
}

/* What the kernel writes is there where the call did not fail; an exec that did has its path still. */
static __noinline int take_strings_at_return(struct task_entry *t, __s64 result)
{
	__u32 arg, kind, kinds, left;

	if (!t)
		return 0;
	kinds = string_kinds(t);
	left = t->strings_left;
	t->strings_left = 0;
	for (arg = 0; arg < STRING_ARGS; arg++) {
		kind = kinds >> arg * STRING_KIND_BITS & 15;
		if (!(left >> arg & 1) || !kind || kind == USC_STRING_FUTEX || !t->args[arg])
			continue;
		if (usc_string_is_read_at_entry(kind))
			take_string(t, arg, kind, USC_STRING_LATE, 0);
		else if (kind == USC_STRING_EXEC ? result < 0 : result >= 0)
			take_string(t, arg, kind, 0, result);
	}
	return 0;
}

static __always_inline void strings_at_return(struct task_entry *t, __s64 result)
{
	if (t->strings_left)
		take_strings_at_return(t, result);
}

/* Of a call whose entry was not seen: all at its return. */
static __always_inline void leave_strings(struct task_entry *t)
{
	t->strings_left = string_kinds(t) ? (1u << STRING_ARGS) - 1 : 0;
}

#endif
