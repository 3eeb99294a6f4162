/* SPDX-License-Identifier: GPL-2.0-or-later OR MIT */
/* What probes bring, what other kernel modules log, and the places in the kernel that both came from. */
#ifndef USCOPE_RECORDS_PROBE_H
#define USCOPE_RECORDS_PROBE_H

#include "uscope/records/head.h"

#define USC_LOGGED_VALUES 6
#define USC_KERNEL_FRAMES 64 /* of one event, at most */

/*
 * An event that another kernel module logged for the current task (kmod's usc_log_event), with the stacks of that moment.
 * Kernel frames follow at place, innermost first: numbers of usc_kernel_place, 0 = could not be named.
 */
struct usc_logged {
	struct usc_record head;
	__u32 kind;  /* the caller's own number, or one of usc_log_kind */
	__u32 stack; /* the user stack, 0 = none taken */
	__u32 image;
	__u8 values;  /* how many are used */
	__u8 source;  /* enum usc_source */
	__u16 places; /* kernel frames */
	__u64 value[USC_LOGGED_VALUES];
	__u32 place[];
};

#define USC_KIND_NAMED 0x80000000u /* kinds that have a name have this bit */
#define USC_KIND_NAME_BYTES 64	   /* longest name */

/*
 * The name of a kind of usc_logged (kmod's usc_log_named). Told before its first event, seldom more than once, then
 * with the same number. The name's bytes are the caller's choice. No NUL.
 */
struct usc_log_kind {
	struct usc_record head;
	__u32 kind;	  /* USC_KIND_NAMED and a number from 1 */
	__u16 name_bytes; /* 1 … USC_KIND_NAME_BYTES */
	__u8 source;	  /* whose kind it is, as in usc_logged */
	__u8 pad;
	char name[];
};

/*
 * A place in the kernel's code, met for the first time: "module+0xoffset function+0xoffset", the core kernel being vmlinux
 * and its offset that from _text, a module's that from its text; "? function+0xoffset" for code made at run time. No NUL.
 */
struct usc_kernel_place {
	struct usc_record head;
	__u32 place; /* from 1 */
	__u16 text_bytes;
	__u16 pad;
	char text[];
};

/* Of the source `sample`: what the thread ran. */
enum usc_sample_kind {
	USC_SAMPLE_USER = 1,
	USC_SAMPLE_KERNEL = 2, /* its stack is that of the code that called the kernel, or was interrupted */
};

/* Of the source `offcpu`: the state in which a thread left the CPU. */
enum usc_offcpu_kind {
	USC_OFFCPU_PREEMPTED = 1, /* it could have gone on */
	USC_OFFCPU_SLEEPING = 2,  /* it waits, and a signal may wake it */
	USC_OFFCPU_BLOCKED = 3,	  /* it waits, most often for a disk, and a signal does not wake it */
	USC_OFFCPU_STOPPED = 4,	  /* by a signal or a debugger */
};

#define USC_HIT_ADDRESSES 128 /* flags: the frames are 64-bit addresses. Not on disk: the collector puts places there */

/*
 * An event that a probe of the tracer's own brought: a sample, a time off the CPU, a tracepoint, a function. It is known
 * by head.task, entry_ns and source, like a usc_event; head.time is its end, of how = hit its moment. `stack` is the user
 * stack at its beginning. Kernel frames of that moment follow, innermost first: numbers of usc_kernel_place, 0 = could not
 * be named. A time off the CPU has none where its end was not seen.
 * Arguments of a sample: CPU, nanoseconds that it stands for. Of a time off the CPU: tid of the thread that ended it (0:
 * none, an interrupt), that one's pid, nanoseconds that the thread then waited for a CPU, state as the kernel has it.
 */
struct usc_hit {
	struct usc_record head;
	__u64 entry_ns;
	__s64 result; /* of functions that have returned; else 0 and USC_EVENT_NO_RESULT */
	__u64 args[6];
	__u32 stack; /* 0 = none taken */
	__u32 image;
	__u32 kind;
	__u16 frames;
	__u8 how;    /* HIT, RETURNED, LEFT, or OPEN: not over when it was last seen */
	__u8 source; /* enum usc_source */
	__u8 flags;  /* USC_EVENT_NO_RESULT, USC_EVENT_ATTACHED, USC_HIT_ADDRESSES */
	__u8 unread; /* bit i: args[i] is 0 because it was not in memory, and not known */
	__u8 pad[6];
};

#define USC_KIND_TEXT_BYTES 4096 /* longest text of a usc_kind */

/*
 * What a number of a source's kinds stands for: its name, and of each argument name and type, "name:type". Each has its
 * NUL. Told before the first event of the kind; of a kind that is told twice the first one holds.
 */
struct usc_kind {
	struct usc_record head;
	__u32 kind;
	__u16 text_bytes;
	__u8 source;
	__u8 args; /* … USC_LOGGED_VALUES */
	char text[];
};

USC_ASSERT_SIZE(usc_hit, 120);
USC_ASSERT_SIZE(usc_kind, 40);
USC_ASSERT_SIZE(usc_logged, 96);
USC_ASSERT_SIZE(usc_log_kind, 40);
USC_ASSERT_SIZE(usc_kernel_place, 40);

#endif
