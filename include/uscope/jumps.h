/* SPDX-License-Identifier: GPL-2.0-or-later OR MIT */
/*
 * Where an indirect jump of a function goes: user space finds out from the instruction how the target is computed and
 * which code is the function's, the kernel side computes the target when the jump is hit. All addresses are counted from
 * the place of the probe, so that they hold wherever the file is mapped.
 */
#ifndef USCOPE_JUMPS_H
#define USCOPE_JUMPS_H

#include "uscope/arch/arch.h"
#include "base/base.h"

#define USC_JUMP_PARTS 16 /* of a function: its main part, and what the compiler has put elsewhere (.cold) */
#define USC_JUMP_REGISTERS USC_ALL_REGS /* by their DWARF numbers; the last one is the place of the probe */
#define USC_JUMP_PLACE USC_REG_PC	/* that one */
#define USC_JUMP_STACK USC_REG_SP
#define USC_JUMP_NOTHING 0xff /* in place of a register */
#define USC_JUMP_MOST_SHIFT 3

/* Code [low, high). */
struct usc_jump_part {
	__s32 low;
	__s32 high;
};

struct usc_jump {
	__s32 displacement;
	__u8 base;  /* a register's number, or USC_JUMP_NOTHING; so is the next */
	__u8 index; /* shifted to the left by `shift` */
	__u8 shift;
	__u8 in_memory; /* 1: the target is the word at base + index + displacement; 0: that is the target itself */
	__u8 pops;	/* 1: it takes a word from the stack; USC_PLACE_POPS */
	__u8 parts;	/* how many of part[] are used */
	__u8 pad[2];
	__s32 entry_low; /* where the function begins; who jumps there, or further up to the probe of its entry, meets that */
	__s32 entry_high;
	struct usc_jump_part part[USC_JUMP_PARTS];
};

USC_ASSERT_SIZE(usc_jump, 148);

enum usc_jump_goes {
	USC_JUMP_INSIDE, /* the function goes on */
	USC_JUMP_OUT,	 /* it ends, if nothing of its frame is left on the stack */
	USC_JUMP_AGAIN,	 /* it goes on, and the probe of its entry will be hit */
};

USC_INLINE int usc_jump_register_is_sound(__u32 number, __u32 most)
{
	return number <= most || number == USC_JUMP_NOTHING;
}

/* Whether the kernel side can follow it: what comes out of a file is not trusted. */
USC_INLINE int usc_jump_is_sound(const struct usc_jump *jump)
{
	__u32 i;

	if (!usc_jump_register_is_sound(jump->base, USC_JUMP_PLACE) ||
	    !usc_jump_register_is_sound(jump->index, USC_JUMP_PLACE - 1) || jump->shift > USC_JUMP_MOST_SHIFT ||
	    jump->in_memory > 1 || jump->pops > 1 || jump->pad[0] || jump->pad[1])
		return 0;
	if (!jump->parts || jump->parts > USC_JUMP_PARTS || jump->entry_low > jump->entry_high)
		return 0;
	for (i = 0; i < USC_JUMP_PARTS; i++) {
		const struct usc_jump_part *part = &jump->part[i];

		if (i < jump->parts ? part->low >= part->high : part->low || part->high)
			return 0;
	}
	return 1;
}

/* `registers` has USC_JUMP_REGISTERS values. */
USC_INLINE __u64 usc_jump_register(const __u64 *registers, __u32 number)
{
	/* For BPF's verifier: from here on the bound is that of this register. */
	__asm__ volatile("" : "+r"(number));
	return number < USC_JUMP_REGISTERS ? registers[number] : 0;
}

/* The target, or of one in memory the address of the word that has it. */
USC_INLINE __u64 usc_jump_operand(const struct usc_jump *jump, const __u64 *registers)
{
	return usc_jump_register(registers, jump->base) +
	       (usc_jump_register(registers, jump->index) << (jump->shift & USC_JUMP_MOST_SHIFT)) +
	       (__u64)(__s64)jump->displacement;
}

/* `to`: the target, counted from the place. */
USC_INLINE enum usc_jump_goes usc_jump_goes(const struct usc_jump *jump, __s64 to)
{
	__u32 i;

	if (to >= jump->entry_low && to <= jump->entry_high)
		return USC_JUMP_AGAIN;
	for (i = 0; i < USC_JUMP_PARTS; i++) {
		if (i >= jump->parts)
			break;
		if (to >= jump->part[i].low && to < jump->part[i].high)
			return USC_JUMP_INSIDE;
	}
	return USC_JUMP_OUT;
}

#endif
