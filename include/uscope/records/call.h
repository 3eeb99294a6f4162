/* SPDX-License-Identifier: GPL-2.0-or-later OR MIT */
/* One event, most often a system call, and what the arguments of a call point to. */
#ifndef USCOPE_RECORDS_CALL_H
#define USCOPE_RECORDS_CALL_H

#include "uscope/records/head.h"

enum usc_how {
#define USC_X(name, text, meaning) USC_HOW_##name,
#include "uscope/lists/how.def"
#undef USC_X
	USC_HOW_COUNT
};

enum usc_abi {
#define USC_X(name, text, meaning) USC_ABI_##name,
#include "uscope/lists/abi.def"
#undef USC_X
	USC_ABI_COUNT
};

#define USC_EVENT_RESTARTED 1 /* a restart_syscall that carries the original kind and arguments */
#define USC_EVENT_NO_RESULT 2 /* result means nothing: rt_sigreturn */
#define USC_EVENT_ATTACHED 4  /* was under way when tracing began; entry_ns is when that was */
#define USC_EVENT_FOLLOWED 8  /* not asked for: it tells what descriptors and folders stand for, and has no stack */
#define USC_EVENT_PASSES 16   /* its messages carry descriptors */

/*
 * One event. `source` and `kind` say what happened, of a system call together with `abi`. head.time is the time of return
 * (how = returned, killed at return), else the time at which it was last seen. A call seen open is written as open once; a
 * later record with the same task, entry_ns and source replaces it.
 */
struct usc_event {
	struct usc_record head;
	__u64 entry_ns;
	__s64 result;
	__u64 args[6];
	__u32 stack; /* 0 = none taken */
	__u32 image; /* image serial at entry, 0 = before the first exec seen */
	__u32 kind;  /* a number that the source gives to what happened: source.def */
	__u8 how;
	__u8 abi;    /* of a system call: enum usc_abi; else 0 */
	__u8 flags;  /* USC_EVENT_* */
	__u8 source; /* enum usc_source */
};

/* What an argument of a call points to. */
enum usc_string_kind {
#define USC_X(name, text, letters, at_entry, by_kernel, holds, on_demand, meaning) USC_STRING_##name,
#include "uscope/lists/string_kind.def"
#undef USC_X
	USC_STRING_KIND_COUNT
};

/* Whether the kernel side reads strings of this kind at the call's entry; else it reads them at the return. */
USC_INLINE int usc_string_is_read_at_entry(__u32 kind)
{
	const __u64 at_entry_kinds = 0
#define USC_X(name, text, letters, at_entry, by_kernel, holds, on_demand, meaning)                                     \
	| ((at_entry##ull) << USC_STRING_##name)
#include "uscope/lists/string_kind.def"
#undef USC_X
		;

	return kind < USC_STRING_KIND_COUNT && at_entry_kinds >> kind & 1;
}

/* Whether strings of this kind are recorded on demand only. */
USC_INLINE int usc_string_is_on_demand(__u32 kind)
{
	const __u64 on_demand_kinds = 0
#define USC_X(name, text, letters, at_entry, by_kernel, holds, on_demand, meaning)                                     \
	| ((on_demand##ull) << USC_STRING_##name)
#include "uscope/lists/string_kind.def"
#undef USC_X
		;

	return kind < USC_STRING_KIND_COUNT && on_demand_kinds >> kind & 1;
}

#define USC_STRING_LATE 1      /* read at return, though the program passed it: it was not in memory before */
#define USC_STRING_TRUNCATED 2 /* it was longer */
#define USC_STRING_REDACTED 4  /* the tracer has put `[redacted]` in its place; of contents it has left the data out */

#define USC_STRING_DEFAULT 256 /* bytes taken of each */
#define USC_STRING_MOST 1024   /* also of structures */
#define USC_DATA_MOST 4096     /* of the bytes that a call carries; of arrays of structures */

#define USC_STRING_KIND_BITS 6
#define USC_STRING_ARGS 6
#define USC_STRING_SECOND_ARGS 4
#define USC_STRING_SLOTS (USC_STRING_ARGS + USC_STRING_SECOND_ARGS)

/*
 * What the arguments of one call point to: a word with USC_STRING_SLOTS kinds, six bits each. The first six are one for
 * each argument; the others are a second kind of the first arguments.
 */
USC_INLINE __u64 usc_string_slot(__u32 slot, __u32 kind)
{
	return (__u64)kind << slot * USC_STRING_KIND_BITS;
}

/* How many bytes are taken of the structures that arguments point to (USC_STRING_FIXED): a word for each call, with eight bits
 * for each argument that are half of the number. */
USC_INLINE __u64 usc_structure_slot(__u32 arg, __u32 bytes)
{
	return (__u64)(bytes / 2 & 0xff) << arg * 8;
}

USC_INLINE __u32 usc_structure_bytes(__u64 word, __u32 arg)
{
	return (__u32)(word >> arg * 8 & 0xff) * 2;
}

/* In a word of usc_string_slot(): the call is followed where it is not to be recorded. Its record has USC_EVENT_FOLLOWED. */
#define USC_CALL_FOLLOWED (1ull << 63)
/* The call opens a file by a path: where several mount namespaces are traced, which file it was is recorded. */
#define USC_CALL_OPENS (1ull << 62)

#define USC_VECTOR_LENGTHS 8

/* What is known of several buffers; the bytes in them follow, those of one behind those of the other. */
struct usc_vector {
	__u64 count;   /* buffers, as the program says */
	__u64 control; /* of a struct msghdr: length of its control data */
	__u32 flags;   /* of a struct msghdr: msg_flags */
	__u32 pad;
	__u64 length[USC_VECTOR_LENGTHS]; /* of the first buffers, as the program says; 0 of those that there are not */
};

#define USC_MESSAGES 8

/* One of the messages of sendmmsg and recvmmsg. */
struct usc_message {
	__u64 first;	     /* length of its first buffer, as the program says */
	__u32 buffers;	     /* how many it has */
	__u32 length;	     /* bytes received; 0 of one that is sent */
	__u32 address_bytes; /* of its address, as passed or written; a longer one than there is room for is not taken */
	__u32 data_bytes;    /* taken of its first buffer, on demand */
	char address[112];
	char data[104];
};

/* What an argument of a call points to; the call is known by head.task and entry_ns, which is head.time, too. No NUL. */
struct usc_string {
	struct usc_record head;
	__u64 entry_ns;
	__u32 bytes; /* at text */
	__u16 flags; /* USC_STRING_* */
	__u8 arg;
	__u8 kind; /* enum usc_string_kind */
	char text[];
};

/*
 * A descriptor that a message carries to another process, or that one has brought: one usc_string holds this and the
 * components of the file's path, as usc_file has them.
 */
struct usc_passed {
	__u64 dev;
	__u64 ino;
	__s32 fd;
	__u32 mode;	  /* as stat(2) has it; some kernels give no type to anonymous inodes */
	__u32 filesystem; /* its number, as statfs(2) has it */
	__u32 links;	  /* 0: deleted, or it never had a name */
	__u32 space;	  /* OPENED: the mount namespace of the task, by its inode */
	__u32 type;	  /* PASSED, PASSED_OUT: of the control message, SCM_RIGHTS or SCM_PIDFD */
	__u64 pad3[2];
	__u16 path_bytes;
	__u8 truncated; /* not all components fitted */
	__u8 pad2[5];
	char path[];
};

/* What a futex is known by, whoever asks. */
enum usc_futex_key {
	USC_FUTEX_UNKNOWN, /* shared maybe, but its mapping could not be looked up */
	USC_FUTEX_PRIVATE, /* by address space and address */
	USC_FUTEX_SHARED,  /* by file and offset */
};

#define USC_FUTEX_WAKE 1      /* a wake; else a wait */
#define USC_FUTEX_AT_STOP 2   /* a wait, looked at later than at its entry: while it was found open, or at the stop */
#define USC_FUTEX_ASLEEP 4    /* AT_STOP: its thread did not run while all open waits were looked at */
#define USC_FUTEX_ABSOLUTE 8  /* timeout is a time of CLOCK_MONOTONIC (the host's), or of CLOCK_REALTIME as `op` says */
#define USC_FUTEX_HANDLERS 16 /* AT_STOP: its process handles signals that may come from outside */
#define USC_FUTEX_OPEN                                                                                                 \
	32 /* AT_STOP, shared: who does not map it now may come by it, too: its file has a name, or others hold it */

#define USC_FUTEX_BEFORE 48 /* bytes taken before the address and from it on: glibc's locks lie around it */
#define USC_FUTEX_WORDS 96
#define USC_FUTEX_NO_TIMEOUT (~0ull)
#define USC_FUTEX_SHARERS_UNKNOWN 0xffffffffu

/*
 * A futex call; it is known by head.task and entry_ns, which is head.time, too, where the kernel side made the record.
 * A wait always has one, made at its entry; a wake where the address may be shared between processes. Memory around the
 * address follows at words: what of `address` − USC_FUTEX_BEFORE on could be read.
 */
struct usc_futex {
	struct usc_record head;
	__u64 entry_ns;
	__u64 address;
	__u64 timeout; /* nanoseconds; USC_FUTEX_NO_TIMEOUT */
	/* Of a shared one. */
	__u64 dev;
	__u64 ino;
	__u64 offset;
	__u64 words_from; /* address of the first byte at words */
	__u32 op;	  /* as futex(2) has it, with its flags, whatever the call */
	__u32 expected;	  /* the value expected there; of a wake how many are to be woken */
	__u32 mm;
	__u32 untraced_sharers; /* AT_STOP: processes that map it and are not traced; USC_FUTEX_SHARERS_UNKNOWN: not counted */
	__u32 futexes;		/* that the call waits on: of more than one this is the first */
	__u16 bytes;		/* at words */
	__u8 key;		/* enum usc_futex_key */
	__u8 flags;		/* USC_FUTEX_* */
	char words[];
};

USC_ASSERT(USC_STRING_KIND_COUNT <= 1 << USC_STRING_KIND_BITS, "usc_config has six bits for a kind");
USC_ASSERT_SIZE(usc_event, 112);
USC_ASSERT_SIZE(usc_string, 48);
USC_ASSERT_SIZE(usc_vector, 88);
USC_ASSERT_SIZE(usc_passed, 64);
USC_ASSERT_SIZE(usc_message, 240);
USC_ASSERT_SIZE(usc_futex, 112);

#endif
