/* SPDX-License-Identifier: GPL-2.0-or-later OR MIT */
#ifndef USCOPE_CORE_CPU_STATE_H
#define USCOPE_CORE_CPU_STATE_H

#include "uscope/control.h"

/* The state of one processor: the programs write it, the tracer reads it. */
struct cpu_state {
	__u64 seq;
	__u32 nest;
	__u32 text_busy;
	__u64 log_head;
	__u64 verify_count;
	__u64 copying;	       /* the stack that is being copied: serial of its task << 32 | its id; 0: none */
	__u32 hits;	       /* levels of hit_room that are in use */
	__u32 user_probe;      /* 1: a program of a probe in a file is at work */
	__u32 closed_mappings; /* not 0: programs are at work that must not look mappings up */
	__u32 asking;	       /* 1: a question is run over an event, with what this processor has for that */
	__u64 ticked_ns;       /* when its clock of samples ticked last */
	struct usc_stats stats;
};

/* Room for a hit of a probe, with the addresses of its kernel frames. */
struct hit_room {
	struct usc_hit hit;
	__u64 frames[USC_KERNEL_FRAMES];
	__u32 level; /* which one of this processor's it is */
	__u32 pad;
};

/* A function that a thread is in. */
struct open_function {
	__u64 sp; /* where its return address is; 0: not known */
	__u64 entry_ns;
	__u32 serial; /* at the entry; so is the next */
	__u32 image;
	__u32 number;	    /* of its probe */
	__u16 on_alternate; /* the return address is on the stack for handlers of signals */
	__u16 goes_on;	    /* it has jumped to its own entry: who comes by there next is no new call */
};

/* Room for a function that a thread is in: for its hit as it was at the entry, and for how it is paired, unless task_entry
 * has that. */
struct open_slot {
	struct open_function function; /* first: BPF's verifier takes no place in what may not be there */
	struct hit_room room;
};

#endif
