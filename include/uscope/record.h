/* SPDX-License-Identifier: GPL-2.0-or-later OR MIT */
/*
 * The records that a backend writes, that the trace file holds, and that the loader reads. Little-endian, naturally
 * aligned, explicitly padded, length-prefixed, 8-byte aligned, append-only in meaning: a reader takes `size` as the
 * truth, skips types it does not know, and ignores bytes behind the fields it knows. docs/adr/0001-records.md gives the
 * reasons.
 *
 * Identities. Tasks (threads), processes, images and files are named by serial numbers that the kernel side gives out,
 * from 1, once each; address spaces by the kernel's own number (core/mappings.h, space_of), so that it is the same in all
 * processes that share one; 0 is none. Pids and tids are attributes, since they are reused.
 */
#ifndef USCOPE_RECORD_H
#define USCOPE_RECORD_H

#include "base.h"

#define USC_RECORD_ABI 4 /* moves with every change of a layout below */

#define USC_RAW_MAGIC 0x315741524f435355ull /* "USCORAW1" */
#define USC_CPU_USER 0xffff		    /* `cpu` of records made by the collector */
#define USC_STACK_USER 0x80000000u	    /* stack ids made by the collector have this bit */
#define USC_PATH_BYTES 1024		    /* longest path taken in the kernel */
#define USC_ARGV_BYTES 1024		    /* longest argument list taken in the kernel */
#define USC_MAX_FRAMES 1024		    /* largest budget S */

enum usc_record_type {
#define USC_X(name, number, text, type) USC_RECORD_##name = number,
#include "uscope/lists/record_type.def"
#undef USC_X
};

enum usc_how {
#define USC_X(name, text, meaning) USC_HOW_##name,
#include "uscope/lists/how.def"
#undef USC_X
	USC_HOW_COUNT
};

enum usc_loss_cause {
#define USC_X(name, text, meaning, numbered, missing) USC_LOSS_##name,
#include "uscope/lists/loss.def"
#undef USC_X
	USC_LOSS_COUNT
};

/* Whether a loss of this cause stands for a sequence number that no record in the trace has. */
USC_INLINE int usc_loss_is_numbered(__u32 cause)
{
	const __u64 numbered = 0
#define USC_X(name, text, meaning, numbered, missing) | (numbered##ull << USC_LOSS_##name)
#include "uscope/lists/loss.def"
#undef USC_X
		;

	return cause < USC_LOSS_COUNT && numbered >> cause & 1;
}

enum usc_abi { USC_ABI_X86_64, USC_ABI_I386, USC_ABI_X32 };

/* First bytes of a raw trace; records follow at header_size. */
struct usc_raw_header {
	__u64 magic;
	__u32 header_size;
	__u32 record_abi;
	__u64 start_ns;	     /* CLOCK_MONOTONIC at the start of tracing */
	__s64 utc_offset_ns; /* CLOCK_REALTIME minus CLOCK_MONOTONIC then */
	__u32 cpus;	     /* possible processors */
	__u32 pad;
};

/* Head of every record. */
struct usc_record {
	__u32 size; /* bytes with this head, multiple of 8 */
	__u16 type; /* enum usc_record_type */
	__u16 cpu;
	__u32 seq;  /* per cpu; moves with every attempt, so a gap is a lost record (loss.def: `numbered`). Order in the
		       file is not order of seq */
	__u32 task; /* thread serial, 0 = none */
	__u64 time; /* CLOCK_MONOTONIC when the record was made, nanoseconds */
};

#define USC_EVENT_RESTARTED 1 /* a restart_syscall that carries the original kind and arguments */
#define USC_EVENT_NO_RESULT 2 /* result means nothing: rt_sigreturn */
#define USC_EVENT_ATTACHED 4  /* was under way when tracing began; entry_ns is when that was */

/*
 * One system call. head.time is the time of return (how = returned, killed at return), else the time at which it was
 * last seen. A call seen open is written as open once; a later record with the same task and entry_ns replaces it.
 */
struct usc_event {
	struct usc_record head;
	__u64 entry_ns;
	__s64 result;
	__u64 args[6];
	__u32 stack; /* 0 = none taken */
	__u32 image; /* image serial at entry, 0 = before the first exec seen */
	__u32 nr;
	__u8 how;
	__u8 abi;
	__u16 flags;
};

/*
 * A frame of a stack in 64 bits: file serial << 48 | exact << 47 | offset. `exact`: the offset is that of the
 * interrupted instruction (innermost frame, or across a signal frame); otherwise it is a return address, and the call
 * is before it. With file 0 (memory without a file: JIT) the low 47 bits are the address itself.
 */
#define USC_FRAME_EXACT (1ull << 47)
#define USC_FRAME_OFFSET(frame) ((frame) & (USC_FRAME_EXACT - 1))
#define USC_FRAME_FILE(frame) ((__u32)((frame) >> 48))
#define USC_FRAME(file, offset, exact) ((__u64)(file) << 48 | ((exact) ? USC_FRAME_EXACT : 0) | (offset))
#define USC_FILE_NONE 0u /* memory without a file */
#define USC_FILE_VDSO 1u /* offset counts from the vdso's start */
#define USC_FILE_FIRST 2u
#define USC_FILE_MAX 0xffffu

/* How a stack ended: enum usc_ended. */
enum usc_ended {
	USC_ENDED_ROOT,
	USC_ENDED_BUDGET,
	USC_ENDED_SCOPE,
	USC_ENDED_BROKEN, /* and one more for each reason of unwind_error.def */
};

enum usc_unwind_error {
#define USC_X(name, text, meaning) USC_BROKEN_##name,
#include "uscope/lists/unwind_error.def"
#undef USC_X
	USC_BROKEN_COUNT
};

/* The definition of a stack id: kept frames, innermost first. */
struct usc_stack {
	struct usc_record head;
	__u32 stack;
	__u32 mm;      /* address space, where a frame has file 0; else 0 */
	__u16 depth;   /* number of frames */
	__u8 ended;    /* enum usc_ended; USC_ENDED_BROKEN + enum usc_unwind_error */
	__u8 deferred; /* 1: walked in user space */
	__u32 pad;
	__u64 frames[];
};

#define USC_TASK_PROCESS 1  /* first thread of a new process */
#define USC_TASK_LAUNCHED 2 /* the launched command */
#define USC_TASK_ATTACHED 4 /* ran before the tracer came */
#define USC_TASK_EXEC_TID 8 /* the same thread under the leader's tid, after an exec by another thread */
/*
 * Who shares descriptors, and root and working directory, when the task comes into the trace. With FORKED it is told of as
 * parent_task makes it, and the two below say what it shares with that one. Without, they say of a first thread that what
 * it has is its process's alone, and of another thread that it has what the first one has. Not set: it is not so, or it is
 * not known.
 */
#define USC_TASK_FORKED 16
#define USC_TASK_SAME_FILES 32 /* the table of descriptors */
#define USC_TASK_SAME_FS 64    /* root and working directory */
/* Without FORKED: a supervisor (seccomp's user notification) may change its descriptors; or that is not known. */
#define USC_TASK_SUPERVISED 128

/* A task enters the trace; head.task is its serial. */
struct usc_task {
	struct usc_record head;
	__u32 process;	   /* process serial */
	__u32 parent_task; /* serial of the task that made it, 0 = not traced */
	__u32 pid;	   /* of the initial namespace */
	__u32 tid;
	__u32 ns_pid; /* of the innermost namespace */
	__u32 ns_tid;
	__u32 mm;	 /* address space */
	__u32 parent_mm; /* where this is a copy of another one's mappings; equal to mm where it is shared */
	__u64 start_ns;	 /* the kernel's start time of the task, CLOCK_MONOTONIC */
	__u32 flags;
	__u32 image; /* image serial inherited from the parent */
	/* Of a process that ran before: its parent's, which may come into the map after it. */
	__u32 parent_pid;
	__u32 pad;
	char name[16];
};

/* A successful exec, or (old_tid 0) the image of a process that ran before, to which the collector adds what /proc
 * says. The name as given to exec (a script: its own) and argv (NUL-separated) follow at data. */
struct usc_exec {
	struct usc_record head;
	__u32 process;
	__u32 image;	/* serial of the new image */
	__u32 mm;	/* the new address space */
	__u32 exe_file; /* file serial of the executable */
	__u32 old_tid;	/* tid before; differs from the pid where another thread than the leader called */
	__u32 tid;
	__u16 path_bytes; /* bytes at data, no NUL */
	__u16 argv_bytes; /* bytes at data + path_bytes */
	__u32 argv_total; /* what argv really took */
	char name[16];	  /* the task's name after exec */
	char data[];
};

#define USC_EXIT_GROUP_DEAD 1 /* the last thread of its process */
#define USC_EXIT_LEFT 2	      /* it goes on, but no longer traced: `code` means nothing */

struct usc_task_exit {
	struct usc_record head;
	__u32 process;
	__u32 code; /* as wait(2) reports it: signal in the low 7 bits, 0x80 core dumped, exit code << 8 */
	__u32 flags;
	__u32 pad;
};

struct usc_task_name {
	struct usc_record head;
	char name[16];
};

/* An executable mapping, from its time on, in place of what was mapped there. */
struct usc_map {
	struct usc_record head;
	__u32 mm;
	__u32 file; /* USC_FILE_NONE: anonymous */
	__u64 start;
	__u64 end;
	__u64 offset; /* file offset of start */
};

struct usc_unmap {
	struct usc_record head;
	__u32 mm;
	__u32 pad;
	__u64 start;
	__u64 end;
};

/* What makes a file that file, as the kernel sees the inode behind a mapping. */
struct usc_file_key {
	__u64 dev;
	__u64 ino;
	__u64 size;
	__s64 ctime_sec;
	__u32 ctime_nsec;
	__u32 generation;
};

/*
 * A file met for the first time. Path components follow, innermost first, each ended by NUL, up to the process's own
 * root (or to where they no longer fitted: then `truncated`).
 */
struct usc_file {
	struct usc_record head;
	__u32 file;
	__u32 pid; /* of a process that maps it, initial namespace */
	struct usc_file_key key;
	__u64 start; /* the mapping in that process */
	__u64 end;
	__u64 offset;
	__u16 path_bytes;
	__u8 truncated;
	__u8 pad;
	__u32 links; /* 0: deleted */
	char path[];
};

/* What is known of a file's unwind rows. A file is PENDING until the collector has opened it. */
enum usc_file_state {
#define USC_X(name, text, meaning) USC_FILE_##name,
#include "uscope/lists/file_state.def"
#undef USC_X
	USC_FILE_STATE_COUNT
};

#define USC_CLASS_APP 1	     /* an application module by --app-module */
#define USC_CLASS_EXCLUDED 2 /* by --exclude-module */

struct usc_segment {
	__u64 offset; /* of the file */
	__u64 size;
	__u64 address; /* ELF virtual address of offset */
};

/* What the collector learnt of a file when it opened it. Segments (executable ones), build-id, path and trouble (why
 * there are no rows; a text) follow in this order. */
struct usc_file_info {
	struct usc_record head;
	__u32 file;
	__u32 classes; /* USC_CLASS_* */
	__u32 rows;    /* unwind rows, 0 = none */
	__u32 row_bytes;
	__u32 rules;
	__u16 segments;
	__u16 build_id_bytes;
	__u16 path_bytes;
	__u16 error; /* errno with which opening failed, 0 = opened */
	__u16 trouble_bytes;
	__u8 state; /* enum usc_file_state */
	__u8 pad;
	char data[];
};

/*
 * Registers and a copy of the stack, for a walk in user space: one that the kernel left to it (`verify` 0), or one to
 * compare
 * (`verify` 1). Never written to disk: the collector writes a usc_stack or a usc_verify with this cpu and seq instead.
 */
struct usc_sample {
	struct usc_record head;
	__u64 entry_ns; /* of the call */
	__u32 stack;	/* the id to define, or to compare with */
	__u32 mm;
	__u32 exe_file;
	__u32 reason; /* enum usc_defer_reason */
	__u32 verify;
	__u32 bytes; /* of the first copy */
	/*
	 * The first copy: of a window of 64 pages from `base` (rsp) on those that could be read, one behind the other;
	 * `pages` has their bits. Untouched pages, of large buffers, are left out. Page 0 begins at base.
	 */
	__u64 base;
	__u64 pages;
	/* A second copy, of the stack's end, behind the first: where the window did not reach it. Of whole pages. */
	__u64 end_base;
	__u64 end_pages;
	__u32 end_bytes;
	__u32 pad;
	/*
	 * Pages of the first and of the second copy that are not in `data`, though `bytes` and `end_bytes` count them:
	 * they are what the page of the same number (address / 4096 % 64) was last in such copies of this processor. The
	 * first page of a copy is sent always, and remembered only where it is whole.
	 */
	__u64 same;
	__u64 end_same;
	__u64 pc;
	__u64 regs[16]; /* DWARF numbers: rax rdx rcx rbx rsi rdi rbp rsp r8 … r15 */
	char data[];
};

#define USC_SAMPLE_PAGES 64 /* of each of the two copies, at most */

enum usc_defer_reason {
	USC_DEFER_NONE,
	USC_DEFER_NO_TABLE, /* a file without rows yet */
	USC_DEFER_LOCK,	    /* mappings locked by another thread */
	USC_DEFER_MAPPINGS, /* mappings changed during the walk, twice */
	USC_DEFER_RE_ENTRY, /* the scratch area was in use */
	USC_DEFER_REGISTER, /* a rule needs a register that compact rows do not follow */
	USC_DEFER_COPIED, /* no mapping, in an address space that a fork copied: maybe its parent has it (MADV_DONTFORK) */
	USC_DEFER_COUNT
};

/* The outcome of one comparison. */
struct usc_verify {
	struct usc_record head;
	__u64 entry_ns;
	__u32 stack;
	__u32 uscope_depth;
	__u32 oracle_depth;
	__s32 first_difference; /* position, -1 = equal */
};

struct usc_loss {
	struct usc_record head; /* time: until when */
	__u64 from_ns;
	__u64 count;
	__u32 cause;   /* enum usc_loss_cause */
	__u32 process; /* 0 = not known */
};

/* key and value, NUL-ended each, at data. */
struct usc_meta {
	struct usc_record head;
	char data[];
};

/* At the end of tracing: how many sequence numbers a processor gave out. */
struct usc_cpu_total {
	struct usc_record head; /* cpu: which */
	__u64 records;
};

struct usc_io_uring {
	struct usc_record head;
	__u32 process;
	__u32 not_known; /* 1: it may use it; what would tell did not answer */
};

/*
 * The name of an address in memory without a file, from the perf map of the process when a stack with it was seen.
 * One for each address of an address space: `address` is the innermost frame's pc (`exact` frames), or a return address
 * less 1. The code is at start up to start + size; its name, without NUL, is at name.
 */
struct usc_jit_name {
	struct usc_record head;
	__u32 mm;
	__u16 name_bytes;
	__u16 pad;
	__u64 address;
	__u64 start;
	__u64 size;
	char name[];
};

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
	__u16 values; /* how many are used */
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
	__u16 pad;
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
	USC_STRING_FUTEX,	/* a futex: told by a usc_futex record */
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
#define USC_FUTEX_NO_STRANGERS 0xffffffffu

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
	__u32 strangers; /* AT_STOP: processes that map it and are not traced; USC_FUTEX_NO_STRANGERS: not counted */
	__u32 futexes;	 /* that the call waits on: of more than one this is the first */
	__u16 bytes;	 /* at words */
	__u8 key;	 /* enum usc_futex_key */
	__u8 flags;	 /* USC_FUTEX_* */
	char words[];
};

#define USC_FD_CWD (-100) /* fd: what is told of is the working directory, of a process without a root of its own */
#define USC_FD_END (-101) /* fd: all has been told; head.time is after it was read. No target */
#define USC_FD_CLOEXEC 1  /* closed by an exec */

/* A descriptor that a process had when it came into the trace, by /proc: head.time is before that was read. */
struct usc_fd {
	struct usc_record head;
	__u32 process;
	__s32 fd;
	__u32 flags;
	__u16 target_bytes; /* at target: what /proc/PID/fd/N points to. No NUL */
	__u16 pad;
	char target[];
};

#define USC_JIT_NAME_BYTES 4096 /* longest name; a longer one is cut */

USC_ASSERT_SIZE(usc_raw_header, 40);
USC_ASSERT_SIZE(usc_record, 24);
USC_ASSERT_SIZE(usc_event, 104);
USC_ASSERT_SIZE(usc_stack, 40);
USC_ASSERT_SIZE(usc_task, 96);
USC_ASSERT_SIZE(usc_exec, 72);
USC_ASSERT_SIZE(usc_task_exit, 40);
USC_ASSERT_SIZE(usc_task_name, 40);
USC_ASSERT_SIZE(usc_map, 56);
USC_ASSERT_SIZE(usc_unmap, 48);
USC_ASSERT_SIZE(usc_file_key, 40);
USC_ASSERT_SIZE(usc_file, 104);
USC_ASSERT_SIZE(usc_segment, 24);
USC_ASSERT_SIZE(usc_file_info, 56);
USC_ASSERT_SIZE(usc_sample, 248);
USC_ASSERT_SIZE(usc_verify, 48);
USC_ASSERT_SIZE(usc_loss, 48);
USC_ASSERT_SIZE(usc_meta, 24);
USC_ASSERT_SIZE(usc_cpu_total, 32);
USC_ASSERT_SIZE(usc_io_uring, 32);
USC_ASSERT_SIZE(usc_jit_name, 56);
USC_ASSERT_SIZE(usc_logged, 88);
USC_ASSERT_SIZE(usc_log_kind, 32);
USC_ASSERT_SIZE(usc_kernel_place, 32);
USC_ASSERT_SIZE(usc_string, 40);
USC_ASSERT_SIZE(usc_futex, 104);
USC_ASSERT_SIZE(usc_fd, 40);

#endif
