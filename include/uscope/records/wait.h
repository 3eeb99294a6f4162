/* SPDX-License-Identifier: GPL-2.0-or-later OR MIT */
/*
 * A look: what each traced thread waits in at one moment, and who holds what it waits for. The tracer makes these records
 * in user space. A look is the records between a usc_look that begins it and one that ends it and counts them; a reader
 * takes no look that is not whole. `look` is the number of the look, the same in all its records; head.time is when
 * its reading began.
 */
#ifndef USCOPE_RECORDS_WAIT_H
#define USCOPE_RECORDS_WAIT_H

#include "uscope/records/head.h"

#define USC_LOOK_BEGIN 0
#define USC_LOOK_END 1

struct usc_look {
	struct usc_record head;
	__u32 look;
	__u32 end;     /* USC_LOOK_BEGIN, USC_LOOK_END */
	__u64 records; /* of the end: how many records lie between the two */
};

enum usc_thread_state {
	USC_THREAD_UNKNOWN,
	USC_THREAD_RUNNING,
	USC_THREAD_ASLEEP,
	USC_THREAD_UNINTERRUPTIBLE,
	USC_THREAD_STOPPED,
	USC_THREAD_TRACED, /* stopped by who traces it with ptrace */
	USC_THREAD_FROZEN, /* by its cgroup */
	USC_THREAD_ENDED,
	USC_THREAD_STATES
};

#define USC_TIMED_NEVER 0 /* the call does not end by itself */
#define USC_TIMED_YES 1
#define USC_TIMED_UNKNOWN 2

#define USC_PARENT_OUTSIDE 0xffffffffu /* the parent is in no pid namespace that uscope sees */

/* head.task: the thread. */
struct usc_thread_look {
	struct usc_record head;
	__u32 look;
	__u32 tracer_pid; /* who traces it with ptrace; 0: nobody */
	__u64 args[6];	  /* of the call that it is in */
	__u32 nr;
	__u8 abi;     /* enum usc_abi */
	__u8 in_call; /* 1: it is in the call of nr and args */
	__u8 state;   /* enum usc_thread_state */
	__u8 asleep;  /* 1: it has not run between the beginning and the end of the look */
	__u8 timed;
	__u8 stop_signal; /* of USC_THREAD_STOPPED; 0: not known */
	__u8 has_caught;  /* 1: `caught` is known */
	__u8 by_timer;	  /* 1: a timer may send the process a signal of `caught` while the thread sleeps */
	__u32 parent;	  /* of its process, as the kernel has it now; 0: not known */
	char tracer[16];  /* the name of tracer_pid */
	/* Signals with handlers that some thread lets in: bit 0 is signal 1. */
	__u64 caught;
};

enum usc_waited_kind {
	USC_WAITED_DESCRIPTOR,
	USC_WAITED_CHILD,
	USC_WAITED_VFORK,
	USC_WAITED_PIDFD,
	USC_WAITED_OWNER, /* of a futex: a number beside its word is that of a thread which is not traced */
	USC_WAITED_KINDS
};
enum usc_wants_kind {
	USC_WANTS_READ,
	USC_WANTS_WRITE,
	USC_WANTS_READ_OR_WRITE,
	USC_WANTS_LOCK,
	USC_WANTS_CONNECT,
	USC_WANTS_ACCEPT,
	USC_WANTS_OTHER,
	USC_WANTS_KINDS
};
#define USC_WAITED_NO_FD (-1)

/* One thing that the call of the thread head.task waits for. */
struct usc_waited {
	struct usc_record head;
	__u32 look;
	__s32 fd;     /* USC_WAITED_DESCRIPTOR. USC_WAITED_NO_FD: a file in a set that no longer has its number */
	__s32 via_fd; /* the epoll descriptor, or USC_WAITED_NO_FD */
	__u32 pid; /* of the others; 0: any child, or tracee. Of a descriptor: bytes that the call asks for there; 0: not known */
	__u32 pgid; /* any child of this process group; 0: of any. Of a descriptor: buffers of such a call; 0: has no list.
		     * Of USC_WAITED_OWNER: the thread's number, as the waiter's pid namespace has it */
	__u8 what;  /* enum usc_waited_kind */
	__u8 wants; /* enum usc_wants_kind */
	__u8 pad[2];
};

enum usc_resource_type {
	USC_RESOURCE_OTHER,
	USC_RESOURCE_PIPE,
	USC_RESOURCE_FIFO,
	USC_RESOURCE_UNIX,
	USC_RESOURCE_INET,
	USC_RESOURCE_EVENTFD,
	USC_RESOURCE_PIDFD,
	USC_RESOURCE_EPOLL,
	USC_RESOURCE_SIGNALFD,
	USC_RESOURCE_TIMERFD,
	USC_RESOURCE_INOTIFY,
	USC_RESOURCE_MQUEUE,
	USC_RESOURCE_TTY,
	USC_RESOURCE_FILE,
	USC_RESOURCE_DEVICE,
	USC_RESOURCE_PTMX, /* the master's side of a pseudo-terminal; the other one is a tty */
	/* A file system that holds up a call: `dev` is its device, `queued` how many calls wait for its server. With the
	 * fd of what the call is about (below USC_RESOURCE_IN_FLIGHT) the name tells where it is mounted and what it is;
	 * with another one, this is a descriptor of its server. */
	USC_RESOURCE_MOUNT,
	USC_RESOURCE_TYPES
};
#define USC_ACCESS_READ 1
#define USC_ACCESS_WRITE 2

#define USC_RESOURCE_NONBLOCKING 1
#define USC_RESOURCE_LISTENS 2
#define USC_RESOURCE_LISTENING_KNOWN 4 /* whether it listens is known */
#define USC_RESOURCE_HAS_PEER 8
#define USC_RESOURCE_HAS_QUEUED 16
#define USC_RESOURCE_HAS_ROOM 32
#define USC_RESOURCE_HAS_OBJECT 64 /* dev and ino */

#define USC_RESOURCE_AT_ATTACH 0
#define USC_RESOURCE_AT_LOOK 1
/* fd: in the queue of a unix socket; of USC_RESOURCE_OTHER it is not known what, and the name is the socket's. Below:
 * a FIFO that a thread waits to open, or a file whose file system a call waits for */
#define USC_RESOURCE_IN_FLIGHT (-1)
#define USC_RESOURCE_MAPPED (-0x7fffffff - 1) /* a locked file that the process maps */

/* A descriptor that a process holds. */
struct usc_resource {
	struct usc_record head;
	__u32 look;
	__u32 process; /* serial; 0: not traced */
	__u32 pid;     /* of the initial namespace */
	__s32 fd;
	__u64 dev;
	__u64 ino;
	__u64 peer;   /* inode of the other end; of a pidfd the pid; of a pseudo-terminal its number */
	__u64 queued; /* bytes or entries that wait to be read there */
	__u64 room;   /* bytes that can be written */
	__u8 type;    /* enum usc_resource_type */
	__u8 access;
	__u8 flags;
	__u8 at;
	__u16 name_bytes; /* at name, no NUL */
	__u16 pad;
	char comm[16]; /* the process's name */
	char name[];
};

enum usc_lock_kind {
	USC_LOCK_FLOCK,
	USC_LOCK_POSIX,
	USC_LOCK_OFD,
	USC_LOCK_LEASE,
	USC_LOCK_SEM,
	USC_LOCK_MSG,
	USC_LOCK_MQUEUE,
	USC_LOCK_KINDS
};
#define USC_LOCK_READ 0
#define USC_LOCK_WRITE 1

#define USC_LOCK_WAITS 1 /* it waits for the lock that has the same id */
#define USC_LOCK_GONE 2	 /* no process has this pid any more */
#define USC_LOCK_GONE_KNOWN 4
#define USC_LOCK_HAS_RANGE 8
#define USC_LOCK_TO_END 16 /* `last` means nothing */
#define USC_LOCK_HAS_OBJECT 32
#define USC_LOCK_HAS_PID 64

/* A lock of a file or a System V object, or who waits for it. */
struct usc_held_lock {
	struct usc_record head;
	__u32 look;
	__u32 id; /* of a semaphore its number; of a message queue 0: who sent last, 1: who received last */
	__s32 pid;
	__u32 process; /* serial; 0: not traced */
	__u64 dev;     /* of System V objects their key */
	__u64 ino;     /* of System V objects their id */
	__u64 first;
	__u64 last;
	__u8 kind; /* enum usc_lock_kind */
	__u8 mode;
	__u8 flags;
	__u8 pad[5];
};

enum usc_monitor_kind {
	USC_MONITOR_ENTER,
	USC_MONITOR_WAIT,
	USC_MONITOR_PARK,
	USC_MONITOR_LOCK, /* no Java: a lock of a run-time system, by its name (of a stream, Python's GIL) */
	USC_MONITOR_KINDS
};

/* What the thread head.task waits for: a Java object, or a lock whose owner only the process's memory tells. */
struct usc_monitor {
	struct usc_record head;
	__u32 look;
	__u32 owner_tid; /* of the initial namespace; 0: none, or not known */
	__u64 object;
	__u8 what;
	__u8 pad;
	__u16 class_bytes;  /* at text */
	__u16 thread_bytes; /* behind it: the Java thread's name */
	__u16 pad_2;
	char text[];
};

/* Something that the look could not read. */
struct usc_look_trouble {
	struct usc_record head;
	__u32 look;
	__u32 process; /* serial; 0: of none in particular */
	__u32 text_bytes;
	__u32 pad;
	char text[];
};

USC_ASSERT_SIZE(usc_look, 48);
USC_ASSERT_SIZE(usc_thread_look, 128);
USC_ASSERT_SIZE(usc_waited, 56);
USC_ASSERT_SIZE(usc_resource, 112);
USC_ASSERT_SIZE(usc_held_lock, 88);
USC_ASSERT_SIZE(usc_monitor, 56);
USC_ASSERT_SIZE(usc_look_trouble, 48);

#endif
