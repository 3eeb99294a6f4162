/* SPDX-License-Identifier: GPL-2.0-or-later OR MIT */
/*
 * Where the current task is in its program, which is where its stack begins. It is not always the pc that the kernel has:
 *   in a system call, that is the next instruction's. It may be another function's, or be under another unwind row: where the
 *   call never returns, nothing need follow it. So the stack of such a task is looked up at the call's own instruction, as
 *   callers are (struct usc_frame: `exact`).
 *   at a breakpoint of the kernel (uprobes), it is the same until the kernel has found the probe (core/arch). Then a copy of the
 *   probed instruction is executed in a page of the kernel's: its pc counts as that of the instruction.
 */
#ifndef USCOPE_CORE_PLACE_H
#define USCOPE_CORE_PLACE_H

#include "uscope/core/port.h"
#include "uscope/core/arch/arch.h"

struct place {
	__u64 pc;
	__u32 behind; /* the task is at the instruction before pc */
};

/* At the entry of a call, always: an instruction that is executed again is entered again. */
static __always_inline struct place place_at_entry(const struct pt_regs *regs)
{
	struct place place = {.pc = USC_REGS_PC(regs), .behind = 1};

	return place;
}

/*
 * Is the task in a system call, or on its way out of one? The kernel has the call's number, and -1 while it serves an
 * interrupt or a fault, and behind rt_sigreturn. Where it makes an interrupted call anew, or executes a program, pc has been
 * moved: then no call's instruction is before it. Nor is one where nothing can be read: a program that is being executed has not
 * been read in, and in the vsyscall page, where the kernel emulates calls, the task is at pc.
 */
static __always_inline bool is_behind_call(const struct pt_regs *regs)
{
	USC_CALL_CODE code;

	return !read_user(&code, sizeof(code), (const void *)(USC_REGS_PC(regs) - sizeof(code))) &&
	       USC_IS_CALL_INSTRUCTION(code);
}

/*
 * Whatever the task is doing, whose entry is `t`. `in_kernel`: as it may be at any other time than that of an interrupt of the program's
 * own code.
 */
static __always_inline struct place place_now(const struct pt_regs *regs, const struct task_entry *t, bool in_kernel)
{
	struct place place = {.pc = USC_REGS_PC(regs)};
	struct task_struct *task = this_task();
	__u64 probed, copy, next;

	if ((int)USC_REGS_CALL(regs) != -1) {
		place.behind = in_kernel && is_behind_call(regs);
		return place;
	}
	copy = copied_instruction(task, &probed);
	if (copy && place.pc - copy < USC_COPIED_INSTRUCTION_BYTES)
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
