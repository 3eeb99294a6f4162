/* SPDX-License-Identifier: GPL-2.0-or-later OR MIT */
/*
 * Hits of the probes of a plan (uscope/probes.h): their arguments, and the texts that these stand for. Nothing may fault here:
 * a number that is not in memory is 0 and marked as not known (usc_hit.unread), a text that is not is left out.
 */
#ifndef USCOPE_CORE_ARGUMENTS_H
#define USCOPE_CORE_ARGUMENTS_H

#include "uscope/core/probes/hits.h"
#include "uscope/probes.h"

/* Supplied by the backend: a probe by its place in the plan; 0: there is none. */
static const struct usc_probe *probe_at(__u32 number);

/* Bytes at an address of the kernel, or of the program. Not 0: they could not be read. */
static __always_inline int read_argument_word(__u64 *word, bool in_kernel, __u64 address, __u32 bytes)
{
	/* For the verifier: from here on the bound is that of this register. */
	__asm__ volatile("" : "+r"(bytes));
	if (bytes > sizeof(*word))
		return -1;
	if (in_kernel)
		return read_kernel(word, bytes, (const void *)address) != 0;
	return read_user(word, bytes, (const void *)address) != 0;
}

static __always_inline __u64 argument_value(struct probe_room *room, const struct usc_probe_argument *argument,
					    __u32 number)
{
	__u64 base = 0, word = 0;
	__u32 reg = argument->reg;

	/* For the verifier: from here on the bound is that of this register. */
	__asm__ volatile("" : "+r"(reg));
	if (reg < USC_PROBE_REGISTERS)
		base = room->registers[reg];
	switch (argument->from) {
	case USC_FROM_CONSTANT:
		return argument->offset;
	case USC_FROM_REGISTER:
		word = base;
		break;
	case USC_FROM_RECORD:
		base = room->record;
		__attribute__((__fallthrough__));
	default:
		if (read_argument_word(&word, room->in_kernel, base + argument->offset, argument->bytes)) {
			room->unread |= 1u << number % USC_PROBE_ARGUMENTS;
			return 0;
		}
	}
	return usc_argument_value(word, argument->bytes, argument->is_signed);
}

#define USER_HALF_ENDS 63 /* bit of an address: above it is the kernel's half */

/* The text at an address, up to its NUL; with that it has `space` bytes at most. Its length; less than 0: there is none.
 * Two bytes more than are taken say whether it is longer. */
static __always_inline long read_argument_text(struct probe_room *room, __u64 from, __u64 space, bool in_kernel)
{
	__u64 most = most_string_bytes();
	long got;

	if (space > most + 2)
		space = most + 2;
	/* For the verifier: from here on the bound is that of this register. */
	__asm__ volatile("" : "+r"(space));
	if (!space || space > USC_STRING_MOST + 2)
		return -1;
	if (in_kernel)
		got = read_kernel_text(room->text, space, (const void *)from);
	else
		got = read_user_text(room->text, space, (const void *)from);
	if (got < 0 || (in_kernel && !got))
		return -1;
	if (got)
		got--;
	if (got > most) {
		room->string.flags |= USC_STRING_TRUNCATED;
		got = most;
	}
	return got;
}

/* The text of an argument with this value. */
static __always_inline long find_argument_text(struct probe_room *room, const struct usc_probe_argument *argument,
					       __u64 value)
{
	__u64 space = USC_STRING_MOST + 2;

	if (argument->text == USC_TEXT_POINTED) {
		if (!value)
			return -1;
		return read_argument_text(room, value, space, room->in_kernel && value >> USER_HALF_ENDS);
	}
	if (argument->text == USC_TEXT_INSIDE) {
		space = argument->text_bytes + 1ull;
		value = argument->offset;
	} else {
		space = usc_text_room(value) + 1ull;
		value = usc_text_place(argument, value);
	}
	return read_argument_text(room, room->record + value % USC_PROBE_RECORD_BYTES, space, true);
}

/* Reads and sends the text of one argument. A function of its own for the verifier, which goes through it once. */
USC_SUBPROGRAM int take_argument_text(struct probe_room *room, const struct usc_probe_argument *argument, __u64 value,
				      __u32 number, __u32 process)
{
	__u64 bytes, last;
	long got;

	if (!room || !argument)
		return 0;
	room->string.flags = 0;
	got = find_argument_text(room, argument, value);
	if (got < 0)
		return 0;
	bytes = got;
	if (bytes > USC_STRING_MOST)
		return 0;
	/* What lies behind it in its last word is another text's. */
	last = bytes & ~7ull;
	*(__u64 *)(room->text + last) &= (1ull << bytes % 8 * 8) - 1;
	room->string.bytes = bytes;
	room->string.arg = number;
	room->string.kind = USC_STRING_TEXT;
	bytes = (bytes + 7) & ~7ull;
	/* For the verifier of Linux 6.1: what it knows of the bounds is lost by the rounding. */
	__asm__ volatile("" : "+r"(bytes));
	if (bytes > USC_STRING_MOST)
		return 0;
	if (send_record(&room->string.head, USC_RECORD_STRING, sizeof(room->string) + bytes, room->task,
			room->string.entry_ns, false))
		count_loss(cpu_state_of(current_cpu()), USC_LOSS_RING_FULL_STRING, process);
	return 0;
}

/* One argument of a hit, and its text. */
USC_SUBPROGRAM __u64 take_argument(struct probe_room *room, const struct usc_probe_argument *argument, __u32 number,
				   __u32 process)
{
	__u64 value;

	if (!room || !argument)
		return 0;
	value = argument_value(room, argument, number);
	if (!argument->text)
		return value;
	if (config.string_bytes)
		take_argument_text(room, argument, value, number, process);
	return argument->text == USC_TEXT_POINTED ? value : 0;
}

/* Fills a hit of a probe in, but for its kernel frames, and sends the texts of its arguments. `room` has the registers, or
 * the record. Of what a question does not read nothing is found out. */
static __always_inline void take_probe(struct hit_room *hit, struct probe_room *room, const struct usc_probe *probe,
				       const struct task_entry *t)
{
	__u32 i;

	if (is_asked_for(ASKED_TIME))
		hit->hit.entry_ns = now_ns();
	hit->hit.source = probe->source;
	hit->hit.kind = probe->kind;
	room->string.entry_ns = hit->hit.entry_ns;
	room->task = t->serial;
	room->unread = 0;
	for (i = 0; i < USC_PROBE_ARGUMENTS; i++) {
		if (i >= probe->arguments)
			break;
		if (is_asked_for(1u << (USC_QUERY_ARG0 + i)))
			hit->hit.args[i] = take_argument(room, &probe->argument[i], i, t->process);
	}
	hit->hit.unread = room->unread;
}

#endif
