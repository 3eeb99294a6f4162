/* SPDX-License-Identifier: GPL-2.0-or-later OR MIT */
/* Mappings, and the files behind them. */
#ifndef USCOPE_RECORDS_FILE_H
#define USCOPE_RECORDS_FILE_H

#include "uscope/records/head.h"

#define USC_PATH_BYTES 1024 /* longest path taken in the kernel */

#define USC_FILE_NONE 0u /* memory without a file */
#define USC_FILE_VDSO 1u /* offset counts from the vdso's start */
#define USC_FILE_FIRST 2u

/* An executable mapping, from its time on, in place of what was mapped there. */
struct usc_map {
	struct usc_record head;
	__u32 mm;
	__u32 file; /* USC_FILE_NONE: anonymous */
	__u64 start;
	__u64 end;
	__u64 offset; /* file offset of start */
};

/*
 * An executable mapping of a file in which the kernel puts no breakpoints: it is shared, or may be written to, or was so at the record's
 * time, before it was made executable. For the collector, and only where there are probes in files; it may come several times for one
 * mapping.
 */
struct usc_blind_map {
	struct usc_record head;
	__u32 mm;
	__u32 file;
	__u64 start;
	__u64 end;
	__u64 offset; /* file offset of start */
};

/*
 * A process may be about to have breakpoints in code that the kernel does not put there for us, or does what comes before that. For the
 * collector, and only where there are probes in files: any process of the machine. head.task is 0.
 */
enum usc_doubt {
	USC_DOUBT_DEBUGGED = 1, /* it has a debugger (ptrace), and has executed a program or maps code */
	USC_DOUBT_DEBUGGER, /* it attaches to the process `other`, or writes to its memory; `other` as its own pid namespace has it */
	USC_DOUBT_MEMORY_FILE, /* it opens a file `path` for writing that ends in "/mem" */
	USC_DOUBT_WRITABLE,    /* it makes the memory of a file writable, by a call at `pc` */
	USC_DOUBT_LOADS,       /* it maps code, having been started without a dynamic loader */
};

struct usc_code_doubt {
	struct usc_record head;
	__u32 reason; /* enum usc_doubt */
	__u32 pid;
	__u32 other;
	__u32 pad;
	__u64 start; /* of the memory; start and end 0: any */
	__u64 end;
	__u64 pc;
	char path[32];
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
	__u8 leased; /* some process has a lease on it (fcntl, F_SETLEASE) */
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
#define USC_CLASS_MIXED 4    /* it may hold functions of a run-time system, too, which are not the application's */

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

USC_ASSERT_SIZE(usc_map, 64);
USC_ASSERT_SIZE(usc_blind_map, 64);
USC_ASSERT_SIZE(usc_code_doubt, 104);
USC_ASSERT_SIZE(usc_unmap, 56);
USC_ASSERT_SIZE(usc_file_key, 40);
USC_ASSERT_SIZE(usc_file, 112);
USC_ASSERT_SIZE(usc_segment, 24);
USC_ASSERT_SIZE(usc_file_info, 64);

#endif
