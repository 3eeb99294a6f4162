/* SPDX-License-Identifier: GPL-2.0-or-later OR MIT */
/* One call: kept at its entry with the stack it was made from, written at its return. */
#ifndef USCOPE_CORE_CALLS_H
#define USCOPE_CORE_CALLS_H

#include "uscope/descriptor_calls.h"
#include "uscope/core/arch/arch.h"
#include "uscope/core/walk/mapping_calls.h"
#include "uscope/core/walk/stacks.h"
#include "uscope/core/calls/questions.h"
#include "uscope/core/calls/strings.h"
#include "uscope/core/calls/users.h"

#define SIGNAL_KILL 9

/* Is the call one of those that are recorded or asked about? */
static __always_inline bool wanted(__u32 abi, __u32 nr)
{
	__u32 bit = nr % USC_SYSCALL_BITS;

	if (nr >= USC_SYSCALL_BITS)
		return true; /* what no table knows */
	if (abi == USC_ABI_COMPAT)
		return config.calls[USC_CALLS_COMPAT][bit / 64 % 8] >> (bit % 64) & 1;
	return config.calls[USC_CALLS_NATIVE][bit / 64 % 8] >> (bit % 64) & 1;
}

/*
 * A call that is not wanted, but changes what descriptors and folders stand for: the loader is to know. Of fcntl and
 * ioctl most do not.
 */
static __always_inline bool is_followed(__u32 abi, __u32 nr, const __u64 *args)
{
	bool narrow = abi == USC_ABI_COMPAT;

	if (!(string_word(abi, nr) & USC_CALL_FOLLOWED))
		return false;
	if (narrow ? nr == COMPAT_fcntl || nr == COMPAT_fcntl64 : nr == NR_fcntl)
		return usc_fcntl_changes_descriptors(args[1]);
	if (nr == (narrow ? COMPAT_ioctl : NR_ioctl))
		return usc_ioctl_changes_descriptors(args[1]);
	return true;
}

static __always_inline __u32 abi_of(struct task_struct *task, __u32 nr)
{
	return USC_ABI_OF_CALL(task, nr);
}

/* Writes the ABI by which the task makes a call, and returns the call's number in that ABI's table. */
static __always_inline __u32 identify_call(struct task_struct *task, __u32 nr, __u8 *abi)
{
	*abi = abi_of(task, nr);
	return USC_PLAIN_NUMBER(*abi, nr);
}

static __always_inline void read_args(struct pt_regs *regs, __u32 abi, __u64 *args)
{
	if (abi == USC_ABI_COMPAT)
		USC_READ_COMPAT_CALL_ARGS(regs, args);
	else
		USC_READ_CALL_ARGS(regs, args);
}

/* restart_syscall goes on with the call that was interrupted: under that one's number and arguments. */
static __always_inline void restore_restarted(struct task_entry *t)
{
	__u32 restart = t->abi == USC_ABI_COMPAT ? COMPAT_restart_syscall : NR_restart_syscall;

	if (t->nr != restart || t->restart_nr == NO_NUMBER)
		return;
	t->nr = t->restart_nr;
	__builtin_memcpy(t->args, t->restart_args, sizeof(t->args));
	t->event_flags = USC_EVENT_RESTARTED;
}

/* When a call was entered. Where nobody asks for times, a number that is another one for each call of the task. */
static __always_inline __u64 entry_time(const struct task_entry *t)
{
	return is_asked_for(ASKED_TIME) ? now_ns() : t->entry_ns + 1;
}

/* The stack is taken and strings are read where they are recorded, or asked for. */
static __always_inline void take_call(struct pt_regs *regs, struct task_entry *t)
{
	__u32 ended = 0;

	t->entry_ns = entry_time(t);
	if (t->abi == USC_ABI_COMPAT)
		ended = USC_ENDED_BROKEN + USC_BROKEN_COMPAT;
	else if (!t->image)
		ended = USC_ENDED_SCOPE; /* the launcher's own code, before the command's first exec */
	t->stack = is_asked_for(1u << USC_QUERY_STACK) ? take_stack(regs, place_at_entry(regs), t, ended) : 0;
	if (!has_question())
		strings_at_entry(t);
}

static __noinline int follow_call(struct task_entry *t)
{
	if (!t)
		return 0;
	t->entry_ns = now_ns();
	t->stack = 0;
	t->event_flags |= USC_EVENT_FOLLOWED;
	strings_at_entry(t);
	barrier();
	t->flags |= TASK_IN_CALL;
	return 0;
}

static __always_inline bool is_io_uring_setup(const struct task_entry *t)
{
	return t->nr == NR_io_uring_setup; /* the same number in every ABI */
}

/* The fields of an event that the task's entry holds, but for its arguments. */
static __always_inline void fill_call(struct usc_event *event, const struct task_entry *t, __u32 how)
{
	event->stack = t->stack;
	event->image = t->call_image;
	event->kind = t->nr;
	event->how = how;
	event->abi = t->abi;
	event->flags = t->event_flags;
	event->source = USC_SOURCE_SYSCALL;
}

/* 0: the event leaves no record. A function of its own, since 6.1's BPF has 512 bytes of stack for all calls: what walks
 * stacks does not lie below the event here. */
USC_SUBPROGRAM int ask_event(struct task_entry *t, __s64 result, __u32 how, __u64 now)
{
	struct query_scratch *scratch = t ? begin_asking() : 0;
	struct usc_event event;

	if (!scratch)
		return 1;
	event.head.task = t->call_serial;
	event.head.time = now;
	event.entry_ns = t->entry_ns;
	event.result = result;
	fill_call(&event, t, how);
	if (is_asked_for(USC_QUERY_OF_ARGS))
		__builtin_memcpy(event.args, t->args, sizeof(event.args));
	return ask_of_event(scratch, &event, 0, t->process);
}

/* Asks a question of a call that begins, if it is one of beginnings: then the call's end is no event. */
static __always_inline bool asked_at_entry(struct task_entry *t)
{
	if (!has_question() || !usc_query_is_of_beginnings(&config.query) || is_io_uring_setup(t))
		return false;
	return (counts_calls() && count_call(t->abi, t->nr, t->args)) ||
	       !ask_event(t, 0, USC_HOW_RETURNED, t->entry_ns);
}

static __always_inline void call_begins(struct task_struct *task, struct pt_regs *regs, struct task_entry *t, __u32 nr)
{
	bool held = t->flags & TASK_HELD && is_held(t);

	if (t->flags & (TASK_MAPPING | TASK_MAPS_DATA))
		mapping_call_unseen(t);
	t->flags &= ~(TASK_IN_CALL | TASK_ASKED | TASK_NEWBORN | TASK_SKIPPED | TASK_ADOPTED | TASK_EXECED);
	if (t->unannounced)
		announce_later(t, t->unannounced);
	t->nr = identify_call(task, nr, &t->abi);
	t->event_flags = 0;
	t->call_serial = t->serial;
	t->call_image = t->image;
	if (asks_for_guises())
		t->renamed_image = 0;
	read_args(regs, t->abi, t->args);
	expand_if_multiplexed(t);
	restore_restarted(t);
	t->restart_nr = NO_NUMBER;
	if (held) {
		/* If it returns when the task is not held any more, it is a call that was under way when tracing began. */
		t->entry_ns = now_ns();
		t->flags |= TASK_ADOPTED | TASK_SKIPPED;
	} else if (wanted(t->abi, t->nr)) {
		take_call(regs, t);
		barrier();
		t->flags |= asked_at_entry(t) ? TASK_ASKED : TASK_IN_CALL;
	} else if (is_followed(t->abi, t->nr, t->args)) {
		follow_call(t);
	} else {
		t->flags |= TASK_SKIPPED;
	}
	if (t->abi == USC_ABI_COMPAT || may_change_mappings(t->nr))
		mapping_call_begins(t);
}

#define UNSHARE_TABLE 2 /* linux/close_range.h: CLOSE_RANGE_UNSHARE */
#define NEW_LISTENER 8	/* linux/seccomp.h: SECCOMP_FILTER_FLAG_NEW_LISTENER */

/*
 * The cause under which a call's event is counted that found no room. What a loader knows of descriptors it can learn
 * anew after lost events, but not who shares them.
 */
static __always_inline __u32 cause_of_lost(const struct task_entry *t)
{
	bool narrow = t->abi == USC_ABI_COMPAT;

	switch (t->nr) {
	case NR_unshare:
	case NR_setns:
	case NR_chroot:
	case NR_pivot_root:
		return narrow ? USC_LOSS_RING_FULL_EVENT : USC_LOSS_RING_FULL_SHARING;
	case COMPAT_unshare:
	case COMPAT_setns:
	case COMPAT_chroot:
	case COMPAT_pivot_root:
		return narrow ? USC_LOSS_RING_FULL_SHARING : USC_LOSS_RING_FULL_EVENT;
	case NR_io_uring_setup: /* this and the next: the same number in every ABI */
		return USC_LOSS_RING_FULL_SHARING;
	case NR_close_range:
		return t->args[2] & UNSHARE_TABLE ? USC_LOSS_RING_FULL_SHARING : USC_LOSS_RING_FULL_EVENT;
	case NR_seccomp:
		return !narrow && t->args[1] & NEW_LISTENER ? USC_LOSS_RING_FULL_SHARING : USC_LOSS_RING_FULL_EVENT;
	case COMPAT_seccomp:
		return narrow && t->args[1] & NEW_LISTENER ? USC_LOSS_RING_FULL_SHARING : USC_LOSS_RING_FULL_EVENT;
	default:
		return t->event_flags & USC_EVENT_FOLLOWED ? USC_LOSS_RING_FULL_FOLLOWED : USC_LOSS_RING_FULL_EVENT;
	}
}

USC_SUBPROGRAM int count_lost_event(struct task_entry *t, bool had_number)
{
	struct cpu_state *cpu = cpu_state_of(current_cpu());

	if (!t)
		return 0;
	if (had_number)
		count_loss(cpu, cause_of_lost(t), t->process);
	else
		refuse_record(cpu, cause_of_lost(t), t->process);
	return 0;
}

/* The fields of an event that the task's entry holds. The caller fills the head, the entry time and the result. */
static __always_inline void fill_event(struct usc_event *event, const struct task_entry *t, __u32 how)
{
	__builtin_memcpy(event->args, t->args, sizeof(event->args));
	fill_call(event, t, how);
}

/* The head of a record that does not go through a ring, and so has no sequence number. */
static __always_inline void fill_user_head(struct usc_record *head, __u16 type, __u32 bytes, __u32 task, __u64 now)
{
	head->size = bytes;
	head->type = type;
	head->cpu = USC_CPU_USER;
	head->task = task;
	head->time = now;
}

/* A call of which something has been told while it was under way is told to its end. */
static __always_inline bool is_told_singly(const struct task_entry *t)
{
	return t->event_flags & USC_EVENT_ATTACHED || t->open_ns == t->entry_ns;
}

static __always_inline int send_event(struct task_entry *t, __s64 result, __u32 how, __u64 now)
{
	__u32 cpu_number = current_cpu();
	struct cpu_state *cpu = cpu_state_of(cpu_number);
	struct usc_event *event;

	if (!cpu)
		return -1;
	if (has_question() && !is_told_singly(t) && !ask_event(t, result, how, now))
		return 0;
	event = reserve_event(cpu_number);
	if (!event) {
		count_lost_event(t, false);
		return -1;
	}
	fill_head(&event->head, cpu, cpu_number, USC_RECORD_EVENT, sizeof(*event), t->call_serial, now);
	event->entry_ns = t->entry_ns;
	event->result = result;
	fill_event(event, t, how);
	if (submit_event(cpu_number, event)) {
		count_lost_event(t, true);
		return -1;
	}
	if (!(t->event_flags & USC_EVENT_FOLLOWED))
		cpu->stats.events++;
	return 0;
}

/* The stack at an exit whose entry was not seen. For the verifier, which goes through it once, not for each caller. */
USC_SUBPROGRAM __u32 take_stack_at_exit(struct task_entry *t)
{
	struct pt_regs *regs = user_regs(this_task());

	if (!t || !is_asked_for(1u << USC_QUERY_STACK))
		return 0;
	return take_stack(regs, place_now(regs, t, true), t,
			  t->abi == USC_ABI_COMPAT ? USC_ENDED_BROKEN + USC_BROKEN_COMPAT : 0);
}

static __always_inline bool returns_no_result(__u32 abi, __u32 nr)
{
	return USC_IS_SIGRETURN(abi, nr);
}

/* ERESTARTSYS, ERESTARTNOINTR, ERESTARTNOHAND, ERESTART_RESTARTBLOCK: no program ever sees these results. */
static __always_inline bool is_restart(__s64 result)
{
	return result <= RESULT_ERESTARTSYS && result >= RESULT_ERESTART_RESTARTBLOCK;
}

/* Does a result say that a signal has ended the call? */
static __always_inline bool is_interrupted(__s64 result)
{
	return result == RESULT_EINTR || is_restart(result);
}

/* enum usc_how of a call that the current task returns from. */
static __always_inline __u32 how_it_returns(__s64 result)
{
	if (is_interrupted(result) && this_task()->pending.signal.sig[0] & 1ul << (SIGNAL_KILL - 1))
		return USC_HOW_KILLED;
	return USC_HOW_RETURNED;
}

USC_SUBPROGRAM int send_io_uring(struct task_entry *t, __u64 now)
{
	struct usc_io_uring record = {};

	if (!t)
		return 0;
	record.process = t->process;
	if (send_record(&record.head, USC_RECORD_IO_URING, sizeof(record), t->serial, now, false))
		count_loss(cpu_state_of(current_cpu()), USC_LOSS_RING_FULL_RECORD, t->process);
	return 0;
}

/* A message that is only followed because it might have carried descriptors, and did not. */
static __always_inline bool tells_nothing(const struct task_entry *t)
{
	return (t->event_flags & (USC_EVENT_FOLLOWED | USC_EVENT_PASSES)) == USC_EVENT_FOLLOWED &&
	       is_message(t->abi, t->nr);
}

/* A call that goes on when the program calls restart_syscall. */
static __always_inline void note_restart(struct task_entry *t)
{
	t->restart_nr = t->nr;
	__builtin_memcpy(t->restart_args, t->args, sizeof(t->args));
}

/* When a call ends. Where nobody asks for its time, that is its beginning. */
static __always_inline __u64 end_time(const struct task_entry *t)
{
	return is_asked_for(1u << USC_QUERY_TOOK) ? now_ns() : t->entry_ns;
}

/* For the verifier, which goes through it once, not for each caller. `result`: what the program gets. */
USC_SUBPROGRAM int interrupted_call_ends(struct task_entry *t, __s64 result)
{
	if (!t)
		return 0;
	if (result == RESULT_ERESTART_RESTARTBLOCK)
		note_restart(t);
	t->flags &= ~(TASK_IN_CALL | TASK_INTERRUPTED);
	return send_event(t, result, t->interrupted_how, end_time(t));
}

/*
 * A call that a signal has interrupted goes on until it is known what the program gets of it: EINTR, as the delivery of a
 * signal to a handler tells (core_call_interrupted), or a new try of the same call, as the thread's next call or its end
 * tells.
 */
static __always_inline void hold_interrupted(struct task_entry *t, __s64 result, __u32 how)
{
	t->interrupted_result = result;
	t->interrupted_how = how;
	barrier();
	t->flags |= TASK_IN_CALL | TASK_INTERRUPTED;
}

/* A function of its own, since it is seldom called: its caller leaves no more stack. 0: the call has ended. rt_sigreturn has
 * no result: what it restores may look like one of these. */
static __noinline int interrupted_call_returns(struct task_entry *t, __s64 result)
{
	if (!t || returns_no_result(t->abi, t->nr) || how_it_returns(result) != USC_HOW_RETURNED)
		return 0;
	t->flags &= ~(TASK_IN_CALL | TASK_EXECED);
	if (!has_question())
		strings_at_return(t, result);
	if (!tells_nothing(t))
		hold_interrupted(t, result, USC_HOW_RETURNED);
	return 1;
}

/* An exit whose entry was not seen although the task was traced: the call was denied before sys_enter. 1: it is wanted. */
static __noinline int denied_call(struct task_struct *task, struct pt_regs *regs, struct task_entry *t)
{
	__u32 nr;

	if (!t)
		return 0;
	t->nr = identify_call(task, USC_REGS_CALL(regs), &t->abi);
	read_args(regs, t->abi, t->args);
	expand_if_multiplexed(t);
	nr = t->nr;
	if (nr != NO_NUMBER && !wanted(t->abi, nr))
		return 0;
	t->entry_ns = now_ns();
	t->call_serial = t->serial;
	t->call_image = t->image;
	t->event_flags = 0;
	t->stack = take_stack_at_exit(t);
	leave_strings(t);
	return 1;
}

/* A function of its own: the walk before leaves no more stack (Linux 6.1: 512 bytes for all). */
USC_SUBPROGRAM int denied_call_returned(struct task_entry *t, __s64 result)
{
	if (!t)
		return 0;
	result = seen_result(t, result);
	if (!has_question())
		strings_at_return(t, result);
	/* Whoever is asked about it (SECCOMP_USER_NOTIF) has not answered yet. */
	if (is_restart(result))
		hold_interrupted(t, result, USC_HOW_NO_ENTRY);
	else
		send_event(t, result, USC_HOW_NO_ENTRY, t->entry_ns);
	return 0;
}

static __always_inline int call_returns(struct task_entry *t, __s64 result)
{
	__u64 now = end_time(t);

	result = seen_result(t, result);
	if (is_restart(result) && interrupted_call_returns(t, result))
		return 0;
	if (returns_no_result(t->abi, t->nr))
		t->event_flags |= USC_EVENT_NO_RESULT;
	t->flags &= ~(TASK_IN_CALL | TASK_EXECED);
	if (!has_question())
		strings_at_return(t, result);
	if (tells_nothing(t))
		return 0;
	if (config.mount_space && result >= 0 && string_word(t->abi, t->nr) & USC_CALL_OPENS && !has_question())
		send_opened(t, result);
	send_event(t, result, how_it_returns(result), now);
	asm volatile("" : "+r"(t)); /* no address of its fields is kept: one word less of stack */
	if (is_io_uring_setup(t) && result >= 0)
		send_io_uring(t, now);
	return 0;
}

/* What the program gets of the interrupted call was settled by nothing before: it is the kernel's own result. */
static __always_inline void settle_interrupted_call(struct task_entry *t)
{
	if (t->flags & TASK_INTERRUPTED)
		interrupted_call_ends(t, t->interrupted_result);
}

/* The beginning of struct sigaction. */
struct signal_action {
	__u64 handler;
	__u64 flags;
};

#define SIGNAL_DEFAULT 0ull /* SIG_DFL; SIG_IGN is 1 */
#define SIGNAL_IGNORED 1ull
#define SIGNAL_RESTARTS 0x10000000 /* SA_RESTART */

/*
 * A signal is delivered to the current task. The first handler that runs decides about the call that it interrupts, as the
 * kernel's handle_signal() does: -EINTR, but for ERESTARTNOINTR, and for ERESTARTSYS with SA_RESTART. If signals without a
 * handler came first (SIGSTOP, SIGCONT), the kernel has already prepared the new try, and the result register has its number. `from`: struct
 * k_sigaction.
 */
static __noinline int core_call_interrupted(struct task_entry *t, const void *from)
{
	struct signal_action action;
	__s64 result;

	if (!t || t->state != USC_TRACED || !(t->flags & TASK_INTERRUPTED) ||
	    read_kernel(&action, sizeof(action), from) || action.handler == SIGNAL_DEFAULT ||
	    action.handler == SIGNAL_IGNORED)
		return 0;
	result = t->interrupted_result;
	if ((__s32)user_regs(this_task())->ax == result && result != RESULT_ERESTARTNOINTR &&
	    !(result == RESULT_ERESTARTSYS && action.flags & SIGNAL_RESTARTS))
		result = RESULT_EINTR;
	return interrupted_call_ends(t, result);
}

/* A function of its own: the walk in its caller leaves no more stack (Linux 6.1: 512 bytes for all). */
USC_SUBPROGRAM int attached_call_returned(struct task_entry *t, __s64 result)
{
	return t ? call_returns(t, result) : 0;
}

/* The call that an adopted task was in. Its stack is what it was at entry. 1: it is one that is wanted. */
static __noinline int attached_call_returns(struct task_struct *task, struct pt_regs *regs, struct task_entry *t)
{
	__u32 nr;

	if (!t)
		return 0;
	t->flags &= ~(TASK_ADOPTED | TASK_SKIPPED);
	nr = identify_call(task, USC_REGS_CALL(regs), &t->abi);
	if (nr == NO_NUMBER)
		return 0;
	t->nr = nr;
	read_args(regs, t->abi, t->args);
	expand_if_multiplexed(t);
	nr = t->nr;
	attached_mapping_call(t);
	if (t->flags & TASK_HELD && is_held(t) && t->open_ns != t->entry_ns)
		return 0;
	t->event_flags = USC_EVENT_ATTACHED;
	if (!wanted(t->abi, nr)) {
		if (!is_followed(t->abi, nr, t->args))
			return 0;
		t->event_flags |= USC_EVENT_FOLLOWED;
	}
	t->call_serial = t->serial;
	t->call_image = t->image;
	t->stack = t->event_flags & USC_EVENT_FOLLOWED ? 0 : take_stack_at_exit(t);
	leave_strings(t);
	return 1;
}

/* Of the current task; `t`: its entry, 0 = none. What few returns need is asked for there: each word that is kept for them
 * is stack of the longest chain of calls. */
static __always_inline int core_sys_exit(struct task_entry *t, long result)
{
	if (!t || t->state != USC_TRACED)
		return 0;
	settle_interrupted_call(t); /* this is the return of a later one, whose entry was not seen */
	if (t->flags & (TASK_MAPPING | TASK_MAPS_DATA))
		mapping_call_returns(t, result);
	if (t->flags & TASK_ASKED) {
		t->flags &= ~(TASK_ASKED | TASK_EXECED);
		if (result == RESULT_ERESTART_RESTARTBLOCK)
			note_restart(t);
	} else if (t->flags & TASK_IN_CALL)
		call_returns(t, result);
	else if (t->flags & TASK_ADOPTED) {
		if (attached_call_returns(this_task(), user_regs(this_task()), t))
			attached_call_returned(t, result);
	} else if (t->flags & (TASK_NEWBORN | TASK_SKIPPED))
		t->flags &= ~(TASK_NEWBORN | TASK_SKIPPED | TASK_EXECED);
	else if (!entries_closed && denied_call(this_task(), user_regs(this_task()), t))
		denied_call_returned(t, result);
	if (!result && may_change_user(t->abi, t->nr))
		tell_user(t, now_ns());
	return 0;
}

/*
 * The call that a task is inside, as an event with how = open, once each, if it began before `before_ns`. Beside the
 * task's own running: a call that returns while it is copied is left out, since its entry time has changed then, or the
 * task is out of the call. 1: the event is there.
 */
static __always_inline int core_open_call(struct task_entry *t, __u64 before_ns, struct usc_event *event)
{
	if (!(t->flags & TASK_IN_CALL) || tells_nothing(t))
		return 0;
	event->entry_ns = *(volatile __u64 *)&t->entry_ns;
	if (event->entry_ns >= before_ns || t->open_ns == event->entry_ns)
		return 0;
	fill_user_head(&event->head, USC_RECORD_EVENT, sizeof(*event), t->call_serial, now_ns());
	fill_event(event, t, USC_HOW_OPEN);
	barrier();
	if (*(volatile __u64 *)&t->entry_ns != event->entry_ns || !(*(volatile __u32 *)&t->flags & TASK_IN_CALL))
		return 0;
	t->open_ns = event->entry_ns;
	return 1;
}

#endif
