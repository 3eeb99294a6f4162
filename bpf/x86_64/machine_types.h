/* SPDX-License-Identifier: GPL-2.0-or-later OR MIT */
/* Part of kernel_types.h: the kernel types that are another machine's own. */
#ifndef USCOPE_BPF_X86_64_MACHINE_TYPES_H
#define USCOPE_BPF_X86_64_MACHINE_TYPES_H

#define TS_COMPAT 0x2

struct pt_regs {
	unsigned long r15, r14, r13, r12, bp, bx, r11, r10, r9, r8, ax, cx, dx, si, di, orig_ax, ip, cs, flags, sp, ss;
};

struct thread_struct {
	unsigned long fsbase;
};

typedef struct {
	__u64 ctx_id;
	void *vdso;
} mm_context_t;

#endif
