/* SPDX-License-Identifier: GPL-2.0-or-later OR MIT */
/*
 * The registers of x86-64 by their DWARF numbers, the order in which the kernel lays them down, and their roles in struct pt_regs.
 * The macros take a pointer to one, whose layout comes from the kernel or from BTF.
 */
#ifndef USCOPE_ARCH_X86_64_REGISTERS_H
#define USCOPE_ARCH_X86_64_REGISTERS_H

#include "uscope/base/base.h"

#define USC_PAGE_BYTES 4096ull
/* The kernel's text begins at a multiple. */
#define USC_KERNEL_TEXT_ALIGNMENT 0x200000ul
/* Where compilers let functions begin. */
#define USC_FUNCTION_ALIGNMENT 16

/* DWARF numbers of x86-64's registers; 8 … 15 are r8 … r15. */
enum { USC_REG_RAX, USC_REG_RDX, USC_REG_RCX, USC_REG_RBX, USC_REG_RSI, USC_REG_RDI, USC_REG_RBP, USC_REG_RSP };

#define USC_REG_SP 7 /* the stack pointer, rsp */
#define USC_REG_FP 6 /* the frame pointer, rbp */
#define USC_REG_PC 16
#define USC_REG_RESULT 0 /* of a function: rax */
/* How many a frame has, without the pc, and with it. */
#define USC_FRAME_REGS 16
#define USC_ALL_REGS 17
/* The registers that a function's integer arguments are passed in, in their order, four bits each: rdi rsi rdx rcx r8 r9. */
#define USC_ARGUMENT_REGS 6
#define USC_ARGUMENT_REG(i) ((__u32)(0x982145u >> ((i)*4)) & 15u)

#define USC_SAVED_REGS 6 /* rbx, rbp, r12, r13, r14, r15, in this order */
/* DWARF number of the i-th callee-saved register: 3 6 12 13 14 15. */
#define USC_SAVED_REG(i) ((__u32)(0xfedc63u >> ((i)*4)) & 15u)
/* Of these, what a shared rule leaves known where it says nothing: rbx and r12 to r15. */
#define USC_SAVED_MASK 0xf008u

/*
 * The kernel's struct sigcontext (arch/x86/include/uapi/asm/sigcontext.h, 64 bits): r8 … r15, di, si, bp, bx, dx, ax,
 * cx, sp, ip. The DWARF numbers of its first 16 words, four bits each.
 */
#define USC_SIGCONTEXT_REGS 16
#define USC_SIGCONTEXT_REG(i) ((__u32)(0x72013645fedcba98ull >> ((i)*4)) & 15u)

/* struct pt_regs */
#define USC_REGS_PC(regs) ((regs)->ip)
#define USC_REGS_SP(regs) ((regs)->sp)
#define USC_REGS_FP(regs) ((regs)->bp)
#define USC_REGS_FLAGS(regs) ((regs)->flags)
#define USC_REGS_RESULT(regs) ((regs)->ax)
/* The number of the system call; below 0 where the task is in none. */
#define USC_REGS_CALL(regs) ((regs)->orig_ax)
/* Do they belong to 64-bit code? asm/segment.h; xen/interface/xen-x86_64.h of a paravirtual guest. */
#define USC_USER_CODE_SEGMENT 0x33
#define USC_XEN_USER_CODE_SEGMENT 0xe033
#define USC_REGS_ARE_NATIVE(regs) ((regs)->cs == USC_USER_CODE_SEGMENT || (regs)->cs == USC_XEN_USER_CODE_SEGMENT)
/* Of code in the kernel: its privilege level is 0. */
#define USC_REGS_IN_KERNEL(regs) (!((regs)->cs & 3))
/* Arguments of a system call by the native ABI. */
#define USC_REGS_ARG0(regs) ((regs)->di)
#define USC_REGS_ARG1(regs) ((regs)->si)
#define USC_REGS_ARG2(regs) ((regs)->dx)
#define USC_REGS_ARG3(regs) ((regs)->r10)
#define USC_REGS_ARG4(regs) ((regs)->r8)
#define USC_REGS_ARG5(regs) ((regs)->r9)

#define USC_READ_CALL_ARGS(regs, args)                                                                                 \
	do {                                                                                                           \
		(args)[0] = (regs)->di;                                                                                \
		(args)[1] = (regs)->si;                                                                                \
		(args)[2] = (regs)->dx;                                                                                \
		(args)[3] = (regs)->r10;                                                                               \
		(args)[4] = (regs)->r8;                                                                                \
		(args)[5] = (regs)->r9;                                                                                \
	} while (0)

/* The same by USC_ABI_COMPAT. */
#define USC_READ_COMPAT_CALL_ARGS(regs, args)                                                                          \
	do {                                                                                                           \
		(args)[0] = (__u32)(regs)->bx;                                                                         \
		(args)[1] = (__u32)(regs)->cx;                                                                         \
		(args)[2] = (__u32)(regs)->dx;                                                                         \
		(args)[3] = (__u32)(regs)->si;                                                                         \
		(args)[4] = (__u32)(regs)->di;                                                                         \
		(args)[5] = (__u32)(regs)->bp;                                                                         \
	} while (0)

/* All, by their DWARF numbers, to USC_FRAME_REGS words. */
#define USC_READ_REGISTERS(regs, words)                                                                                \
	do {                                                                                                           \
		(words)[0] = (regs)->ax;                                                                               \
		(words)[1] = (regs)->dx;                                                                               \
		(words)[2] = (regs)->cx;                                                                               \
		(words)[3] = (regs)->bx;                                                                               \
		(words)[4] = (regs)->si;                                                                               \
		(words)[5] = (regs)->di;                                                                               \
		(words)[6] = (regs)->bp;                                                                               \
		(words)[7] = (regs)->sp;                                                                               \
		(words)[8] = (regs)->r8;                                                                               \
		(words)[9] = (regs)->r9;                                                                               \
		(words)[10] = (regs)->r10;                                                                             \
		(words)[11] = (regs)->r11;                                                                             \
		(words)[12] = (regs)->r12;                                                                             \
		(words)[13] = (regs)->r13;                                                                             \
		(words)[14] = (regs)->r14;                                                                             \
		(words)[15] = (regs)->r15;                                                                             \
	} while (0)

/* Those that ftrace saves at the entry of a kernel function: of its arguments, and the stack pointer. */
#define USC_READ_ENTRY_REGISTERS(regs, words)                                                                          \
	do {                                                                                                           \
		(words)[1] = (regs)->dx;                                                                               \
		(words)[2] = (regs)->cx;                                                                               \
		(words)[4] = (regs)->si;                                                                               \
		(words)[5] = (regs)->di;                                                                               \
		(words)[7] = (regs)->sp;                                                                               \
		(words)[8] = (regs)->r8;                                                                               \
		(words)[9] = (regs)->r9;                                                                               \
	} while (0)

/* struct task_struct: the thread pointer. */
#define USC_THREAD_POINTER(task) ((task)->thread.fsbase)
/* struct mm_struct: a number that no other address space ever has. */
#define USC_MM_SERIAL context.ctx_id

#endif
