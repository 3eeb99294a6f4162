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

enum usc_abi { USC_ABI_X86_64, USC_ABI_I386, USC_ABI_X32 };

#define USC_EVENT_RESTARTED 1 /* a restart_syscall that carries the original kind and arguments */
#define USC_EVENT_NO_RESULT 2 /* result means nothing: rt_sigreturn */
#define USC_EVENT_ATTACHED 4  /* was under way when tracing began; entry_ns is when that was */

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
	USC_STRING_NONE,
	USC_STRING_TEXT,	/* up to its NUL: a path or a name */
	USC_STRING_EXEC,	/* the same of an exec that failed: of one that did not, usc_exec has it */
	USC_STRING_ADDRESS,	/* a socket address; the next argument is its length */
	USC_STRING_ADDRESS_OUT, /* one that the kernel wrote; the next argument points to its length */
	USC_STRING_MESSAGE,	/* the address that a struct msghdr points to */
	USC_STRING_MESSAGE_OUT, /* the same, written by the kernel */
	USC_STRING_RESULT,	/* text that the kernel wrote, as many bytes as the call's result */
	USC_STRING_WORDS,	/* the first three words of a structure of numbers */
	USC_STRING_PAIR,	/* two descriptors that the kernel wrote */
	USC_STRING_FUTEX,	/* a futex: described by a usc_futex record */
};

#define USC_STRING_LATE 1      /* read at return, though the program passed it: it was not in memory before */
#define USC_STRING_TRUNCATED 2 /* it was longer */
#define USC_STRING_REDACTED 4  /* the tracer has put `[redacted]` in its place */

#define USC_STRING_DEFAULT 256 /* bytes taken of each */
#define USC_STRING_MOST 1024

/* What an argument of a call points to; the call is known by head.task and entry_ns. No NUL. */
struct usc_string {
	struct usc_record head;
	__u64 entry_ns;
	__u16 bytes; /* at text */
	__u16 flags; /* USC_STRING_* */
	__u8 arg;
	__u8 kind; /* enum usc_string_kind */
	__u16 pad;
	char text[];
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
 * A futex call; it is known by head.task and entry_ns. A wait always has one, made at its entry; a wake where the
 * address may be shared between processes. Memory around the address follows at words: what of `address` −
 * USC_FUTEX_BEFORE on could be read.
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

USC_ASSERT_SIZE(usc_event, 104);
USC_ASSERT_SIZE(usc_string, 40);
USC_ASSERT_SIZE(usc_futex, 104);

#endif
