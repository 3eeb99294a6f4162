/* SPDX-License-Identifier: GPL-2.0-or-later OR MIT */
/*
 * Which processes a trace is of (docs/architecture.md, "What runs already"). A process goes by several names, all
 * without folders, and each of them counts:
 * - that of its executable, whatever link led to it;
 * - the one that it was executed by, which may be a link's (redis-server, python3). The name of its first thread (comm)
 *   begins as that one, cut to 15 bytes;
 * - its argument number 0, as it was given to exec;
 * - that of the script that it interprets.
 * At an exec, all four are looked at. Of processes that run already, the tracer looks at them (tracer/process/
 * process_list.h, `ProcessNames`) and gives the numbers of those that match. The kernel side looks at the first thread's
 * name and the executable's, and of the current process at its arguments, for those that have come since.
 */
#ifndef USCOPE_TARGET_H
#define USCOPE_TARGET_H

#include "uscope/base/base.h"

#define USC_TARGET_LAUNCH 1u /* the command that the tracer starts, from its first execve on */
#define USC_TARGET_APP 2u    /* processes by name */
#define USC_TARGET_PID 4u    /* processes that run when tracing begins, by number */
#define USC_TARGET_CGROUP 8u /* members of control groups (version 2) and of their descendants */

#define USC_APP_NAME_BYTES 256 /* with the ending NUL; the kernel's NAME_MAX is 255 */

struct usc_target {
	__u32 kinds;  /* one of USC_TARGET_* */
	__u32 follow; /* enum usc_follow */
};

/* The first eight bytes of a name as a number, as a little-endian machine reads them. */
#define USC_WORD(a, b, c, d, e, f, g)                                                                                  \
	((__u64)(a) | (__u64)(b) << 8 | (__u64)(c) << 16 | (__u64)(d) << 24 | (__u64)(e) << 32 | (__u64)(f) << 40 |    \
	 (__u64)(g) << 48)

/* Is this the name, up to a version number behind it? `length` is that of the name, at most 7. */
USC_INLINE int usc_is_versioned(__u64 word, __u64 name, __u32 length)
{
	__u64 mask = (1ull << length * 8) - 1;
	__u32 next = word >> length * 8 & 0xff;

	return (word & mask) == name && (next == 0 || next == '.' || next == '-' || (next >= '0' && next <= '9'));
}

/*
 * Does a program of this name interpret the file that its first argument names? `word`: the name's first eight bytes,
 * zeroes behind its end. For others, an argument is no name of the application: `grep nginx` is not nginx.
 */
USC_INLINE int usc_is_interpreter(__u64 word)
{
	return usc_is_versioned(word, USC_WORD('s', 'h', 0, 0, 0, 0, 0), 2) ||
	       usc_is_versioned(word, USC_WORD('a', 's', 'h', 0, 0, 0, 0), 3) ||
	       usc_is_versioned(word, USC_WORD('b', 'a', 's', 'h', 0, 0, 0), 4) ||
	       usc_is_versioned(word, USC_WORD('d', 'a', 's', 'h', 0, 0, 0), 4) ||
	       usc_is_versioned(word, USC_WORD('k', 's', 'h', 0, 0, 0, 0), 3) ||
	       usc_is_versioned(word, USC_WORD('z', 's', 'h', 0, 0, 0, 0), 3) ||
	       usc_is_versioned(word, USC_WORD('p', 'y', 't', 'h', 'o', 'n', 0), 6) ||
	       usc_is_versioned(word, USC_WORD('p', 'e', 'r', 'l', 0, 0, 0), 4) ||
	       usc_is_versioned(word, USC_WORD('r', 'u', 'b', 'y', 0, 0, 0), 4) ||
	       usc_is_versioned(word, USC_WORD('p', 'h', 'p', 0, 0, 0, 0), 3) ||
	       usc_is_versioned(word, USC_WORD('n', 'o', 'd', 'e', 0, 0, 0), 4) ||
	       usc_is_versioned(word, USC_WORD('n', 'o', 'd', 'e', 'j', 's', 0), 6) ||
	       usc_is_versioned(word, USC_WORD('l', 'u', 'a', 0, 0, 0, 0), 3) ||
	       usc_is_versioned(word, USC_WORD('t', 'c', 'l', 's', 'h', 0, 0), 5) ||
	       usc_is_versioned(word, USC_WORD('g', 'u', 'i', 'l', 'e', 0, 0), 5);
}

#define USC_ARGUMENT_BYTES 1024 /* looked at of a process's arguments; a power of two */
#define USC_LAST_ARGUMENT 3	/* the script's name stands no further behind the interpreter's options */

/* Where a look through the arguments of an interpreter is. It begins with zeroes. */
struct usc_argument_scan {
	__u32 argument; /* number of the one being read */
	__u32 start;	/* where it starts */
	__u32 base;	/* behind its last slash */
	__u32 found;
};

/*
 * Looks for the script that an interpreter was told to interpret: the first argument behind number 0 that is no option.
 * Called with i = 0, 1, … for the bytes of the arguments, each of which ends with a NUL. Returns 1 when the search has
 * ended; if `found` is set, the script's name without folders stands at text + base.
 */
USC_INLINE int usc_scan_argument(struct usc_argument_scan *scan, const char *text, __u32 i)
{
	char c = text[i & (USC_ARGUMENT_BYTES - 1)];

	if (c == '/')
		scan->base = i + 1;
	if (c != 0)
		return 0;
	if (scan->argument > 0 && text[scan->start & (USC_ARGUMENT_BYTES - 1)] != '-') {
		scan->found = 1;
		return 1;
	}
	scan->argument++;
	scan->start = scan->base = i + 1;
	return scan->argument > USC_LAST_ARGUMENT;
}

#endif
