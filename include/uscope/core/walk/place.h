/* SPDX-License-Identifier: GPL-2.0-or-later OR MIT */
/*
 * Where the current task is in its program, which is where its stack begins. It is not always the pc that the kernel has:
 *   in a system call, that is the next instruction's. It may be another function's, or be under another unwind row: where the
 *   call never returns, nothing need follow it. So the stack of such a task is looked up at the call's own instruction, as
 *   callers are (struct usc_frame: `exact`).
 *   at a breakpoint of the kernel (uprobes), it is the same until the kernel has found the probe (breakpoint.h). Then a copy of the
 *   probed instruction is executed in a page of the kernel's: its pc counts as that of the instruction.
 */
#ifndef USCOPE_CORE_PLACE_H
#define USCOPE_CORE_PLACE_H

#include "uscope/core/port.h"
#include "uscope/core/walk/breakpoint.h"

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

#define COPIED_INSTRUCTION_BYTES 128 /* arch/x86/include/asm/uprobes.h: UPROBE_XOL_SLOT_BYTES */

/*
 * Whatever the task is doing, whose entry is `t`. `in_kernel`: as it may be at any other time than that of an interrupt of the program's
 * own code.
 */
static __always_inline struct place place_now(const struct pt_regs *regs, const struct task_entry *t, bool in_kernel)
{
	struct place place = {.pc = regs->ip};
	struct task_struct *task = this_task();
	__u64 probed, copy, next;

	if ((int)regs->orig_ax != -1) {
		place.behind = in_kernel && is_behind_call(regs);
		return place;
	}
	copy = copied_instruction(task, &probed);
	if (copy && place.pc - copy < COPIED_INSTRUCTION_BYTES)
		place.pc += probed - copy;
	else if (in_kernel && (has_probes_in_files() || meets_probes(task))) {
		next = pc_of_done(regs, t);
		if (next)
			place.pc = next;
		else
			place.behind = is_behind_breakpoint(regs, t);
	}
	return place;
}

#endif
