/* SPDX-License-Identifier: GPL-2.0-or-later OR MIT */
#ifndef USCOPE_CORE_CPU_STATE_H
#define USCOPE_CORE_CPU_STATE_H

#include "uscope/control.h"

/* The state of one processor: the programs write it, the tracer reads it. */
struct cpu_state {
	__u32 seq;
	__u32 nest;
	__u64 log_head;
	__u64 verify_count;
	__u32 text_busy;
	__u32 sample_busy;
	struct usc_stats stats;
};

#endif
