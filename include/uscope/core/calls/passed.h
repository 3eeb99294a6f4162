/* SPDX-License-Identifier: GPL-2.0-or-later OR MIT */
/*
 * Descriptors that messages carry from one process to another (SCM_RIGHTS), and pidfds that the kernel puts into them
 * (SCM_PIDFD). The kernel side looks up what each number stands for in the task's own table: of a message that is sent
 * at the call's entry, of one that has come at its return, where the new numbers are. So the receiver's have names
 * whoever has sent them. One record for each descriptor (struct usc_passed).
 */
#ifndef USCOPE_CORE_PASSED_H
#define USCOPE_CORE_PASSED_H

#include "uscope/core/numbers.h"
#include "uscope/core/port.h"

/* linux/socket.h */
#define LEVEL_SOCKET 1
#define MESSAGE_RIGHTS 1
#define MESSAGE_PIDFD 4

#define MESSAGE_BYTES 56   /* struct msghdr, */
#define MESSAGE_NARROW 28  /* the one of 32 bits, */
#define MESSAGES_STRIDE 64 /* struct mmsghdr, */
#define MESSAGES_NARROW 32
#define CONTROL_BYTES 16 /* struct cmsghdr, */
#define CONTROL_NARROW 12
#define MOST_MESSAGES 1024 /* UIO_MAXIOV: the kernel looks at no more */
#define PASSING_STEPS 4096

/* sendmsg, recvmsg, and what does the same with several messages. */
static __always_inline bool is_message(__u32 abi, __u32 nr)
{
	switch (abi) {
	case USC_ABI_NATIVE:
		return nr == NR_sendmsg || nr == NR_recvmsg || nr == NR_sendmmsg || nr == NR_recvmmsg;
	case USC_ABI_COMPAT:
		return nr == COMPAT_sendmsg || nr == COMPAT_recvmsg || nr == COMPAT_sendmmsg || nr == COMPAT_recvmmsg ||
		       nr == COMPAT_recvmmsg_time64;
	default:
		return USC_IS_OTHER_MESSAGE(nr);
	}
}

/* Has a struct msghdr 32 bits for a pointer? So have those of all ABIs but the native one. */
static __always_inline bool is_narrow_message(__u32 abi)
{
	return abi != USC_ABI_NATIVE;
}

/* What is read of a struct msghdr. */
struct message_head {
	__u64 name;
	__u64 control;
	__u64 control_bytes;
	__u32 name_bytes;
	__u32 pad;
};

/* Not 0: it could not be read. */
static __always_inline int read_message(struct message_head *head, bool is_narrow, __u64 from)
{
	__u64 words[7] = {};
	__u32 *narrow = (__u32 *)words;

	if (read_user(words, is_narrow ? MESSAGE_NARROW : MESSAGE_BYTES, (const void *)from))
		return -1;
	head->name = is_narrow ? narrow[0] : words[0];
	head->name_bytes = is_narrow ? narrow[1] : words[1];
	head->control = is_narrow ? narrow[4] : words[4];
	head->control_bytes = is_narrow ? narrow[5] : words[5];
	return 0;
}

/* Sends what a number stands for in the current task's table. A function of its own for the verifier. */
USC_SUBPROGRAM int send_passed(struct task_entry *t, struct string_scratch *room, __u32 fd)
{
	struct task_struct *task = this_task();
	struct file *file;
	__u32 bytes;

	if (!t || !room)
		return 0;
	file = hold_descriptor(task, fd);
	if (!file)
		return 0;
	__builtin_memset(&room->passed, 0, sizeof(room->passed));
	describe_file(file, &room->passed);
	room->passed.fd = fd;
	room->passed.type = room->passing.type;
	bytes = path_components(task, file, &room->path);
	release_image_file(file);
	t->event_flags |= USC_EVENT_PASSES;
	room->passed.path_bytes = bytes;
	room->string.entry_ns = t->entry_ns;
	room->string.arg = room->passing.arg;
	room->string.kind = room->passing.kind;
	room->string.flags = room->passing.flags;
	bytes += sizeof(room->passed);
	room->string.bytes = bytes;
	bytes = (bytes + 7) & ~7u;
	/* For the verifier of Linux 6.1: what it knows of the bounds is lost by the rounding. */
	__asm__ volatile("" : "+r"(bytes));
	if (bytes > sizeof(room->passed) + USC_PATH_BYTES + NAME_BYTES)
		return 0;
	if (send_record(&room->string.head, USC_RECORD_STRING, sizeof(room->string) + bytes, t->call_serial,
			t->entry_ns, false))
		count_loss(cpu_state_of(current_cpu()), USC_LOSS_RING_FULL_STRING, t->process);
	return 0;
}

/*
 * Which file a call has opened by a path: one path may lead to different files in different mount namespaces. Sent from
 * the first opening on that happens in another one than the tracer's own.
 */
USC_SUBPROGRAM int send_opened(struct task_entry *t, __u32 fd)
{
	struct string_scratch *room = string_at(current_cpu());
	__u32 space = mount_space(this_task());
	struct file *file;

	if (!t || !room)
		return 0;
	if (space != config.mount_space && !*SERIAL(space))
		next_serial(SERIAL(space));
	if (!*SERIAL(space))
		return 0;
	file = hold_descriptor(this_task(), fd);
	if (!file)
		return 0;
	__builtin_memset(&room->passed, 0, sizeof(room->passed));
	describe_file(file, &room->passed);
	release_image_file(file);
	room->passed.fd = fd;
	room->passed.space = space;
	room->string.entry_ns = t->entry_ns;
	room->string.bytes = sizeof(room->passed);
	room->string.flags = 0;
	room->string.arg = USC_STRING_ARGS - 1;
	room->string.kind = USC_STRING_OPENED;
	if (send_record(&room->string.head, USC_RECORD_STRING, sizeof(room->string) + sizeof(room->passed),
			t->call_serial, t->entry_ns, false))
		count_loss(cpu_state_of(current_cpu()), USC_LOSS_RING_FULL_STRING, t->process);
	return 0;
}

/* The next control message. */
static __always_inline void begin_control(struct passed_walk *walk)
{
	__u64 head[2] = {}, bytes, at = walk->control, step = walk->is_narrow ? 4 : 8;
	__u32 *narrow = (__u32 *)head, level, type, size = walk->is_narrow ? CONTROL_NARROW : CONTROL_BYTES;

	if (read_user(head, size, (const void *)at)) {
		walk->control = walk->end;
		return;
	}
	bytes = walk->is_narrow ? narrow[0] : head[0];
	level = narrow[walk->is_narrow ? 1 : 2];
	type = narrow[walk->is_narrow ? 2 : 3];
	if (bytes < size || bytes > walk->end - at)
		bytes = walk->end - at;
	walk->control = at + ((bytes + step - 1) & ~(step - 1));
	if (level != LEVEL_SOCKET || (type != MESSAGE_RIGHTS && type != MESSAGE_PIDFD))
		return;
	walk->type = type;
	walk->next = at + size;
	walk->left = (bytes - size) / sizeof(__u32);
}

/* The next struct mmsghdr. */
static __always_inline void begin_message(struct passed_walk *walk)
{
	struct message_head head;

	walk->messages--;
	if (!read_message(&head, walk->is_narrow, walk->message)) {
		walk->control = head.control;
		walk->end = head.control + head.control_bytes;
	}
	walk->message += walk->is_narrow ? MESSAGES_NARROW : MESSAGES_STRIDE;
}

struct passing_context {
	struct task_entry *task;
	struct string_scratch *room;
};

static long pass_next(__u32 i, struct passing_context *context)
{
	struct passed_walk *walk = &context->room->passing;
	__u64 at;
	__u32 fd = 0;

	if (walk->left) {
		walk->left--;
		at = walk->next;
		walk->next = at + sizeof(fd);
		if (!read_user(&fd, sizeof(fd), (const void *)at))
			send_passed(context->task, context->room, fd);
		return 0;
	}
	if (walk->control < walk->end &&
	    walk->end - walk->control >= (walk->is_narrow ? CONTROL_NARROW : CONTROL_BYTES)) {
		begin_control(walk);
		return 0;
	}
	if (!walk->messages)
		return 1;
	begin_message(walk);
	return 0;
}

/* Which messages of the call at hand carry descriptors is not known yet. */
static __always_inline void forget_messages(void)
{
	struct string_scratch *room = string_at(current_cpu());

	if (!room)
		return;
	room->passing.control = room->passing.end = 0;
	room->passing.messages = 0;
	room->passing.left = 0;
}

static __always_inline void note_passing(struct task_entry *t, struct passed_walk *walk, __u32 arg, __u32 kind,
					 __u32 flags)
{
	walk->is_narrow = is_narrow_message(t->abi);
	walk->arg = arg;
	walk->kind = kind;
	walk->flags = flags;
}

/*
 * Notes the messages of sendmmsg or recvmmsg; of sendmsg or recvmsg find_message() has noted the control data. Only
 * sockets of this machine carry descriptors: others cost one look at the socket.
 */
USC_SUBPROGRAM int note_messages(struct task_entry *t, __u32 arg, __u32 kind, __u32 flags, __s64 result)
{
	struct string_scratch *room = string_at(current_cpu());
	struct file *file;
	bool may_carry;
	__u64 count;

	if (!t || !room || arg >= USC_STRING_ARGS - 1)
		return 0;
	file = hold_descriptor(this_task(), t->args[0]);
	if (!file)
		return 0;
	may_carry = is_local_socket(file);
	release_image_file(file);
	if (!may_carry)
		return 0;
	count = kind == USC_STRING_PASSED_OUT ? (__u64)result : (__u32)t->args[arg + 1];
	room->passing.message = t->args[arg];
	room->passing.messages = count > MOST_MESSAGES ? MOST_MESSAGES : count;
	note_passing(t, &room->passing, arg, kind, flags);
	return 0;
}

/* The one message of a call that is only followed: nothing else that its struct msghdr points to is wanted. Not 0: it
 * could not be read. */
USC_SUBPROGRAM int note_message(struct task_entry *t, __u32 arg, __u32 kind, __u32 flags)
{
	struct string_scratch *room = string_at(current_cpu());
	struct message_head head;

	if (!t || !room || arg >= USC_STRING_ARGS)
		return 0;
	if (read_message(&head, is_narrow_message(t->abi), t->args[arg]))
		return -1;
	room->passing.control = head.control;
	room->passing.end = head.control + head.control_bytes;
	note_passing(t, &room->passing, arg, kind, flags);
	return 0;
}

/* Takes the descriptors of the messages that were noted. Behind the strings, and not among them: BPF has eight frames. */
static __always_inline void take_passed(struct task_entry *t)
{
	struct string_scratch *room = string_at(current_cpu());
	struct passing_context context = {.task = t, .room = room};

	if (room && (room->passing.control < room->passing.end || room->passing.messages))
		usc_loop(PASSING_STEPS, pass_next, &context);
}

#endif
