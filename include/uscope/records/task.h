/* SPDX-License-Identifier: GPL-2.0-or-later OR MIT */
/* Tasks (threads) and processes: how they come, what they execute, what they have, how they end. */
#ifndef USCOPE_RECORDS_TASK_H
#define USCOPE_RECORDS_TASK_H

#include "uscope/records/head.h"

#define USC_ARGV_DEFAULT 1024  /* longest argument list that is kept whole, if nothing else is asked for, */
#define USC_ARGV_LEAST 512     /* at least, */
#define USC_ARGV_MOST 32768    /* and at most */
#define USC_ARGV_END_BYTES 256 /* of them the end of a list that is longer */

#define USC_TASK_PROCESS 1  /* first thread of a new process */
#define USC_TASK_LAUNCHED 2 /* the launched command */
#define USC_TASK_ATTACHED 4 /* ran before the tracer came */
#define USC_TASK_EXEC_TID 8 /* the same thread under the leader's tid, after an exec by another thread */
/*
 * Who shares descriptors, and root and working directory, when the task comes into the trace. With FORKED the record describes it as
 * parent_task makes it, and the two below say what it shares with that one. Without, they say of a first thread that what
 * it has is its process's alone, and of another thread that it has what the first one has. Not set: it is not so, or it is
 * not known.
 */
#define USC_TASK_FORKED 16
#define USC_TASK_SAME_FILES 32 /* the table of descriptors */
#define USC_TASK_SAME_FS 64    /* root and working directory */
/* Without FORKED: a supervisor (seccomp's user notification) may change its descriptors; or that is not known. */
#define USC_TASK_SUPERVISED 128
/*
 * Of a first thread: whether the number that its C library notes in the thread's own structure, and writes into locks, is
 * the thread's own. It is after an exec of its own, and after fork(), for which the kernel writes it into that structure.
 * With neither flag, memory and structure are a copy (or the same) as clone() left them, and the number there is that of
 * the thread that called it; or nothing is known.
 */
#define USC_TASK_EXECUTED 256 /* it has executed a program since it was made */
#define USC_TASK_OWN_TID 512  /* the kernel was told to write its number into its thread structure */
/* For the collector: its executable mappings are a copy of mappings that are not known yet. It is to be asked for them. */
#define USC_TASK_UNMAPPED 1024
#define USC_TASK_USER 2048 /* `uid` is there */

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
	__u32 uid;    /* its effective user; says nothing without USC_TASK_USER */
	__u64 cgroup; /* its control group in the unified hierarchy, as usc_cgroup defines it; 0: not known */
	char name[16];
};

/*
 * A control group that a task of the trace is in, met for the first time. The components of its path follow as those of a
 * file's do (usc_file); none: the root of the hierarchy.
 */
struct usc_cgroup {
	struct usc_record head;
	__u64 cgroup; /* its number in the hierarchy of cgroup version 2, which the kernel uses once; the inode of its folder */
	__u32 path_bytes;
	__u32 truncated; /* 1: not all components fitted */
	char path[];
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
	__u32 path_bytes; /* bytes at data, no NUL */
	__u32 argv_bytes; /* bytes at data + path_bytes */
	__u32 argv_total; /* what argv really took */
	__u32 pad;
	__u64 cgroup;  /* as in usc_task, at the exec */
	char name[16]; /* the task's name after exec */
	char data[];
};

/* The last bytes of an argument list that was cut: in usc_exec.data behind what was kept of its beginning, on the next
 * multiple of eight. */
struct usc_argv_end {
	__u16 bytes; /* at text */
	__u16 pad[3];
	char text[];
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

/* The task's effective user is another one from now on. */
struct usc_task_user {
	struct usc_record head;
	__u32 uid; /* as the initial user namespace has it */
	__u32 pad;
};

/*
 * Only where a question reads USC_QUERY_GUISE: the task has another name or user from now on, behind a usc_task_name or
 * usc_task_user of the same time. Its events have `guise` in the place of their image's serial, and so have those of tasks that it makes.
 */
struct usc_guise {
	struct usc_record head;
	__u32 guise; /* a serial of its own, of those of images */
	__u32 image; /* the one that the task has */
	__u32 uid;
	__u32 pad;
	char name[16];
};

struct usc_io_uring {
	struct usc_record head;
	__u32 process;
	__u32 not_known; /* 1: it may use it; what would tell did not answer */
};

#define USC_FD_CWD (-100) /* fd: the record describes the working directory, of a process without a root of its own */
#define USC_FD_END (-101) /* fd: the last record of the list; head.time is after the list was read. No target */
#define USC_FD_CLOEXEC 1  /* closed by an exec */
#define USC_FD_FILE 2	  /* a struct usc_fd_file stands before the target */

/* Which file a descriptor refers to, and where its process finds files. */
struct usc_fd_file {
	__u64 dev; /* as the kernel numbers it: major << 20 | minor */
	__u64 ino;
	__u32 space; /* the mount namespace of the process, by its inode */
	__u32 pad;
};

/* A descriptor that a process had when it came into the trace, by /proc: head.time is before that was read. */
struct usc_fd {
	struct usc_record head;
	__u32 process;
	__s32 fd;
	__u32 flags;
	__u16 target_bytes; /* at target: what /proc/PID/fd/N points to; behind a socket's a space and its address. No NUL */
	__u16 pad;
	char target[];
};

USC_ASSERT_SIZE(usc_task, 112);
USC_ASSERT_SIZE(usc_cgroup, 48);
USC_ASSERT_SIZE(usc_argv_end, 8);
USC_ASSERT_SIZE(usc_exec, 96);
USC_ASSERT_SIZE(usc_task_exit, 48);
USC_ASSERT_SIZE(usc_task_name, 48);
USC_ASSERT_SIZE(usc_task_user, 40);
USC_ASSERT_SIZE(usc_guise, 64);
USC_ASSERT_SIZE(usc_io_uring, 40);
USC_ASSERT_SIZE(usc_fd, 48);
USC_ASSERT_SIZE(usc_fd_file, 24);

#endif
