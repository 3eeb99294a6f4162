/* SPDX-License-Identifier: GPL-2.0-or-later OR MIT */
/*
 * Where a task is that the kernel (uprobes) has stopped at a breakpoint. Its pc is first the one behind the breakpoint; then that of
 * the breakpoint, as soon as the kernel has found the probe; and the one behind it again when the instruction is done, by the kernel
 * itself (push, nop) or in a page of copies. Where the instruction has one byte, the first pc and the last are the same. They mean
 * different places where the instruction moves the stack: the row at it holds first, the row behind it last.
 *
 * Such an instruction is known to be done by what it leaves behind, since the program has not gone on yet. A push leaves the stack
 * pointer 8 bytes below where it was, and a register's value there; pop and leave leave the value below the stack pointer.
 *   At a probe of ours, each hit notes where the stack pointer was and which instruction it is (struct met_probe).
 *   At a probe of others, a push is known that is the function's first: a register that it can name has the value at the stack pointer,
 *   a return address lies above that, and no push stands before it.
 * Limits: of others' probes behind other pushes, or on a pop, the stack ends early for some ten nanoseconds after the instruction. One byte of
 * padding before a function that a pointer calls looks like a breakpoint.
 */
#ifndef USCOPE_CORE_ARCH_X86_64_BREAKPOINT_H
#define USCOPE_CORE_ARCH_X86_64_BREAKPOINT_H

#include "uscope/core/port.h"
#include "uscope/probes.h"
#include "uscope/unwind.h"

/* Instructions of one byte that move the stack; the first two name one of eight registers. */
#define CODE_PUSH 0x50
#define CODE_POP 0x58
#define CODE_LEAVE 0xc9
#define CODE_REGISTERS 8
#define CODE_REGISTER_SP 4
/* What the kernel does by itself in more bytes: a push of r8 to r15, whose second byte is that of a push; a call. */
#define CODE_HIGH_REGISTER 0x41
#define CODE_CALL_BYTES 5

/* At each hit of a probe of ours. `place`: its cookie. */
static __always_inline void note_met_probe(struct task_entry *t, const struct pt_regs *regs, __u64 place)
{
	t->met_probe.pc = regs->ip;
	t->met_probe.sp = regs->sp;
	t->met_probe.code = usc_place_code(place);
}

static __always_inline __u8 code_at(__u64 address)
{
	__u8 code;

	return read_user(&code, sizeof(code), (const void *)address) ? 0 : code;
}

static __always_inline bool word_is(__u64 address, __u64 value)
{
	__u64 word;

	return !read_user(&word, sizeof(word), (const void *)address) && word == value;
}

static __always_inline __u64 register_of_code(const struct pt_regs *regs, __u32 number)
{
	switch (number) {
	case 0:
		return regs->ax;
	case 1:
		return regs->cx;
	case 2:
		return regs->dx;
	case 3:
		return regs->bx;
	case CODE_REGISTER_SP:
		return regs->sp;
	case 5:
		return regs->bp;
	case 6:
		return regs->si;
	default:
		return regs->di;
	}
}

static __always_inline __u64 high_register_of_code(const struct pt_regs *regs, __u32 number)
{
	switch (number) {
	case 0:
		return regs->r8;
	case 1:
		return regs->r9;
	case 2:
		return regs->r10;
	case 3:
		return regs->r11;
	case 4:
		return regs->r12;
	case 5:
		return regs->r13;
	case 6:
		return regs->r14;
	default:
		return regs->r15;
	}
}

/* Is the instruction done that was met at the stack pointer `sp`? False of those that leave the stack as it is. */
static __always_inline bool is_code_done(const struct pt_regs *regs, __u8 code, __u64 sp)
{
	__u32 number = code & (CODE_REGISTERS - 1);

	if (code - number == CODE_PUSH)
		return regs->sp == sp - 8 &&
		       word_is(regs->sp, number == CODE_REGISTER_SP ? sp : register_of_code(regs, number));
	if (code - number == CODE_POP)
		return regs->sp == sp + 8 && word_is(sp, register_of_code(regs, number));
	return code == CODE_LEAVE && regs->sp > sp && word_is(regs->sp - 8, regs->bp);
}

/* Is what lies at the stack pointer what a push of one byte has left there, whichever? */
static __always_inline bool looks_pushed(const struct pt_regs *regs)
{
	__u64 word;

	if (read_user(&word, sizeof(word), (const void *)regs->sp))
		return false;
	return word == regs->ax || word == regs->cx || word == regs->dx || word == regs->bx || word == regs->bp ||
	       word == regs->si || word == regs->di || word == regs->sp + 8;
}

/* Is the word at `at` the address behind a call? The call may have a breakpoint. */
static __always_inline bool is_return_address(__u64 at)
{
	__u64 address, code;

	return !read_user(&address, sizeof(address), (const void *)at) &&
	       !read_user(&code, sizeof(code), (const void *)(address - sizeof(code))) &&
	       (usc_ends_in_call(code) || (code >> 24 & 0xff) == USC_CODE_BREAKPOINT);
}

static __always_inline bool is_push(__u8 code)
{
	return (code & ~(CODE_REGISTERS - 1)) == CODE_PUSH;
}

/* May the first instruction of a function have moved its return address away from the stack pointer by a word? */
static __always_inline bool is_behind_entry(const struct pt_regs *regs, __u64 breakpoint)
{
	return !is_push(code_at(breakpoint - 1)) && is_return_address(regs->sp + 8);
}

/* Is the instruction at a breakpoint done, of a task that has not gone on? False of one that leaves the stack as it is. */
static __always_inline bool is_instruction_done(const struct pt_regs *regs, const struct task_entry *t,
						__u64 breakpoint)
{
	if (t->met_probe.pc == breakpoint)
		return is_code_done(regs, t->met_probe.code, t->met_probe.sp);
	return looks_pushed(regs) && is_behind_entry(regs, breakpoint);
}

/* Is the word at the stack pointer the address behind a call that leads to the pc? */
static __always_inline bool is_just_called(const struct pt_regs *regs)
{
	__u64 address;
	__s32 distance;

	return !read_user(&address, sizeof(address), (const void *)regs->sp) &&
	       !read_user(&distance, sizeof(distance), (const void *)(address - sizeof(distance))) &&
	       address + distance == regs->ip;
}

/*
 * The byte before the pc looks like a breakpoint. Is it padding before a function that is entered? A hit that has been noted says it, or
 * the call. Else there is more padding, before a place where compilers let functions begin, or where a breakpoint is that is no padding.
 */
static __always_inline bool is_behind_padding(const struct pt_regs *regs, const struct task_entry *t)
{
	__u64 pc = regs->ip;
	bool is_more;

	if (t->met_probe.pc == pc - 1)
		return false;
	if ((t->met_probe.pc == pc && t->met_probe.sp == regs->sp) || is_just_called(regs))
		return true;
	is_more = code_at(pc - 2) == USC_CODE_BREAKPOINT;
	if (code_at(pc) == USC_CODE_BREAKPOINT)
		return is_more && code_at(pc + 1) != USC_CODE_BREAKPOINT;
	return is_more && !(pc % USC_FUNCTION_ALIGNMENT);
}

/* Is the task at the breakpoint before its pc? Asked only of a task that is in the kernel, and may be there for a probe, since padding
 * before a function looks like a breakpoint. */
static __noinline bool is_behind_breakpoint(const struct pt_regs *regs, const struct task_entry *t)
{
	__u64 pc;

	if (!regs || !t)
		return false;
	pc = regs->ip;
	if (code_at(pc - 1) != USC_CODE_BREAKPOINT || is_behind_padding(regs, t))
		return false;
	return !is_instruction_done(regs, t, pc - 1);
}

/* Where the task goes on, of whose instruction the kernel has done all but that it has not written the pc yet; 0: of none. Asked as above. */
static __noinline __u64 pc_of_done(const struct pt_regs *regs, const struct task_entry *t)
{
	__u64 pc, word;
	bool is_ours;
	__s32 distance;
	__u8 second;

	if (!regs || !t)
		return 0;
	pc = regs->ip;
	is_ours = t->met_probe.pc == pc;
	if (read_user(&word, sizeof(word), (const void *)regs->sp))
		return 0;
	/* Of a call, the kernel writes the pc first. */
	if (word == pc && code_at(pc - CODE_CALL_BYTES) == USC_CODE_BREAKPOINT &&
	    !read_user(&distance, sizeof(distance), (const void *)(pc - sizeof(distance))))
		return pc + distance;
	if (code_at(pc) != USC_CODE_BREAKPOINT)
		return 0;
	if (is_ours ? regs->sp != t->met_probe.sp - 8 : !is_behind_entry(regs, pc))
		return 0;
	second = code_at(pc + 1);
	if (is_push(second) && (!is_ours || t->met_probe.code == CODE_HIGH_REGISTER) &&
	    word == high_register_of_code(regs, second & (CODE_REGISTERS - 1)))
		return pc + 2;
	return is_instruction_done(regs, t, pc) ? pc + 1 : 0;
}

#endif
