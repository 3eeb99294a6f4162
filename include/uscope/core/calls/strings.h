/* SPDX-License-Identifier: GPL-2.0-or-later OR MIT */
/*
 * What a call's arguments point to: paths, names, socket addresses; and on demand contents: data, and structures. What
 * the program passes is read at entry, so that a call that hangs shows it; where that is not in memory (nothing here may
 * fault), at return, marked late. What the kernel writes is read at return. Which argument points to what is the
 * configuration's: a call without strings pays one look at it.
 */
#ifndef USCOPE_CORE_STRINGS_H
#define USCOPE_CORE_STRINGS_H

#include "uscope/descriptor_calls.h"
#include "uscope/core/calls/futexes.h"
#include "uscope/core/calls/read_strings.h"

#define EPOLL_DEL 2 /* EPOLL_CTL_DEL: the event has no meaning */
#define SET_NAME 15 /* PR_SET_NAME */
#define ARCH_GET_FS 0x1003
#define ARCH_GET_GS 0x1004
#define ARCH_GET_XCOMP_SUPP 0x1021
#define ARCH_GET_XCOMP_PERM 0x1022
#define ARCH_GET_XCOMP_GUEST_PERM 0x1024

/* Does a string of no bytes say something? `next`: the call's next argument. */
static __always_inline bool may_be_empty(__u32 kind, __u64 next)
{
	if (kind == USC_STRING_POLL)
		return !(__u32)next;
	return kind == USC_STRING_TEXT || kind == USC_STRING_DATA || kind == USC_STRING_DATA_OUT ||
	       kind == USC_STRING_EPOLL_OUT || (kind >= USC_STRING_ARRAY && kind <= USC_STRING_NODES_OUT);
}

static __always_inline bool is_fcntl(const struct task_entry *t)
{
	return t->abi == USC_ABI_COMPAT ? t->nr == COMPAT_fcntl || t->nr == COMPAT_fcntl64 : t->nr == NR_fcntl;
}

static __always_inline bool is_ioctl(const struct task_entry *t)
{
	return t->abi != USC_ABI_COMPAT && t->nr == NR_ioctl;
}

static __always_inline bool is_select(const struct task_entry *t)
{
	if (t->abi == USC_ABI_COMPAT)
		return false; /* its sets have words of 32 bits */
	return t->nr == NR_select || t->nr == NR_pselect6;
}

#define MOST_SELECTED 1024

/* Of a structure whose size the kernel knows: by the configuration, of some calls by another argument. */
static __always_inline __u32 fixed_bytes(const struct task_entry *t, __u32 arg)
{
	__u32 count = t->args[0];

	if (is_select(t))
		return count <= MOST_SELECTED ? (count + WORD_BITS - 1) / WORD_BITS * (WORD_BITS / 8) : 0;
	if (is_fcntl(t))
		return t->abi == USC_ABI_COMPAT && usc_fcntl_takes_lock(t->args[1]) ? 0
										    : usc_fcntl_structure(t->args[1]);
	if (is_ioctl(t))
		return usc_ioctl_bytes(t->args[1]);
	return usc_structure_bytes(structure_word(t->abi, t->nr), arg);
}

/* Reads and sends one string. Not 0: it could not be read. A function of its own for the verifier, which goes through
 * it once. */
USC_SUBPROGRAM int take_string(struct task_entry *t, __u32 arg, __u32 kind, __u32 flags, __s64 result)
{
	__u32 cpu_number = current_cpu();
	struct cpu_state *cpu = cpu_state_of(cpu_number);
	struct string_scratch *room = string_at(cpu_number);
	struct string_place place = {};
	__u64 bytes, last;
	__u32 before;
	long got;

	if (!t || arg >= USC_STRING_ARGS)
		return 0;
	place.from = t->args[arg];
	if (arg < USC_STRING_ARGS - 1)
		place.next = t->args[arg + 1];
	/* For the verifier of Linux 6.1, which does not know that 1 can be taken off. */
	before = arg - 1;
	__asm__ volatile("" : "+r"(before));
	if (before < USC_STRING_ARGS)
		place.before = t->args[before];
	if (!cpu || !room) {
		count_loss(cpu, USC_LOSS_SCRATCH_BUSY_STRING, t->process);
		return 0;
	}
	place.fixed = through_memory(room, kind == USC_STRING_LENGTH ? t->address_room : fixed_bytes(t, arg));
	room->string.flags = flags;
	got = read_string(room, &place, t->abi, kind, result);
	if (got <= 0 && !(got == 0 && may_be_empty(kind, place.next)))
		return got < 0;
	bytes = got;
	if (bytes > STRING_BYTES_MOST)
		return 0;
	/* What lies behind it in its last word is another string's. */
	last = bytes & ~7ull;
	*(__u64 *)(room->text + last) &= (1ull << bytes % 8 * 8) - 1;
	room->string.entry_ns = t->entry_ns;
	room->string.bytes = bytes;
	room->string.arg = arg;
	room->string.kind = kind;
	bytes = (bytes + 7) & ~7ull;
	/* For the verifier of Linux 6.1: what it knows of the bounds is lost by the rounding. */
	__asm__ volatile("" : "+r"(bytes));
	if (bytes > STRING_BYTES_MOST)
		return 0;
	if (send_record(&room->string.head, USC_RECORD_STRING, sizeof(room->string) + bytes, t->call_serial,
			t->entry_ns, false))
		count_loss(cpu, usc_string_is_on_demand(kind) ? USC_LOSS_RING_FULL_CONTENT : USC_LOSS_RING_FULL_STRING,
			   t->process);
	return 0;
}

/* The argument of a slot of usc_string_slot(). */
static __always_inline __u32 arg_of_slot(__u32 slot)
{
	return slot < USC_STRING_ARGS ? slot : slot - USC_STRING_ARGS;
}

/* The text arguments of keyctl, by its command: those of JOIN_SESSION_KEYRING, SEARCH, RESTRICT_KEYRING. */
static __always_inline bool is_key_text(__u32 command, __u32 arg)
{
	return command == 1 ? arg == 1 : (command == 10 || command == 29) && arg > 1;
}

/* Does a call of 64 bits look at an argument that is a text, or a number with some commands? */
static __always_inline bool is_text(const struct task_entry *t, __u32 arg)
{
	__u32 command = t->args[0];

	if (t->nr == NR_keyctl)
		return is_key_text(command, arg);
	if (t->nr ==
	    NR_fsconfig) /* FSCONFIG_SET_STRING, FSCONFIG_SET_PATH and FSCONFIG_SET_PATH_EMPTY have a text as value */
		return arg == 2 || t->args[1] == 1 || t->args[1] == 3 || t->args[1] == 4;
	return t->nr != NR_prctl || command == SET_NAME;
}

/* Does the call look at an argument of this kind? What it does not look at may be anything that the program has. A function of its own for
 * the verifier, which goes through it once. */
USC_SUBPROGRAM int is_looked_at(struct task_entry *t, __u32 kind, __u32 arg)
{
	if (!t)
		return 0;
	if (kind == USC_STRING_EPOLL)
		return t->args[1] != EPOLL_DEL;
	if (kind == USC_STRING_TIME && usc_futex_is_plain(t->abi, t->nr))
		return usc_futex_waits(t->args[1]);
	if (kind == USC_STRING_FIXED && is_fcntl(t))
		return !usc_fcntl_gets(t->args[1]) || usc_fcntl_takes_lock(t->args[1]);
	if (kind == USC_STRING_FIXED_OUT && is_fcntl(t))
		return usc_fcntl_gets(t->args[1]);
	if (kind == USC_STRING_FIXED_OUT && t->abi != USC_ABI_COMPAT && t->nr == NR_arch_prctl)
		return t->args[0] == ARCH_GET_FS || t->args[0] == ARCH_GET_GS || t->args[0] == ARCH_GET_XCOMP_SUPP ||
		       t->args[0] == ARCH_GET_XCOMP_PERM || t->args[0] == ARCH_GET_XCOMP_GUEST_PERM;
	if (kind == USC_STRING_DEVICE)
		return is_ioctl(t) && usc_ioctl_sets(t->args[1]);
	if (kind == USC_STRING_DEVICE_OUT)
		return is_ioctl(t) && usc_ioctl_gets(t->args[1]);
	if (kind == USC_STRING_TEXT && t->abi == USC_ABI_COMPAT)
		return t->nr != COMPAT_prctl || t->args[0] == SET_NAME;
	return kind != USC_STRING_TEXT || is_text(t, arg);
}

/* The kind in a slot; 0: there is nothing that is read, or the argument is NULL. */
static __always_inline __u32 kind_in_slot(struct task_entry *t, __u64 kinds, __u32 slot)
{
	__u32 kind = kinds >> slot * USC_STRING_KIND_BITS & KIND_MASK;
	__u32 arg = arg_of_slot(slot);

	if (arg >= USC_STRING_ARGS || !t->args[arg])
		return 0;
	return is_looked_at(t, kind, arg) ? kind : 0;
}

/* How long an address the kernel may write: what the length, which an argument points to, holds before the call. */
static __always_inline void note_room(struct task_entry *t, __u32 arg)
{
	t->address_room = 0;
	if (arg < USC_STRING_ARGS)
		read_user(&t->address_room, sizeof(t->address_room), (const void *)t->args[arg]);
}

static __always_inline __u32 passed_kind(__u32 message)
{
	return message == USC_STRING_MESSAGE ? USC_STRING_PASSED : USC_STRING_PASSED_OUT;
}

/* Takes what is of one kind: a string; and notes where messages may have descriptors. Not 0: it could not be read. */
static __always_inline int take_slot(struct task_entry *t, __u32 arg, __u32 kind, __u32 flags, __s64 result)
{
	bool is_head = kind == USC_STRING_MESSAGE || kind == USC_STRING_MESSAGE_OUT;
	struct string_scratch *room = string_at(current_cpu());
	int error;

	if (kind == USC_STRING_PASSED || kind == USC_STRING_PASSED_OUT)
		return note_messages(t, arg, kind, flags, result);
	if (t->event_flags & USC_EVENT_FOLLOWED && is_message(t->abi, t->nr))
		return is_head ? note_message(t, arg, passed_kind(kind), flags) : 0;
	error = take_string(t, arg, kind, flags, result);
	if (is_head && room)
		note_passing(t, &room->passing, arg, passed_kind(kind), flags);
	return error;
}

/* 1: it is read at the return. The verifier goes once through this function and the next one: a loop that branched here
 * would be too much for it. */
USC_SUBPROGRAM int take_slot_at_entry(struct task_entry *t, __u64 kinds, __u32 slot)
{
	__u32 kind;

	if (!t || slot >= USC_STRING_SLOTS)
		return 0;
	kind = kind_in_slot(t, kinds, slot);
	if (!kind)
		return 0;
	if (kind == USC_STRING_ADDRESS_OUT)
		note_room(t, arg_of_slot(slot) + 1);
	else if (kind == USC_STRING_LENGTH)
		note_room(t, arg_of_slot(slot));
	return !usc_string_is_read_at_entry(kind) || take_slot(t, arg_of_slot(slot), kind, 0, 0);
}

/*
 * What the kernel writes is there where the call did not fail. What an exec was passed is there where it did fail: else
 * the memory of the program has gone.
 */
static __always_inline bool is_there_at_return(__u32 kind, __s64 result)
{
	if (kind == USC_STRING_EXEC || kind == USC_STRING_ARGUMENTS)
		return result < 0;
	return usc_string_is_read_at_entry(kind) || result >= 0;
}

USC_SUBPROGRAM int take_slot_at_return(struct task_entry *t, __u64 kinds, __u32 slot, __s64 result)
{
	__u32 kind;

	if (!t || slot >= USC_STRING_SLOTS)
		return 0;
	kind = kind_in_slot(t, kinds, slot);
	if (!kind || kind == USC_STRING_FUTEX)
		return 0;
	if (kind == USC_STRING_LENGTH ? t->event_flags & USC_EVENT_ATTACHED : !is_there_at_return(kind, result))
		return 0;
	if (usc_string_is_read_at_entry(kind))
		take_slot(t, arg_of_slot(slot), kind, USC_STRING_LATE, 0);
	else
		take_slot(t, arg_of_slot(slot), kind, 0, kind == USC_STRING_ADDRESS_OUT ? t->address_room : result);
	return 0;
}

USC_SUBPROGRAM int take_strings_at_entry(struct task_entry *t, __u64 kinds)
{
	__u32 slot, left = 0;

	if (!t)
		return 0;
	forget_messages();
	for (slot = 0; slot < USC_STRING_SLOTS && kinds >> slot * USC_STRING_KIND_BITS; slot++)
		left |= (__u32)take_slot_at_entry(t, kinds, slot) << slot;
	t->strings_left = left;
	take_passed(t);
	return 0;
}

static __always_inline void strings_at_entry(struct task_entry *t)
{
	__u64 kinds = string_kinds(t);

	if (!kinds)
		return;
	if ((kinds & KIND_MASK) == USC_STRING_FUTEX) {
		take_futex(t);
		kinds &= ~KIND_MASK;
	}
	if (kinds)
		take_strings_at_entry(t, kinds);
}

USC_SUBPROGRAM int take_strings_at_return(struct task_entry *t, __s64 result)
{
	__u32 slot, left;
	__u64 kinds;

	if (!t)
		return 0;
	kinds = string_kinds(t);
	left = t->strings_left;
	t->strings_left = 0;
	forget_messages();
	for (slot = 0; slot < USC_STRING_SLOTS && left >> slot; slot++)
		if (left >> slot & 1)
			take_slot_at_return(t, kinds, slot, result);
	take_passed(t);
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
	t->strings_left = string_kinds(t) ? (1u << USC_STRING_SLOTS) - 1 : 0;
	t->address_room = ADDRESS_BYTES; /* not known */
}

#endif
