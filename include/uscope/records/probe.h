/* SPDX-License-Identifier: GPL-2.0-or-later OR MIT */
/* What other kernel modules log, and the places in the kernel that it came from. */
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
	__u8 source;  /* enum usc_source; 0, as version 4 of the records has it: LOGGED */
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

USC_ASSERT_SIZE(usc_logged, 88);
USC_ASSERT_SIZE(usc_log_kind, 32);
USC_ASSERT_SIZE(usc_kernel_place, 32);

#endif
