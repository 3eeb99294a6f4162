/* SPDX-License-Identifier: GPL-2.0-or-later OR MIT */
/*
 * Where the current task is in its program, which is where its stack begins. It is not always the pc that the kernel has:
 *   in a system call, that is the next instruction's. It may be another function's, or be under another unwind row: where the
 *   call never returns, nothing need follow it. So the stack of such a task is looked up at the call's own instruction, as
 *   callers are (struct usc_frame: `exact`).
 *   at a breakpoint of the kernel (uprobes), it is the same until the kernel has found the probe: behind the breakpoint.
 *   Then a copy of the probed instruction is executed in a page of the kernel's: its pc counts as that of the instruction.
 */
#ifndef USCOPE_CORE_PLACE_H
#define USCOPE_CORE_PLACE_H

#include "uscope/core/port.h"

#define USER_CODE_SEGMENT 0x33	     /* asm/segment.h: of 64-bit programs */
#define XEN_USER_CODE_SEGMENT 0xe033 /* xen/interface/xen-x86_64.h: the same in a paravirtual guest */

struct place {
	__u64 pc;
	__u32 behind; /* the task is at the instruction before pc */
};

/* At the entry of a call, always: an instruction that is executed again is entered again. */
static __always_inline struct place place_at_entry(const struct pt_regs *regs)
{
	struct place place = {.pc = regs->ip, .behind = 1};

	return place;
}

/* Of the two bytes before pc: arch/x86/entry. A 32-bit program's sysenter does not count, its stacks are not walked. */
#define CODE_SYSCALL 0x050f
#define CODE_INT_0X80 0x80cd

/*
 * Is the task in a system call, or on its way out of one? The kernel has the call's number in orig_ax, and -1 while it serves an
 * interrupt or a fault, and behind rt_sigreturn. Where it makes an interrupted call anew, or executes a program, pc has been
 * moved: then no call's instruction is before it. Nor is one where nothing can be read: a program that is being executed has not
 * been read in, and in the vsyscall page, where the kernel emulates calls, the task is at pc.
 */
static __always_inline bool is_behind_call(const struct pt_regs *regs)
{
	__u16 code;

	return !read_user(&code, sizeof(code), (const void *)(regs->ip - sizeof(code))) &&
	       (code == CODE_SYSCALL || code == CODE_INT_0X80);
}

#define CODE_BREAKPOINT 0xcc
#define COPIED_INSTRUCTION_BYTES 128 /* arch/x86/include/asm/uprobes.h: UPROBE_XOL_SLOT_BYTES */

/*
 * Has the task come by a breakpoint just now? Once the kernel has found the probe, pc is that of the breakpoint. Padding before
 * a function may look like one, so this is asked only of a task that is in the kernel, and may be there for a probe. Limit: where
 * the kernel has done itself what an instruction of one byte would have done (push), the place looks the same until the
 * program goes on, some ten nanoseconds later: a stack that is taken then ends early.
 */
static __always_inline bool is_behind_breakpoint(struct task_struct *task, __u64 pc)
{
	__u8 code[2];

	if (!has_probes_in_files() && !meets_probes(task))
		return false;
	return !read_user(code, sizeof(code), (const void *)(pc - 1)) && code[0] == CODE_BREAKPOINT &&
	       code[1] != CODE_BREAKPOINT;
}

/* Whatever the task is doing. `in_kernel`: as it may be at any other time than that of an interrupt of the program's own code. */
static __always_inline struct place place_now(const struct pt_regs *regs, bool in_kernel)
{
	struct place place = {.pc = regs->ip};
	struct task_struct *task = this_task();
	__u64 probed, copy;

	if ((int)regs->orig_ax != -1) {
		place.behind = in_kernel && is_behind_call(regs);
		return place;
	}
	copy = copied_instruction(task, &probed);
	if (copy && place.pc - copy < COPIED_INSTRUCTION_BYTES)
		place.pc += probed - copy;
	else
		place.behind = in_kernel && is_behind_breakpoint(task, place.pc);
	return place;
}

#endif
