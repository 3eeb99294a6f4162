/* SPDX-License-Identifier: GPL-2.0-or-later OR MIT */
/* What bytes of x86-64 code mean to a walk and to a probe. */
#ifndef USCOPE_ARCH_X86_64_CODE_H
#define USCOPE_ARCH_X86_64_CODE_H

#include "uscope/base/base.h"

#define USC_CODE_BREAKPOINT 0xcc
#define USC_CODE_BREAKPOINT_BYTES 1
/* The instructions that make a system call: syscall and int $0x80, as words. */
#define USC_CODE_SYSCALL 0x050f
#define USC_CODE_COMPAT_SYSCALL 0x80cd
#define USC_CALL_CODE __u16
#define USC_IS_CALL_INSTRUCTION(code) ((code) == USC_CODE_SYSCALL || (code) == USC_CODE_COMPAT_SYSCALL)
/* arch/x86/include/asm/uprobes.h: UPROBE_XOL_SLOT_BYTES, where a copy of a probed instruction is executed. */
#define USC_COPIED_INSTRUCTION_BYTES 128

/*
 * Of code that is about to return by `add $N,%rsp; ret`, of the eight bytes at its pc: how many words lie between the stack pointer
 * and the caller's. 0: other code.
 */
USC_INLINE __u32 usc_words_to_caller(__u64 code)
{
	__u32 bytes = code >> 24 & 0xff; /* 48 83 c4 N c3 */

	if ((code & 0xff00ffffffull) == 0xc300c48348ull && bytes < 0x80 && !(bytes & 7))
		return bytes / 8 + 1;
	return 0;
}

/* Bytes of `ff /2`, a call through a register or memory, by its second byte; without prefixes. */
USC_INLINE __u32 usc_call_bytes(__u32 modrm)
{
	__u32 mode = modrm >> 6 & 3, rm = modrm & 7;
	__u32 bytes = mode != 3 && rm == 4 ? 3 : 2;

	if (mode == 1)
		return bytes + 1;
	return mode == 2 || (!mode && rm == 5) ? bytes + 4 : bytes;
}

/*
 * Does a call instruction end at an address, whose eight bytes before are `code`? Call rel32 (e8), and ff /2. Data may look like
 * one, but of what lies on a stack beside return addresses little points behind any.
 */
USC_INLINE int usc_ends_in_call(__u64 code)
{
	__u32 bytes, modrm;

	if ((code >> 24 & 0xff) == 0xe8)
		return 1;
	for (bytes = 2; bytes <= 7; bytes++) {
		modrm = code >> (72 - bytes * 8) & 0xff;
		if ((code >> (64 - bytes * 8) & 0xff) == 0xff && (modrm >> 3 & 7) == 2 &&
		    usc_call_bytes(modrm) == bytes)
			return 1;
	}
	return 0;
}

/* Whether a jump is taken: `condition` is the low half of its opcode's last byte, as in 0x74 (je). */
USC_INLINE int usc_condition_holds(__u32 condition, __u64 flags)
{
	__u64 carry = flags & 1, parity = flags >> 2 & 1, zero = flags >> 6 & 1, sign = flags >> 7 & 1,
	      overflow = flags >> 11 & 1, holds;

	switch (condition >> 1 & 7) {
	case 0:
		holds = overflow;
		break;
	case 1:
		holds = carry;
		break;
	case 2:
		holds = zero;
		break;
	case 3:
		holds = carry | zero;
		break;
	case 4:
		holds = sign;
		break;
	case 5:
		holds = parity;
		break;
	case 6:
		holds = sign ^ overflow;
		break;
	default:
		holds = zero | (sign ^ overflow);
	}
	return holds != (condition & 1);
}

#endif
