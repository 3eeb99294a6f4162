/* SPDX-License-Identifier: GPL-2.0-or-later OR MIT */
/*
 * Which processes a trace is of (docs/architecture.md, "What runs already"). A process goes by several names, all
 * without folders, and each of them counts:
 * - that of its executable, whatever link led to it;
 * - the one that it was executed by, which may be a link's (redis-server, python3). The name of its first thread (comm)
 *   is that one, cut to 15 bytes, and counts as it is;
 * - its argument number 0, as it was given to exec;
 * - that of the script that it interprets (uscope/interpreter.h).
 * At an exec, all of these are looked at. Of processes that run already, the tracer looks at them (trace/process_names.h,
 * `ProcessNames`) and gives the numbers of those that match. The kernel side looks at the first thread's
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

#endif
