/* SPDX-License-Identifier: GPL-2.0-or-later OR MIT */
/*
 * How what one argument of a call points to is read: texts, addresses, buffers, structures, messages, argument lists. Of each kind
 * (enum usc_string_kind) as much as there is, is asked for and has room; which arguments are read, and when, is in strings.h.
 */
#ifndef USCOPE_CORE_READ_STRINGS_H
#define USCOPE_CORE_READ_STRINGS_H

#include "uscope/core/calls/futexes.h"
#include "uscope/core/calls/passed.h"
#include "uscope/core/numbers.h"

#define ADDRESS_BYTES 128 /* sizeof(struct sockaddr_storage): the kernel takes no more */
#define KIND_MASK ((1ull << USC_STRING_KIND_BITS) - 1)

/* Bytes of structures in memory; of those of which there are arrays, of one. */
#define POLL_BYTES 8	 /* struct pollfd */
#define EPOLL_BYTES 12	 /* struct epoll_event, which is packed */
#define TIME_BYTES 16	 /* struct timespec, struct timeval */
#define SIGINFO_BYTES 28 /* the part that waitid writes, */
#define SIGINFO_HOLE 12	 /* but for a word here */
#define MOST_POLLED (1u << 20)
#define SIZED_MOST 256 /* of structures and socket options whose length the program passes */
#define MOST_NODES (USC_PAGE_BYTES * 8)
#define WORD_BITS 64
#define STAT_BYTES 144
#define STATX_BYTES 256

/* The configuration's word of a call, with USC_CALL_FOLLOWED and USC_CALL_OPENS. */
static __always_inline __u64 string_word(__u32 abi, __u32 nr)
{
	if (nr >= USC_SYSCALL_BITS)
		return 0;
	if (abi == USC_ABI_COMPAT)
		return config.strings[USC_CALLS_COMPAT][nr % USC_SYSCALL_BITS];
	return config.strings[USC_CALLS_NATIVE][nr % USC_SYSCALL_BITS];
}

/* Of a call: its word as usc_string_slot() makes it, 0 = no strings. */
static __always_inline __u64 string_kinds(const struct task_entry *t)
{
	return string_word(t->abi, t->nr) & ~(USC_CALL_FOLLOWED | USC_CALL_OPENS);
}

/* Of a call: the word of usc_structure_slot(). */
static __always_inline __u64 structure_word(__u32 abi, __u32 nr)
{
	const __u8 *places = abi == USC_ABI_COMPAT ? (const __u8 *)config.structures_of[USC_CALLS_COMPAT]
						   : (const __u8 *)config.structures_of[USC_CALLS_NATIVE];

	return nr < USC_SYSCALL_BITS ? config.structures[places[nr % USC_SYSCALL_BITS] % USC_STRUCTURE_WORDS] : 0;
}

static __always_inline __u64 most_string_bytes(void)
{
	__u64 most = config.string_bytes;

	return most > USC_STRING_MOST ? USC_STRING_MOST : most;
}

static __always_inline __u64 most_data_bytes(void)
{
	__u64 most = config.data_bytes;

	return most > USC_DATA_MOST ? USC_DATA_MOST : most;
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

/* A number of which the verifier need not know where it comes from: it goes on once, and not for each case by itself. */
static __always_inline __u64 through_memory(struct string_scratch *room, __u64 number)
{
	*(volatile __u64 *)&room->number = number;
	return *(volatile __u64 *)&room->number;
}

/* Where other strings lie. */
struct string_place {
	__u64 from;
	__u64 before; /* the call's argument before it, */
	__u64 next;   /* and the next one */
	__u64 bytes;  /* 0: there is no string */
	__u64 fixed;  /* of a structure, or one of an array, by the configuration or a command */
};

/*
 * Of an address whose length is passed by its address. The kernel writes no more than there is room for, but says how long the
 * address is: behind the room lies what the program had there before, so nothing is taken.
 */
static __always_inline void find_address_out(struct string_place *place, __u64 from, __u64 length_at, __u32 room)
{
	__u32 bytes = 0;

	if (!from || read_user(&bytes, sizeof(bytes), (const void *)length_at) || bytes > room)
		return;
	place->from = from;
	place->bytes = bytes > ADDRESS_BYTES ? ADDRESS_BYTES : bytes;
}

/*
 * Of a structure whose length the program passes. The kernel refuses one of more than a page (copy_struct_from_user), and a length below
 * zero: of these nothing is taken.
 */
static __always_inline __u64 sized_bytes(__u64 length)
{
	return length <= 4096 ? length : 0;
}

/* Of a value whose length the kernel writes to an address. */
static __always_inline void find_sized_out(struct string_place *place, __u64 length_at)
{
	__u32 bytes = 0;

	if (!read_user(&bytes, sizeof(bytes), (const void *)length_at))
		place->bytes = sized_bytes(bytes);
}

/* The address of a struct msghdr, and where its control data lies. */
static __always_inline int find_message(struct string_scratch *room, struct string_place *place, __u32 abi, __u64 from)
{
	struct message_head head;

	if (read_message(&head, is_narrow_message(abi), from))
		return -1;
	room->passing.control = head.control;
	room->passing.end = head.control + head.control_bytes;
	place->from = head.name;
	place->bytes = head.name ? head.name_bytes : 0;
	return 0;
}

/* Of a structure or an array of them, as much as there is. `next`: the call's next argument. */
static __always_inline __u64 structure_bytes(__u32 kind, __u64 next, __s64 result)
{
	switch (kind) {
	case USC_STRING_PAIR:
		return 8;
	case USC_STRING_POLL: /* of more descriptors than a process can have, there is no array */
		return (__u32)next <= MOST_POLLED ? (__u64)(__u32)next * POLL_BYTES : 0;
	case USC_STRING_POLL_OUT:
		return result > 0 ? (__u64)(__u32)next * POLL_BYTES : 0;
	case USC_STRING_EPOLL:
		return EPOLL_BYTES;
	case USC_STRING_EPOLL_OUT:
		return (__u64)(__u32)result * EPOLL_BYTES;
	case USC_STRING_TIME:
	case USC_STRING_TIME_OUT:
		return TIME_BYTES;
	case USC_STRING_TIMES:
		return 2 * TIME_BYTES;
	case USC_STRING_STATUS:
		return result > 0 ? 4 : 0;
	case USC_STRING_SIGINFO:
		return SIGINFO_BYTES;
	case USC_STRING_STAT:
		return STAT_BYTES;
	case USC_STRING_STATX:
		return STATX_BYTES;
	default:
		return 0;
	}
}

/* Not 0: it could not be read. */
static __always_inline int find_string(struct string_scratch *room, struct string_place *place, __u32 abi, __u32 kind,
				       __s64 result)
{
	__u64 next = place->next;

	switch (kind) {
	case USC_STRING_ADDRESS:
		place->bytes = (__u32)next;
		break;
	case USC_STRING_ADDRESS_OUT:
		find_address_out(place, place->from, next, result);
		break;
	case USC_STRING_MESSAGE:
	case USC_STRING_MESSAGE_OUT:
		return find_message(room, place, abi, place->from);
	case USC_STRING_RESULT:
		place->bytes = result;
		break;
	case USC_STRING_WORDS:
		place->bytes = 24;
		break;
	case USC_STRING_FIXED:
	case USC_STRING_FIXED_OUT:
	case USC_STRING_SET:
	case USC_STRING_SET_OUT:
	case USC_STRING_DEVICE:
	case USC_STRING_DEVICE_OUT:
		place->bytes = place->fixed;
		break;
	case USC_STRING_ARRAY:
		place->bytes = place->fixed * (__u32)next;
		break;
	case USC_STRING_LIST:
		place->bytes = place->fixed * (__u32)place->before;
		break;
	case USC_STRING_LIST_OUT: /* asked for none, the kernel says how many there are */
		place->bytes = place->before ? place->fixed * (__u32)result : 0;
		break;
	case USC_STRING_NODES:
	case USC_STRING_NODES_OUT: /* the kernel takes at most a page of bits, and counts one less than it is told */
		place->bytes =
			next && next <= MOST_NODES ? (next - 1 + WORD_BITS - 1) / WORD_BITS * (WORD_BITS / 8) : 0;
		break;
	case USC_STRING_SIZED: /* what kernels have added is not known here, and zero where it is not used */
		place->bytes = sized_bytes(next);
		if (place->fixed && place->bytes > place->fixed)
			place->bytes = place->fixed;
		break;
	case USC_STRING_SIZED_OUT:
		find_sized_out(place, next);
		break;
	case USC_STRING_DATA:
		place->bytes = next;
		break;
	case USC_STRING_DATA_OUT: /* a datagram may have been longer than the room for it */
		place->bytes = (__u64)result < next ? (__u64)result : next;
		break;
	default:
		place->bytes = structure_bytes(kind, next, result);
		break;
	}
	return 0;
}

/* Of an address that is too long nothing is taken: no kernel takes it. Of an array, whole structures. */
static __always_inline __u64 most_of(__u32 kind, __u64 bytes)
{
	switch (kind) {
	case USC_STRING_RESULT:
		return most_string_bytes();
	case USC_STRING_DATA:
	case USC_STRING_DATA_OUT:
		return most_data_bytes();
	case USC_STRING_ADDRESS:
	case USC_STRING_ADDRESS_OUT:
	case USC_STRING_MESSAGE:
	case USC_STRING_MESSAGE_OUT:
		return bytes > ADDRESS_BYTES ? 0 : ADDRESS_BYTES;
	case USC_STRING_SIZED:
	case USC_STRING_SIZED_OUT:
		return SIZED_MOST;
	case USC_STRING_POLL:
	case USC_STRING_POLL_OUT:
		return USC_DATA_MOST / POLL_BYTES * POLL_BYTES;
	case USC_STRING_EPOLL_OUT:
		return USC_DATA_MOST / EPOLL_BYTES * EPOLL_BYTES;
	default:
		return USC_STRING_MOST;
	}
}

/*
 * Takes what lies in the next buffer of a vector. Not 0: it could not be read. A function of its own for the verifier,
 * which goes through it once.
 */
USC_SUBPROGRAM int take_buffer(struct string_scratch *room)
{
	__u64 buffer[2] = {}, bytes, taken, number, most = most_data_bytes();
	struct buffer_walk *walk;

	if (!room)
		return -1;
	walk = &room->buffers;
	if (read_user(buffer, walk->is_narrow ? 8 : 16, (const void *)walk->next))
		return -1;
	walk->next += walk->is_narrow ? 8 : 16;
	if (walk->is_narrow) {
		buffer[1] = buffer[0] >> 32;
		buffer[0] = (__u32)buffer[0];
	}
	number = walk->number++;
	if (number >= USC_VECTOR_LENGTHS)
		return -1;
	room->vector.length[number] = buffer[1];
	bytes = buffer[1] < walk->left ? buffer[1] : walk->left;
	walk->left -= bytes;
	taken = walk->taken;
	if (taken > most)
		return -1;
	if (bytes > most - taken) {
		walk->is_cut = 1;
		bytes = most - taken;
	}
	/* For the verifier: from here on the bounds are those of these registers. */
	__asm__ volatile("" : "+r"(bytes), "+r"(taken));
	if (!bytes)
		return 0;
	if (bytes > USC_DATA_MOST || taken > USC_DATA_MOST ||
	    read_user(room->vector_data + taken, bytes, (const void *)buffer[0]))
		return -1;
	walk->taken = taken + bytes;
	return 0;
}

/* Where the buffers of a struct msghdr are. Not 0: it could not be read. */
static __always_inline int find_buffers(struct string_scratch *room, __u64 from)
{
	__u64 head[7] = {};
	__u32 *narrow = (__u32 *)head;

	if (read_user(head, room->buffers.is_narrow ? 28 : 56, (const void *)from))
		return -1;
	if (room->buffers.is_narrow) {
		room->buffers.next = narrow[2];
		room->vector.count = narrow[3];
		room->vector.control = narrow[5];
		room->vector.flags = narrow[6];
	} else {
		room->buffers.next = head[2];
		room->vector.count = head[3];
		room->vector.control = head[5];
		room->vector.flags = head[6];
	}
	return 0;
}

/* struct usc_vector and the bytes of the first buffers. -1: not even the first buffer's length could be read, or, at
 * entry, something that may be there at return. */
static __always_inline long read_vector(struct string_scratch *room, const struct string_place *place, __u32 abi,
					__u32 kind, __s64 result)
{
	bool is_filled = kind == USC_STRING_VECTOR_OUT || kind == USC_STRING_BUFFERS_OUT;
	struct buffer_walk *walk = &room->buffers;
	__u32 i;

	__builtin_memset(&room->vector, 0, sizeof(room->vector));
	__builtin_memset(walk, 0, sizeof(*walk));
	walk->is_narrow = abi == USC_ABI_COMPAT;
	walk->left = is_filled ? (__u64)result : ~0ull;
	if (kind == USC_STRING_BUFFERS || kind == USC_STRING_BUFFERS_OUT) {
		if (find_buffers(room, place->from))
			return -1;
	} else {
		walk->next = place->from;
		room->vector.count = place->next;
	}
	for (i = 0; i < USC_VECTOR_LENGTHS; i++) {
		if (i >= room->vector.count)
			break;
		if (!take_buffer(room))
			continue;
		if (!walk->number || !(is_filled || room->string.flags & USC_STRING_LATE))
			return -1;
		walk->is_cut = 1;
		break;
	}
	if (walk->is_cut || (room->vector.count > USC_VECTOR_LENGTHS && walk->left))
		room->string.flags |= USC_STRING_TRUNCATED;
	return sizeof(room->vector) + walk->taken;
}

/* Takes the next message of an array of struct mmsghdr. Not 0: it could not be read. A function of its own for the verifier. */
USC_SUBPROGRAM int take_message(struct string_scratch *room)
{
	__u64 head[8] = {}, buffer[2] = {}, at, bytes, base;
	__u32 *narrow = (__u32 *)head;
	struct usc_message *message;
	struct buffer_walk *walk;

	if (!room)
		return -1;
	walk = &room->buffers;
	at = walk->number;
	if (at >= USC_MESSAGES || read_user(head, walk->is_narrow ? 32 : 64, (const void *)walk->next))
		return -1;
	if (walk->is_narrow) {
		head[7] = narrow[7];
		head[3] = narrow[3];
		head[2] = narrow[2];
		head[1] = narrow[1];
		head[0] = narrow[0];
	}
	walk->next += walk->is_narrow ? 32 : 64;
	walk->number = at + 1;
	message = &room->messages[at];
	__builtin_memset(message, 0, sizeof(*message));
	message->buffers = head[3];
	message->length = walk->left ? (__u32)head[7] : 0;
	bytes = (__u32)head[1];
	__asm__ volatile("" : "+r"(bytes));
	if (head[0] && bytes <= sizeof(message->address) && !read_user(message->address, bytes, (const void *)head[0]))
		message->address_bytes = bytes;
	if (!head[3] || read_user(buffer, walk->is_narrow ? 8 : 16, (const void *)head[2]))
		return 0;
	base = buffer[0];
	if (walk->is_narrow) {
		buffer[1] = buffer[0] >> 32;
		base = (__u32)buffer[0];
	}
	message->first = buffer[1];
	bytes = buffer[1] < most_data_bytes() ? buffer[1] : most_data_bytes();
	if (walk->left && bytes > message->length)
		bytes = message->length;
	if (bytes > sizeof(message->data))
		bytes = sizeof(message->data);
	__asm__ volatile("" : "+r"(bytes));
	if (bytes <= sizeof(message->data) && !read_user(message->data, bytes, (const void *)base))
		message->data_bytes = bytes;
	return 0;
}

/* Bytes of the first messages; -1: not even the first could be read. */
static __always_inline long read_messages(struct string_scratch *room, const struct string_place *place, __u32 abi,
					  __u32 kind, __s64 result)
{
	__u64 count = kind == USC_STRING_MESSAGES_OUT ? (__u64)result : (__u32)place->next;
	struct buffer_walk *walk = &room->buffers;
	__u32 i;

	__builtin_memset(walk, 0, sizeof(*walk));
	walk->is_narrow = abi == USC_ABI_COMPAT;
	walk->left = kind == USC_STRING_MESSAGES_OUT;
	walk->next = place->from;
	for (i = 0; i < USC_MESSAGES; i++) {
		if (i >= count || take_message(room))
			break;
	}
	if (i < count)
		room->string.flags |= USC_STRING_TRUNCATED;
	return i || !count ? (long)(i * sizeof(struct usc_message)) : -1;
}

#define ARGUMENTS_MOST 48

/* Takes the next argument of a list, with its NUL. Not 0: there is none, or it has no room. A function of its own for the verifier. */
USC_SUBPROGRAM int take_exec_argument(struct string_scratch *room)
{
	__u64 pointer = 0, taken, left;
	struct buffer_walk *walk;
	long got;

	if (!room)
		return -1;
	walk = &room->buffers;
	taken = walk->taken;
	walk->is_cut = 1;
	if (taken >= USC_STRING_MOST || read_user(&pointer, walk->is_narrow ? 4 : 8, (const void *)walk->next))
		return -1;
	if (!pointer) {
		walk->is_cut = 0;
		return 1;
	}
	walk->next += walk->is_narrow ? 4 : 8;
	left = USC_STRING_MOST - taken;
	__asm__ volatile("" : "+r"(left), "+r"(taken));
	if (taken >= USC_STRING_MOST || left > USC_STRING_MOST)
		return -1;
	got = read_user_text(room->text + taken, left, (const void *)pointer);
	if (got < 0)
		return -1;
	/* Linux 6.1 counts no NUL of an empty text. */
	if (!got) {
		room->text[taken] = 0;
		got = 1;
	}
	/* Of one that fills the room, the NUL is left out: it is cut. */
	if (got >= left) {
		walk->taken = taken + got - 1;
		return -1;
	}
	walk->taken = taken + got;
	return 0;
}

/* The argument list of an exec, as much as there is room for a text. */
static __always_inline long read_arguments(struct string_scratch *room, const struct string_place *place, __u32 abi)
{
	struct buffer_walk *walk = &room->buffers;
	__u32 i;

	__builtin_memset(walk, 0, sizeof(*walk));
	walk->is_narrow = abi == USC_ABI_COMPAT;
	walk->next = place->from;
	for (i = 0; i < ARGUMENTS_MOST; i++)
		if (take_exec_argument(room))
			break;
	if (walk->is_cut)
		room->string.flags |= USC_STRING_TRUNCATED;
	return walk->taken <= USC_STRING_MOST ? walk->taken : -1;
}

/* The length before the call, which note_room() has kept, and the one after it. */
static __always_inline long read_length(struct string_scratch *room, __u64 from, __u32 before, __s64 result)
{
	__u32 after = 0;

	__builtin_memcpy(room->text, &before, sizeof(before));
	if (result < 0 || read_user(&after, sizeof(after), (const void *)from))
		return sizeof(before);
	__builtin_memcpy(room->text + sizeof(before), &after, sizeof(after));
	return 2 * sizeof(before);
}

/* Of what is not in memory to its end, also at the return, so much as lies in the first page. How many bytes; 0: none. */
static __always_inline __u64 read_until_hole(struct string_scratch *room, __u64 from, __u64 bytes)
{
	__u64 there = USC_PAGE_BYTES - from % USC_PAGE_BYTES;

	if (there >= bytes)
		return 0;
	/* For the verifier: from here on the bounds are those of this register. */
	__asm__ volatile("" : "+r"(there));
	if (there > USC_PAGE_BYTES || read_user(room->text, there, (const void *)from))
		return 0;
	room->string.flags |= USC_STRING_TRUNCATED;
	return there;
}

static __always_inline bool is_vector(__u32 kind)
{
	return kind >= USC_STRING_VECTOR && kind <= USC_STRING_BUFFERS_OUT;
}

/* Bytes read into the room; 0: there is no string; -1: it could not be read. */
static __always_inline long read_string(struct string_scratch *room, struct string_place *place, __u32 abi, __u32 kind,
					__s64 result)
{
	__u64 bytes, most;

	if (kind == USC_STRING_TEXT || kind == USC_STRING_EXEC)
		return read_text(room, place->from);
	if (kind == USC_STRING_MESSAGES || kind == USC_STRING_MESSAGES_OUT)
		return read_messages(room, place, abi, kind, result);
	if (kind == USC_STRING_ARGUMENTS)
		return read_arguments(room, place, abi);
	if (kind == USC_STRING_LENGTH)
		return read_length(room, place->from, place->fixed, result);
	if (is_vector(kind))
		return read_vector(room, place, abi, kind, result);
	if (find_string(room, place, abi, kind, result))
		return -1;
	bytes = through_memory(room, place->bytes);
	most = through_memory(room, most_of(kind, bytes));
	if (bytes > most) {
		room->string.flags |= USC_STRING_TRUNCATED;
		bytes = most;
	}
	/* For the verifier: from here on the bounds are those of this register. */
	__asm__ volatile("" : "+r"(bytes));
	if (!bytes || bytes > USC_DATA_MOST)
		return 0;
	if (read_user(room->text, bytes, (const void *)place->from)) {
		if (!(room->string.flags & USC_STRING_LATE))
			return -1;
		bytes = read_until_hole(room, place->from, bytes);
		if (!bytes)
			return -1;
	}
	if (kind == USC_STRING_SIGINFO)
		*(__u32 *)(room->text + SIGINFO_HOLE) = 0;
	return bytes;
}

#endif
