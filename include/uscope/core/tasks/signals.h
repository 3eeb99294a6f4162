/* SPDX-License-Identifier: GPL-2.0-or-later OR MIT */
/*
 * Signals: one is sent, one is delivered. Both hooks run with interrupts off and the lock of the receiver's signals held.
 * A sending is also seen in interrupts (timers), in the middle of whatever core was doing on this processor: nothing but the
 * stack and the ring is used then. A walk whose mappings cannot be looked up with interrupts off is finished by the
 * collector, like any other.
 */
#ifndef USCOPE_CORE_SIGNALS_H
#define USCOPE_CORE_SIGNALS_H

#include "uscope/core/calls/calls.h"
#include "uscope/core/probes/current_stack.h"

/* include/linux/sched/signal.h: what stands where there is no siginfo. */
#define SIGNAL_FROM_USER 0ul   /* SEND_SIG_NOINFO: in a call of the sender, such as SIGPIPE in a write */
#define SIGNAL_FROM_KERNEL 1ul /* SEND_SIG_PRIV */

/* asm-generic/siginfo.h */
#define SIGNAL_CODE_USER 0
#define SIGNAL_CODE_TIMER (-2)
#define SIGNAL_CODE_ASYNC_IO (-4)
#define SIGNAL_CODE_IO (-5)
#define SIGNAL_CODE_KERNEL 0x80

/* Signals that by default end nothing: SIGCHLD, SIGCONT, SIGSTOP, SIGTSTP, SIGTTIN, SIGTTOU, SIGURG, SIGWINCH. */
#define HARMLESS_SIGNALS                                                                                               \
	(1ull << 17 | 1ull << 18 | 1ull << 19 | 1ull << 20 | 1ull << 21 | 1ull << 22 | 1ull << 23 | 1ull << 28)
#define EXIT_CODE_SIGNAL 0x7f /* of an exit code: the signal that ended the process */

/* siginfo_t; what `data` is depends on the signal and the code. */
struct signal_info {
	__s32 number;
	__s32 error;
	__s32 code;
	__s32 pad;
	__u64 data[2];
};

/* 1: the kernel has a siginfo of the signal. What it says by a mark alone is put in its place. */
static __always_inline int read_signal_info(struct signal_info *info, const void *from)
{
	unsigned long mark = (unsigned long)from;

	if (mark > SIGNAL_FROM_KERNEL && !read_kernel(info, sizeof(*info), from))
		return 1;
	info->code = mark == SIGNAL_FROM_USER ? SIGNAL_CODE_USER : SIGNAL_CODE_KERNEL;
	return 0;
}

/* Did the current task send it, by a call that is made for that? */
static __noinline int is_sent_by_call(const void *from)
{
	struct signal_info info = {};

	if (!read_signal_info(&info, from) || info.code > 0 || info.code == SIGNAL_CODE_TIMER ||
	    info.code == SIGNAL_CODE_IO)
		return 0;
	/* The C library sends it with the sender's pid, the kernel in an interrupt with an address. */
	return info.code != SIGNAL_CODE_ASYNC_IO || (__u32)info.data[0] == (__u32)this_task()->tgid;
}

static __always_inline void fill_signal_info(struct usc_signal *record, const void *from)
{
	struct signal_info info = {};

	if (!read_signal_info(&info, from))
		record->flags |= USC_SIGNAL_NO_INFO;
	record->code = info.code;
	record->info[0] = info.data[0];
	record->info[1] = info.data[1];
}

static __always_inline void fill_signal_receiver(struct usc_signal *record, struct task_struct *receiver)
{
	record->receiver_pid = receiver->tgid;
	record->receiver_tid = receiver->pid;
	read_kernel_text(record->receiver, sizeof(record->receiver), receiver->comm);
}

/* Has a question taken a signal, so that it is not sent? Of an interrupt that hit a question at work, it has not. */
USC_SUBPROGRAM int signal_taken_by_question(const struct usc_signal *record, const struct task_entry *t, __u64 now)
{
	struct query_scratch *scratch = record && t && has_question() ? begin_asking() : 0;
	bool delivered;
	struct usc_event *event;

	if (!scratch)
		return 0;
	delivered = record->flags & USC_SIGNAL_DELIVERED;
	event = &scratch->event;
	__builtin_memset(event, 0, sizeof(*event));
	event->head.task = t->serial;
	event->head.time = event->entry_ns = now;
	event->stack = record->stack;
	event->image = record->image;
	event->source = USC_SOURCE_SIGNAL;
	event->kind = record->number | (delivered ? 0 : USC_SIGNAL_KIND_SENT);
	event->how = delivered ? USC_HOW_DELIVERED : USC_HOW_SENT;
	event->flags = USC_EVENT_NO_RESULT;
	return !ask_of_event(scratch, event, 0, t->process);
}

static __always_inline int send_signal_record(struct usc_signal *record, const struct task_entry *t)
{
	__u64 now = now_ns();

	record->image = t->image;
	if (has_question() && signal_taken_by_question(record, t, now))
		return 0;
	if (send_record(&record->head, USC_RECORD_SIGNAL, sizeof(*record), t->serial, now, false))
		count_loss(cpu_state_of(current_cpu()), USC_LOSS_RING_FULL_EVENT, t->process);
	return 0;
}

/* What is told of a sending beside its number; the number and these are passed on in one word. */
#define SENT_NUMBER(what) ((what)&0xff)
#define SENT_FLAGS(what) ((what) >> 8 & 0xff)
#define SENT_RESULT(what) ((what) >> 16 & 0xff)

/* The record is made here, since the walk before needs all of BPF's stack. */
static __noinline int send_sent(struct task_struct *receiver, const void *from, __u32 what, __u32 stack)
{
	struct task_struct *task = this_task();
	struct task_entry *t = 0;
	struct usc_signal record = {};

	record.stack = stack;
	record.number = SENT_NUMBER(what);
	record.flags = SENT_FLAGS(what);
	record.result = SENT_RESULT(what);
	if (receiver->blocked.sig[0] >> (((record.number - 1) & 63)) & 1)
		record.flags |= USC_SIGNAL_BLOCKED;
	fill_signal_info(&record, from);
	fill_signal_receiver(&record, receiver);
	if (!(record.flags & USC_SIGNAL_BY_KERNEL)) {
		record.sender_pid = task->tgid;
		record.sender_tid = task->pid;
		read_kernel_text(record.sender, sizeof(record.sender), task->comm);
		t = traced_entry(task);
	}
	if (!t)
		t = traced_entry(receiver);
	return t ? send_signal_record(&record, t) : 0;
}

/* `may_walk`: this is no interrupt that hit core at work. */
static __always_inline int core_signal_sent(int number, const void *from, struct task_struct *receiver, int to_group,
					    int result, bool may_walk)
{
	struct task_struct *task = this_task();
	struct task_entry *walked = 0;
	__u32 what, stack = 0;
	bool by_call;

	/* Mapping calls are not seen any more: nothing that is cached holds. */
	if (entries_closed)
		return 0;
	by_call = is_sent_by_call(from);
	/* Its own call has brought a task its signal: SIGPIPE, SIGXFSZ. */
	if (by_call || ((unsigned long)from == SIGNAL_FROM_USER && task == receiver))
		walked = traced_entry(task);
	if (!walked && !traced_entry(receiver))
		return 0;
	if (walked && may_walk && is_asked_for(1u << USC_QUERY_STACK))
		stack = take_current_stack(walked, true);
	what = (number & 0xff) | (by_call ? 0 : USC_SIGNAL_BY_KERNEL) << 8 | (to_group ? USC_SIGNAL_TO_GROUP : 0) << 8 |
	       (result & 0xff) << 16;
	return send_sent(receiver, from, what, stack);
}

static __noinline int send_delivered(const void *from, const void *action, __u32 number, __u32 stack)
{
	struct task_struct *task = this_task();
	struct task_entry *t = entry_of(task);
	struct usc_signal record = {};

	if (!t)
		return 0;
	record.stack = stack;
	record.mm = t->mm;
	record.number = number;
	record.flags = USC_SIGNAL_DELIVERED;
	read_kernel(&record.handler, sizeof(record.handler), action); /* the first field of struct sigaction */
	fill_signal_info(&record, from);
	fill_signal_receiver(&record, task);
	return send_signal_record(&record, t);
}

/*
 * Which signal is told as delivered; 0: none. To end the threads of a process, the kernel delivers to each a SIGKILL that
 * nobody has sent. It does so at once where a signal ends a process without a core file, and that signal is never delivered;
 * so its delivery is told in place of the first such SIGKILL. The others, and those of exit_group and execve, are no signals.
 */
static __noinline int signal_to_tell(int number, const void *from, const void *action)
{
	struct task_struct *task = this_task();
	struct task_entry *first = entry_of(task->group_leader);
	__u64 handler = 0;

	if (number != SIGNAL_KILL || (unsigned long)from != SIGNAL_FROM_USER) {
		if (first && !(HARMLESS_SIGNALS >> (number & 63) & 1) &&
		    !read_kernel(&handler, sizeof(handler), action) && !handler)
			first->defaulted = number;
		return number;
	}
	/* A worker of io_uring runs no code of the program's: one of the other threads is told. */
	if (!(SIGNAL_FIELD(task, flags) & SIGNAL_GROUP_EXIT) || task->flags & PF_IO_WORKER)
		return 0;
	number = SIGNAL_FIELD(task, group_exit_code) & EXIT_CODE_SIGNAL;
	if (!first)
		return number;
	if (first->defaulted == number)
		return 0;
	first->defaulted = number; /* all threads come here with the lock of their process's signals */
	return number;
}

static __always_inline int core_signal_delivered(int number, const void *from, const void *action)
{
	struct task_entry *t = traced_entry(this_task());

	if (entries_closed || !t || t->flags & TASK_ENDED)
		return 0;
	number = signal_to_tell(number, from, action);
	if (!number)
		return 0;
	return send_delivered(from, action, number,
			      is_asked_for(1u << USC_QUERY_STACK) ? take_current_stack(t, true) : 0);
}

#endif
