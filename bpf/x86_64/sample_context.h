/* SPDX-License-Identifier: GPL-2.0-or-later OR MIT */
#ifndef USCOPE_BPF_X86_64_SAMPLE_CONTEXT_H
#define USCOPE_BPF_X86_64_SAMPLE_CONTEXT_H

/* What perf gives to its programs (asm/ptrace.h, linux/bpf_perf_event.h): registers of what the clock met. */
struct sample_context {
	__u64 before[17];
	__u64 cs;
	__u64 behind[3];
	__u64 period;
	__u64 address;
};

#endif
