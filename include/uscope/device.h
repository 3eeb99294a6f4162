/* SPDX-License-Identifier: GPL-2.0-or-later OR MIT */
/*
 * /dev/uscope: how a tracer drives the kernel module (docs/adr/0004-kernel-module.md). One opener at a time, with
 * CAP_SYS_ADMIN, or CAP_PERFMON and CAP_BPF's like (CAP_SYSLOG is asked for PROBES only: no other request has kernel
 * addresses leave the module). A second open() fails with EBUSY; /sys/module/uscope/parameters/holder then says who it is.
 *
 * Every structure begins with its size, which must be the one below, and every field named `reserved` must be 0: EINVAL
 * otherwise. START with a query (query.h) of an unknown version ends with EPROTONOSUPPORT, with another one that cannot
 * be run with EINVAL. Addresses are those of the calling process.
 *
 * Order: START once, then tables and files as they come, PROBES, LAUNCH or TARGETs, ATTACH, for what runs already ADOPT, MAPPINGS
 * and ATTACHED, CLOSE_ENTRIES, DETACH; closing the descriptor does what is still to be done of the last two, and frees
 * all. USC_DEVICE_PHASES below says in which phases each request may be asked. A request that comes too early ends with
 * ENODATA, and one that comes too late with EALREADY; neither changes anything. From DETACH on, and after an ATTACH that
 * failed, the module keeps no task, so nothing can be asked of one.
 *
 * Rings. START makes one for each processor, and says how large its region is: a page with struct usc_ring_control, then
 * the data. mmap() of region number N begins at N * region_bytes: the control page (shared, may be written) and the data
 * (shared, read only) are mapped apart. Records lie in the data as they are, 8-byte aligned, and go on at its beginning
 * behind its end: map the data twice, one behind the other, and each record is in one piece. `head` moves when a record
 * is complete; the reader moves `tail` when it has done with one. Both only grow; modulo ring_bytes they are places.
 *
 * poll() says POLLIN when an urgent record has come since the last read(), which gives their number (8 bytes), or EAGAIN.
 */
#ifndef USCOPE_DEVICE_H
#define USCOPE_DEVICE_H

#include <linux/errno.h>
#include <linux/ioctl.h>

#include "control.h"
#include "file_slots.h"
#include "probes.h"

#define USC_DEVICE_NAME "uscope"
#define USC_DEVICE_PATH "/dev/uscope"
#define USC_DEVICE_ABI 11 /* moves with every change of this file */

/* What START accepts. */
#define USC_DEVICE_RING_MIN (1u << 16)
#define USC_DEVICE_RING_MAX (1u << 26)
#define USC_DEVICE_ROWS_MAX (1u << 25)
#define USC_DEVICE_INDEX_MAX (1u << 23)
#define USC_DEVICE_RULES_MAX (1u << 16)
#define USC_DEVICE_TABLES_MAX USC_FILE_SLOTS

struct usc_device_version {
	__u32 size;
	__u32 device_abi;
	__u32 control_abi;
	__u32 record_abi;
	char module_version[32]; /* NUL-ended */
};

struct usc_device_start {
	__u32 size;
	__u32 reserved;
	struct usc_config config; /* cpus: those that the kernel can have */
	__u32 ring_bytes;	  /* of each processor, a power of two */
	__u32 rows;		  /* of all tables together, at most; so the next two */
	__u32 index_entries;
	__u32 rules;
	__u64 region_bytes; /* out */
};

/* The first page of a ring's region. */
struct usc_ring_control {
	__u64 head;
	__u64 head_line[7];
	__u64 tail;
	__u64 tail_line[7];
};

/* A table of unwind rows. It must hold what include/uscope/rows.h says; ENOSPC: no room is left. */
struct usc_device_table {
	__u32 size;
	__u32 table; /* out: its number, from 1 */
	__u64 rows;  /* addresses */
	__u64 index;
	__u64 rules;
	__u32 row_count;
	__u32 index_count;
	__u32 rule_count;
	__u32 text_start;
	__u32 text_end;
	__u32 reserved;
};

/* What is known of a file, once: EEXIST after that. `table` for USC_FILE_READY, else 0. */
struct usc_device_file {
	__u32 size;
	__u32 file;
	__u32 table;
	__u32 state;   /* enum usc_file_state */
	__u32 classes; /* USC_CLASS_* */
	__u32 reserved;
};

/* The key of the file that the caller has mapped at an address; ENOENT: none. */
struct usc_device_file_key {
	__u32 size;
	__u32 reserved;
	__u64 address;
	struct usc_file_key key; /* out */
};

/* A serial for a file that has not been met; EEXIST: it has. */
struct usc_device_reserve {
	__u32 size;
	__u32 file; /* out */
	struct usc_file_key key;
};

/*
 * Files that nothing maps any more, at most USC_FILE_SLOTS. FORGET, of keys (struct usc_file_key): who maps one of them from now on has
 * met another file; when it returns, all hooks that knew it have told of their mappings. RELEASE, of serials (__u32): their slots, and
 * tables of rows that no other file has, are free when it returns, and no walk looks for them.
 */
struct usc_device_files {
	__u32 size;
	__u32 count;
	__u64 buffer;
};

/* The process whose first execve begins the trace, as the caller's pid namespace numbers it; once: EALREADY after that. */
struct usc_device_launch {
	__u32 size;
	__s32 pid;
};

/* A name, number or control group of the target, as config.target.kinds has it; also numbers where it has names, and names
 * where it has a launched command. EINVAL: another kind. */
struct usc_device_target {
	__u32 size;
	__u32 kind;  /* one of USC_TARGET_APP, _PID, _CGROUP */
	__u64 value; /* the process's number in the caller's pid namespace, or the control group's id */
	char name[USC_APP_NAME_BYTES];
};

/* Tells of the executable mappings of a traced process, by its number in the caller's pid namespace; ESRCH: gone. */
struct usc_device_mappings {
	__u32 size;
	__s32 pid;
};

/* The calls that adopted threads wait in: ask again with more room where `count` is `capacity`. */
struct usc_device_attached {
	__u32 size;
	__u32 capacity; /* of the buffer; 1 … USC_DEVICE_ATTACHED_MAX */
	__u64 buffer;	/* struct usc_attached_call */
	__u32 count;	/* out */
	__u32 reserved;
};

#define USC_DEVICE_ATTACHED_MAX 65536

/* A stack id that no stack of the kernel's will have. RESEND: from now on, calls that begin name no smaller one, either;
 * stacks that were sent before are sent anew where they come again. */
struct usc_device_stack {
	__u32 size;
	__u32 stack; /* out */
};

/* Calls under way that began before `before_ns` and have not been listed: call again while `count` is `capacity`. */
struct usc_device_open_calls {
	__u32 size;
	__u32 capacity; /* of the buffer, in events; 1 … USC_DEVICE_OPEN_CALLS_MAX */
	__u64 before_ns;
	__u64 buffer; /* struct usc_event */
	__u32 count;  /* out */
	__u32 reserved;
	__u64 traced; /* out: tasks being traced */
};

#define USC_DEVICE_OPEN_CALLS_MAX 4096

struct usc_device_stats {
	__u32 size;
	__u32 cpu;
	__u64 sequence; /* out: sequence numbers given out */
	struct usc_stats stats;
};

struct usc_device_loss {
	struct usc_loss_key key;
	__u64 count;
};

#define USC_DEVICE_LOSSES_MAX 4096

struct usc_device_losses {
	__u32 size;
	__u32 capacity; /* of the buffer; 1 … USC_DEVICE_LOSSES_MAX */
	__u64 buffer;	/* struct usc_device_loss */
	__u32 count;	/* out */
	__u32 reserved;
};

/*
 * The rows of one processor that a question has summed since they were asked for last, and clears them. With `cpu` 0, all
 * processors go on in other tables first: ask for each processor, from 0 on. ENODATA: config has no question.
 */
struct usc_device_rows {
	__u32 size;
	__u32 cpu;
	__u64 buffer; /* USC_QUERY_ROWS of struct usc_query_row */
	__u32 count;  /* out */
	__u32 reserved;
};

/* Where a probe of a plan is: at a function of the kernel, of which ftrace must know. */
struct usc_device_place {
	__u64 address;
	__u32 probe; /* its place in the plan, from 0 */
	__u32 reserved;
};

#define USC_DEVICE_PLACES_MAX (1u << 17)

/* How the names of functions begin that the kernel calls where a function returns by way of a hook: their own returns would
 * be hooked again and again, without end, so that these are refused. */
#define USC_DEVICE_SERVE_RETURNS                                                                                       \
	"kretprobe", "__kretprobe", "rethook", "arch_rethook", "objpool", "kprobe", "get_kprobe"

/*
 * What is traced beside system calls: functions of the kernel (uscope/probes.h; a kind of another source: EINVAL), once for a
 * session: EALREADY after that. Hits come as usc_hit with USC_HIT_ADDRESSES: EPERM without CAP_SYSLOG or CAP_SYS_ADMIN, or where the kernel is locked down.
 * Several probes may be at one address.
 */
struct usc_device_probes {
	__u32 size;
	__u32 count;	   /* 1 … USC_PROBES_MOST */
	__u64 probes;	   /* struct usc_probe */
	__u64 places;	   /* struct usc_device_place */
	__u32 place_count; /* 1 … USC_DEVICE_PLACES_MAX */
	__u32 reserved;
	__u64 refused; /* in: 0; out: the address of a place that cannot be probed: then no probe was taken. 0: all were */
};

#define USC_DEVICE_VERSION _IOWR('u', 0x70, struct usc_device_version)
#define USC_DEVICE_START _IOWR('u', 0x71, struct usc_device_start)
#define USC_DEVICE_TABLE _IOWR('u', 0x72, struct usc_device_table)
#define USC_DEVICE_FILE _IOW('u', 0x73, struct usc_device_file)
#define USC_DEVICE_FILE_KEY _IOWR('u', 0x74, struct usc_device_file_key)
#define USC_DEVICE_RESERVE _IOWR('u', 0x75, struct usc_device_reserve)
#define USC_DEVICE_LAUNCH _IOW('u', 0x76, struct usc_device_launch)
#define USC_DEVICE_ATTACH _IO('u', 0x77)
#define USC_DEVICE_CLOSE_ENTRIES _IO('u', 0x78)
#define USC_DEVICE_DETACH _IO('u', 0x79)
#define USC_DEVICE_OPEN_CALLS _IOWR('u', 0x7a, struct usc_device_open_calls)
#define USC_DEVICE_STATS _IOWR('u', 0x7b, struct usc_device_stats)
#define USC_DEVICE_LOSSES _IOWR('u', 0x7c, struct usc_device_losses)

#define USC_DEVICE_TARGET _IOW('u', 0x7d, struct usc_device_target)
#define USC_DEVICE_ADOPT _IO('u', 0x7e)
#define USC_DEVICE_MAPPINGS _IOW('u', 0x7f, struct usc_device_mappings)
#define USC_DEVICE_ATTACHED _IOWR('u', 0x80, struct usc_device_attached)
#define USC_DEVICE_STACK _IOWR('u', 0x81, struct usc_device_stack)
#define USC_DEVICE_ROWS _IOWR('u', 0x82, struct usc_device_rows)
#define USC_DEVICE_RESEND _IOWR('u', 0x83, struct usc_device_stack)
#define USC_DEVICE_FORGET _IOW('u', 0x85, struct usc_device_files)
#define USC_DEVICE_RELEASE _IOW('u', 0x86, struct usc_device_files)
#define USC_DEVICE_PROBES _IOWR('u', 0x84, struct usc_device_probes)

/* The phases of an open descriptor, in their order. */
#define USC_PHASE_OPENED 1  /* nothing has been asked for yet */
#define USC_PHASE_STARTED 2 /* after START: memory and rings are there */
#define USC_PHASE_TRACING 4 /* after ATTACH: the hooks are there */
#define USC_PHASE_CLOSING 8 /* after CLOSE_ENTRIES: only the hooks of calls' entries and of functions have gone */
#define USC_PHASE_ENDED 16  /* after DETACH or an ATTACH that failed: no hook and no task; rings and counters stay */

#define USC_PHASES_HOOKED (USC_PHASE_TRACING | USC_PHASE_CLOSING)
#define USC_PHASES_STARTED (USC_PHASE_STARTED | USC_PHASES_HOOKED | USC_PHASE_ENDED)
#define USC_PHASES_ALL (USC_PHASE_OPENED | USC_PHASES_STARTED)

/* The phases in which each request may be asked. */
#define USC_DEVICE_PHASES(X)                                                                                           \
	X(USC_DEVICE_VERSION, USC_PHASES_ALL)                                                                          \
	X(USC_DEVICE_START, USC_PHASE_OPENED)                                                                          \
	X(USC_DEVICE_TABLE, USC_PHASES_STARTED)                                                                        \
	X(USC_DEVICE_FILE, USC_PHASES_STARTED)                                                                         \
	X(USC_DEVICE_FILE_KEY, USC_PHASES_ALL)                                                                         \
	X(USC_DEVICE_RESERVE, USC_PHASES_STARTED)                                                                      \
	X(USC_DEVICE_FORGET, USC_PHASES_STARTED)                                                                       \
	X(USC_DEVICE_RELEASE, USC_PHASES_STARTED)                                                                      \
	X(USC_DEVICE_PROBES, USC_PHASE_STARTED)                                                                        \
	X(USC_DEVICE_LAUNCH, USC_PHASE_STARTED)                                                                        \
	X(USC_DEVICE_TARGET, USC_PHASE_STARTED)                                                                        \
	X(USC_DEVICE_ATTACH, USC_PHASE_STARTED)                                                                        \
	X(USC_DEVICE_ADOPT, USC_PHASE_TRACING)                                                                         \
	X(USC_DEVICE_MAPPINGS, USC_PHASES_HOOKED)                                                                      \
	X(USC_DEVICE_ATTACHED, USC_PHASE_TRACING)                                                                      \
	X(USC_DEVICE_OPEN_CALLS, USC_PHASES_HOOKED)                                                                    \
	X(USC_DEVICE_STACK, USC_PHASES_STARTED)                                                                        \
	X(USC_DEVICE_RESEND, USC_PHASES_STARTED)                                                                       \
	X(USC_DEVICE_CLOSE_ENTRIES, USC_PHASE_TRACING)                                                                 \
	X(USC_DEVICE_DETACH, USC_PHASES_HOOKED)                                                                        \
	X(USC_DEVICE_ROWS, USC_PHASES_STARTED)                                                                         \
	X(USC_DEVICE_STATS, USC_PHASES_STARTED)                                                                        \
	X(USC_DEVICE_LOSSES, USC_PHASES_STARTED)

/* May a request be asked in this phase? 0, ENODATA (not yet), EALREADY (not any more), ENOTTY (there is none such). */
static inline int usc_device_refusal(unsigned int command, unsigned int phase)
{
	unsigned int allowed = 0;

	switch (command) {
#define USC_X(name, phases)                                                                                            \
	case name:                                                                                                     \
		allowed = phases;                                                                                      \
		break;
		USC_DEVICE_PHASES(USC_X)
#undef USC_X
	default:
		return ENOTTY;
	}
	if (allowed & phase)
		return 0;
	/* Phases are bits in their order: a smaller number has all of its phases behind it. */
	return allowed < phase ? EALREADY : ENODATA;
}

USC_ASSERT_SIZE(usc_device_version, 48);
USC_ASSERT_SIZE(usc_device_start, 11488);
USC_ASSERT_SIZE(usc_ring_control, 128);
USC_ASSERT_SIZE(usc_device_table, 56);
USC_ASSERT_SIZE(usc_device_file, 24);
USC_ASSERT_SIZE(usc_device_file_key, 56);
USC_ASSERT_SIZE(usc_device_reserve, 48);
USC_ASSERT_SIZE(usc_device_files, 16);
USC_ASSERT_SIZE(usc_device_launch, 8);
USC_ASSERT_SIZE(usc_device_open_calls, 40);
USC_ASSERT_SIZE(usc_device_target, 272);
USC_ASSERT_SIZE(usc_device_mappings, 8);
USC_ASSERT_SIZE(usc_device_attached, 24);
USC_ASSERT_SIZE(usc_device_stack, 8);
USC_ASSERT_SIZE(usc_device_rows, 24);
USC_ASSERT_SIZE(usc_device_place, 16);
USC_ASSERT_SIZE(usc_device_probes, 40);
USC_ASSERT_SIZE(usc_device_loss, 16);
USC_ASSERT_SIZE(usc_device_losses, 24);

#endif
