/* SPDX-License-Identifier: GPL-2.0-or-later OR MIT */
/*
 * For other kernel modules: events of their own in uscope's trace, with the stacks of the moment. All functions may be
 * called from anywhere but NMIs, and mean the current task, also in interrupts; they neither sleep nor fault. What is
 * logged while no tracer traces costs a look and nothing else.
 */
#ifndef USCOPE_LOG_H
#define USCOPE_LOG_H

#include <linux/types.h>

/* Flags: the current task's user stack, in the tracer's scope; the callers of the function, 64 at most, of which no
 * address leaves, but module and offset. */
#define USC_LOG_USER_STACK 1
#define USC_LOG_KERNEL_STACK 2

/* Is the current task being traced? */
bool usc_task_traced(void);

/*
 * Logs an event of the caller's kind with up to six values. 0; -ENOENT: the current task is not traced; -ENODEV: no
 * tracer traces; -EBUSY: called from inside the tracer itself (counted as a loss, recursion); -ENOSPC: no room
 * (counted); -EOPNOTSUPP: in an NMI, or where a breakpoint in the kernel is handled (a kprobe that is none of ftrace's;
 * counted where it interrupted a traced task); -EINVAL. `kind` is below 0x80000000.
 */
int usc_log_event(u32 kind, const u64 *values, unsigned int count, unsigned int flags);

/*
 * The same under a name of 1 to 64 bytes, which the trace tells beside the events. Of the kernel stack, what comes
 * first is left out where it is the calling module's own, or that by which the kernel calls probes. -ENOSPC also
 * (counted): more than 256 names in one session.
 */
int usc_log_named(const char *name, const u64 *values, unsigned int count, unsigned int flags);

/*
 * For printing: the innermost frame of the application's binaries on the current task's user stack, as the name and
 * the offset in that file ("nginx+0x4c1f"; 0-terminated, cut at `room` bytes), and its address. Nothing is logged or
 * counted. 0; -ENOENT, -ENODEV, -EBUSY, -EOPNOTSUPP as above; -ENODATA: there is none; -EAGAIN: it cannot be found here
 * and now (mappings may not be looked up, and are in no cache).
 */
int usc_app_frame(u64 *pc, char *text, unsigned int room);

#endif
