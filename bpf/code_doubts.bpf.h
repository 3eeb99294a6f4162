/* SPDX-License-Identifier: GPL-2.0-or-later OR MIT */
/*
 * Who, of all tasks of this machine, is about to have breakpoints of its own in code: told to the collector before that can be done,
 * where there are probes in files (struct usc_code_doubt). Nothing is seen of who writes to memory that has been writable for long.
 */
#ifndef USCOPE_BPF_CODE_DOUBTS_H
#define USCOPE_BPF_CODE_DOUBTS_H

#include "transport.h"
#include "uscope/core/numbers.h"

/* linux/ptrace.h, include/linux/ptrace.h, asm-generic/fcntl.h, linux/mman.h, linux/auxvec.h */
#define PTRACE_POKETEXT 4
#define PTRACE_POKEDATA 5
#define PTRACE_ATTACH 16
#define PT_PTRACED 0x1u
#define PT_SEIZED 0x10000u
#define O_ACCMODE 3
#define PROT_WRITE 0x2
#define AT_BASE 7
#define MOST_AUXV 24
#define WORD_BYTES 8

static __always_inline bool makes_doubts(__u32 nr)
{
	return nr == NR_mmap || nr == NR_mprotect || nr == NR_pkey_mprotect || nr == NR_ptrace || nr == NR_open ||
	       nr == NR_openat || nr == NR_openat2;
}

/*
 * Any process can make doubts, as many as it likes, and must not fill the rings with them, nor have those of others left out: each has
 * so many in 10 ms, and all have. What is left out here, the collector's looks at all processes find.
 */
#define DOUBTS_OF_PROCESS 16
#define DOUBTS_OF_ALL 128
#define DOUBTS_NS 10000000ull

struct doubts_told {
	__u64 since_ns;
	__u32 count;
	__u32 pad;
};

struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, 1024);
	__type(key, __u32);
	__type(value, struct doubts_told);
} doubts_of_processes SEC(".maps");

static struct doubts_told doubts_of_all;
/* How many were left out, and of which process the first one was. */
__u64 doubts_left_out;
__u32 doubts_left_out_of;

static __always_inline bool are_doubts_many(struct doubts_told *told, __u64 now, __u32 most)
{
	if (now - *(volatile __u64 *)&told->since_ns > DOUBTS_NS) {
		*(volatile __u64 *)&told->since_ns = now;
		*(volatile __u32 *)&told->count = 0;
	}
	return __sync_fetch_and_add(&told->count, 1) >= most;
}

/* Those of a process beyond its own share take nothing from the share of all. */
static __noinline int doubt_is_left_out(__u32 pid)
{
	struct doubts_told *told = bpf_map_lookup_elem(&doubts_of_processes, &pid);
	__u64 now = now_ns();

	if (!told) {
		struct doubts_told none = {.since_ns = now};

		bpf_map_update_elem(&doubts_of_processes, &pid, &none, BPF_NOEXIST);
		told = bpf_map_lookup_elem(&doubts_of_processes, &pid);
	}
	if (!(told && are_doubts_many(told, now, DOUBTS_OF_PROCESS)) &&
	    !are_doubts_many(&doubts_of_all, now, DOUBTS_OF_ALL))
		return 0;
	if (__sync_fetch_and_add(&doubts_left_out, 1) == 0)
		*(volatile __u32 *)&doubts_left_out_of = pid;
	return 1;
}

static __noinline int tell_doubt(struct usc_code_doubt *doubt, __u32 reason)
{
	if (!doubt)
		return 0;
	doubt->reason = reason;
	doubt->pid = bpf_get_current_pid_tgid() >> 32;
	if (doubt_is_left_out(doubt->pid))
		return 0;
	return send_record(&doubt->head, USC_RECORD_CODE_DOUBT, sizeof(*doubt), 0, now_ns(), true);
}

/* A tracer that seizes is none that sets breakpoints, as far as is known: strace, perf trace. */
static __always_inline bool has_debugger(struct task_struct *task)
{
	__u32 flags = TASK_FIELD(task, ptrace);

	return flags & PT_PTRACED && !(flags & PT_SEIZED);
}

/* Run before probes are put into files: processes that had a debugger before their calls were seen. */
SEC("iter/task")
int list_debugged(struct bpf_iter__task *ctx)
{
	struct task_struct *task = ctx->task;
	__u32 pid;

	if (!task || !has_debugger(task))
		return 0;
	pid = TASK_FIELD(task, tgid);
	bpf_seq_write(ctx->meta->seq, &pid, sizeof(pid));
	return 0;
}

/* The kernel has loaded the program alone: it is its own dynamic loader, or has none. */
static __noinline int has_no_interpreter(struct task_struct *task)
{
	unsigned long pair[2];
	__u32 i;

	if (!task)
		return 0;
	for (i = 0; i < MOST_AUXV; i++) {
		const void *at = (const void *)TASK_FIELD(task, mm) +
				 bpf_core_field_offset(struct mm_struct, saved_auxv) + i * sizeof(pair);

		if (bpf_probe_read_kernel(pair, sizeof(pair), at) || !pair[0])
			return 0;
		if (pair[0] == AT_BASE)
			return !pair[1];
	}
	return 0;
}

struct written_range {
	__u64 end;
	__u64 may_have_probes;
};

/* What follows the first of several mappings is not looked at. */
static long on_written_vma(struct task_struct *task, struct vm_area_struct *vma, struct written_range *range)
{
	range->may_have_probes = vma->vm_end < range->end || (vma->vm_file && !(vma->vm_flags & VM_MAYSHARE));
	return 0;
}

/* Private memory of a file is in the range, or may be: other memory, such as a shared memfd, has no breakpoints. Where the lock of the
 * mappings is held, it may be such. */
static __noinline int may_have_probes_in(__u64 address, __u64 bytes)
{
	struct written_range range = {.end = address + bytes};

	return with_vma(address, on_written_vma, &range) == RESULT_EBUSY || range.may_have_probes;
}

static __always_inline void doubt_memory_file(struct usc_code_doubt *doubt, const char *path)
{
	long bytes = bpf_probe_read_user_str(doubt->path, sizeof(doubt->path), path);
	__u32 end;

	if (bytes < (long)sizeof("/mem"))
		return;
	end = (__u32)bytes - sizeof("/mem");
	if (end > sizeof(doubt->path) - sizeof("/mem"))
		return;
	if (doubt->path[end] == '/' && doubt->path[end + 1] == 'm' && doubt->path[end + 2] == 'e' &&
	    doubt->path[end + 3] == 'm')
		tell_doubt(doubt, USC_DOUBT_MEMORY_FILE);
}

static __always_inline void doubt_ptrace(struct usc_code_doubt *doubt, struct pt_regs *regs)
{
	__u64 request = USC_REGS_ARG0(regs);

	if (request != PTRACE_ATTACH && request != PTRACE_POKETEXT && request != PTRACE_POKEDATA)
		return;
	doubt->other = USC_REGS_ARG1(regs);
	if (request != PTRACE_ATTACH) {
		doubt->start = USC_REGS_ARG2(regs);
		doubt->end = USC_REGS_ARG2(regs) + WORD_BYTES;
	}
	tell_doubt(doubt, USC_DOUBT_DEBUGGER);
}

/* At the entry of a call, of 64-bit programs. */
static __noinline int doubt_call(struct task_struct *task, struct pt_regs *regs, __u32 nr)
{
	struct usc_code_doubt doubt = {};
	__u64 flags = 0;

	if (!task || !regs || USC_TASK_IS_COMPAT(task))
		return 0;
	if (nr == NR_ptrace) {
		doubt_ptrace(&doubt, regs);
	} else if (nr == NR_mmap) {
		if (!(USC_REGS_ARG2(regs) & PROT_EXEC) || (__s32)USC_REGS_ARG4(regs) < 0)
			return 0;
		if (has_debugger(task))
			tell_doubt(&doubt, USC_DOUBT_DEBUGGED);
		else if (has_no_interpreter(task))
			tell_doubt(&doubt, USC_DOUBT_LOADS);
	} else if (nr == NR_mprotect || nr == NR_pkey_mprotect) {
		if (!(USC_REGS_ARG2(regs) & PROT_WRITE) ||
		    !may_have_probes_in(USC_REGS_ARG0(regs), USC_REGS_ARG1(regs)))
			return 0;
		doubt.start = USC_REGS_ARG0(regs);
		doubt.end = USC_REGS_ARG0(regs) + USC_REGS_ARG1(regs);
		doubt.pc = USC_REGS_PC(regs);
		tell_doubt(&doubt, USC_DOUBT_WRITABLE);
	} else if (nr == NR_open) {
		if (USC_REGS_ARG1(regs) & O_ACCMODE)
			doubt_memory_file(&doubt, (const char *)USC_REGS_ARG0(regs));
	} else {
		if (nr == NR_openat)
			flags = USC_REGS_ARG2(regs);
		else
			bpf_probe_read_user(&flags, sizeof(flags), (const void *)USC_REGS_ARG2(regs));
		if (flags & O_ACCMODE)
			doubt_memory_file(&doubt, (const char *)USC_REGS_ARG1(regs));
	}
	return 0;
}

static __always_inline void doubt_code_of_call(struct task_struct *task, struct pt_regs *regs, __u32 nr)
{
	if (has_file_probes && makes_doubts(nr))
		doubt_call(task, regs, nr);
}

/* A program has been executed, and has done nothing yet. */
static __noinline int doubt_code_of_program(struct task_struct *task)
{
	struct usc_code_doubt doubt = {};

	if (has_file_probes && task && has_debugger(task))
		tell_doubt(&doubt, USC_DOUBT_DEBUGGED);
	return 0;
}

#endif
