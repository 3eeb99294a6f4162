/* SPDX-License-Identifier: GPL-2.0-or-later OR MIT */
/*
 * Which processes a trace is of (docs/architecture.md, "What runs already"). A name is that of the executable or of the
 * script that it interprets, without folders.
 */
#ifndef USCOPE_TARGET_H
#define USCOPE_TARGET_H

#include "base.h"

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

#endif
