/* SPDX-License-Identifier: GPL-2.0-or-later OR MIT */
/* A frame of a walk: where it is, and what is known of its registers. */
#ifndef USCOPE_FRAME_H
#define USCOPE_FRAME_H

#include "rows.h"

#define USC_KNOWN(reg) (1u << (reg))
#define USC_KNOWN_ALL 0xffffu
#define USC_KNOWN_STACK (USC_KNOWN(USC_REG_FP) | USC_KNOWN(USC_REG_SP))

struct usc_frame {
	__u64 pc;
	__u64 regs[USC_FRAME_REGS]; /* by DWARF number */
	__u32 known;		    /* USC_KNOWN bits */
	__u32 exact;		    /* pc is that of an interrupted instruction; else, of the one behind a call */
};

#endif
