/* SPDX-License-Identifier: GPL-2.0-or-later OR MIT */
/* Signals: that one was sent, and that one was delivered. */
#ifndef USCOPE_RECORDS_SIGNAL_H
#define USCOPE_RECORDS_SIGNAL_H

#include "uscope/records/head.h"

/* What became of a signal that was sent; the kernel's TRACE_SIGNAL_*. Append only. */
enum usc_signal_result {
#define USC_X(name, text, meaning) USC_SIGNAL_RESULT_##name,
#include "uscope/lists/signal_result.def"
#undef USC_X
	USC_SIGNAL_RESULT_COUNT
};

#define USC_SIGNAL_DELIVERED 1 /* this is a delivery; else a sending */
#define USC_SIGNAL_BY_KERNEL 2 /* sent: no call by which a program sends signals made the kernel do it */
#define USC_SIGNAL_TO_GROUP 4  /* sent: to a whole process; receiver_tid is the thread that the kernel began with */
#define USC_SIGNAL_BLOCKED 8   /* sent: that thread blocked it then */
#define USC_SIGNAL_NO_INFO 16  /* the kernel keeps nothing of it but its number: info is 0 */

#define USC_SIGNAL_NAME_BYTES 16 /* of a task's name, with its NUL */

/*
 * A signal was sent, or delivered. `head.task` is the sender's, if that is a traced thread, else the receiver's; of a
 * delivery the receiver's. `stack` and `image` are that task's: of a signal that the kernel sent to another task than
 * the current one there is no stack. A signal that ends its process at once is delivered to the thread that ends first;
 * the SIGKILLs by which the kernel ends threads are not told (core/tasks/signals.h).
 */
struct usc_signal {
	struct usc_record head;
	__u32 stack;
	__u32 image;
	__s32 code; /* si_code */
	__u32 mm;   /* of the handler */
	/* Sent: initial namespace; 0 = the kernel. */
	__u32 sender_pid;
	__u32 sender_tid;
	__u32 receiver_pid;
	__u32 receiver_tid;
	__u64 info[2];	     /* what siginfo_t has behind its first 16 bytes; number and code say what that is */
	__u64 handler;	     /* delivered: its address; 0 = the default action */
	__u64 handler_frame; /* the same as a frame (records/stack.h), where the collector knew the mapping; else 0 */
	__u8 number;
	__u8 flags;  /* USC_SIGNAL_* */
	__u8 result; /* sent: enum usc_signal_result */
	__u8 pad[5];
	char sender[USC_SIGNAL_NAME_BYTES]; /* names of the threads, where their numbers are known */
	char receiver[USC_SIGNAL_NAME_BYTES];
};

/* The kinds of the source `signal`: the signal's number, and where it was sent this bit. */
#define USC_SIGNAL_KIND_SENT 256u

USC_ASSERT_SIZE(usc_signal, 136);

#endif
