/* SPDX-License-Identifier: GPL-2.0-or-later OR MIT */
/*
 * Calls of which a question wants no more than can be told without the thread's entry, whose look-up takes longer than
 * the telling: those that are only counted (counts_calls()), when they begin; and those of which neither arguments nor
 * stack are asked for, when they return. What is known of such a call stands in a slot that the thread's number chooses.
 * The thread itself writes it, and those that make the thread or see it end while it does not run; two threads whose
 * numbers choose one slot do not have it at once. Where the slot is not enough, core/ does all of it, as always.
 */
#ifndef USCOPE_BPF_BRIEF_CALLS_H
#define USCOPE_BPF_BRIEF_CALLS_H

#include "storage.h"
#include "uscope/core/tasks/tasks.h"
#include "uscope/query_counts.h"

/* Neighbours do not share a cache line: the processors that they run on would take it from each other. */
static __always_inline __u32 brief_call_number(__u32 pid)
{
	return (pid << 1 | (pid / (USC_QUERY_BRIEF_THREADS / 2) & 1)) % USC_QUERY_BRIEF_THREADS;
}

/* Has the call that the slot holds been written as open? */
static __always_inline bool is_told_open(const struct brief_call *call)
{
	return call->told_open == (__u32)call->entry_ns;
}

/* The thread's slot, where it has one. */
static __always_inline struct brief_call *brief_call_of(struct task_struct *task)
{
	__u32 pid = task->pid, number = brief_call_number(pid);
	struct brief_call *call = tells_briefly() ? bpf_map_lookup_elem(&brief_calls, &number) : 0;

	return call && call->thread == pid ? call : 0;
}

/* The entry takes over from the slot: its next call is a later one than those told of by the slot (entry_time()). */
static __always_inline void leave_to_entry(struct task_struct *task, struct brief_call *call)
{
	struct task_entry *t;

	call->state = BRIEF_NOT;
	if (is_asked_for(ASKED_TIME))
		return;
	t = entry_of(task);
	if (t)
		t->entry_ns = call->entry_ns;
}

/* The same in the middle of a call: the entry holds it, as if it had seen its beginning. `how`: TASK_IN_CALL, TASK_ASKED */
static __noinline int give_to_entry(struct task_struct *task, struct brief_call *call, __u32 how)
{
	struct task_entry *t = entry_of(task);

	call->state = BRIEF_NOT;
	if (!t)
		return 0;
	t->nr = call->nr;
	t->abi = USC_ABI_NATIVE;
	t->event_flags = 0;
	t->entry_ns = call->entry_ns;
	if (is_told_open(call))
		t->open_ns = call->entry_ns;
	t->call_serial = call->serial;
	t->call_image = call->image;
	if (guises_asked)
		t->renamed_image = t->image != call->image ? t->image : 0;
	t->stack = 0;
	read_args(user_regs(task), t->abi, t->args);
	t->flags |= how;
	return 0;
}

static __always_inline bool is_brief_number(__u32 nr)
{
	__u32 bit = nr % USC_SYSCALL_BITS;

	return nr < USC_SYSCALL_BITS && brief_numbers[bit / 64 % 8] >> bit % 64 & 1;
}

/* A call that is none of brief_numbers is left out, unless the entry has to see it: then 0. */
static __noinline int is_left_out(struct task_struct *task, struct brief_call *call, __u32 nr)
{
	if (nr >= USC_SYSCALL_BITS || needs_entry(nr) || abi_of(task, nr) != USC_ABI_NATIVE) {
		leave_to_entry(task, call);
		return 0;
	}
	call->nr = nr;
	call->state = BRIEF_LEFT_OUT;
	return 1;
}

/* true: no entry is needed for what the call does until it returns. `task`: the current one. */
static __always_inline bool enters_briefly(struct task_struct *task, struct pt_regs *regs, __u32 nr)
{
	struct brief_call *call = brief_call_of(task);
	__u64 args[6] = {0}; /* all the same: what is not asked for is not looked at */

	if (!call || call->state == BRIEF_NOT)
		return false;
	if (guises_asked && *(volatile __u8 *)&call->renamed) {
		leave_to_entry(task, call);
		return false;
	}
	if (!is_brief_number(nr) || USC_TASK_IS_COMPAT(task))
		return is_left_out(task, call, nr);
	call->nr = nr;
	if (counts_calls()) {
		if (is_asked_for(USC_QUERY_OF_ARGS))
			read_args(regs, USC_ABI_NATIVE, args);
		if (!count_call(USC_ABI_NATIVE, nr, args)) {
			leave_to_entry(task, call);
			return false;
		}
		call->state = BRIEF_COUNTED;
		return true;
	}
	call->entry_ns = times_asked ? now_ns() : call->entry_ns + 1;
	barrier();
	call->state = BRIEF_OPEN;
	return true;
}

/* A number below a power of two. For 6.1's verifier, the bound is set where the number is used, and in all 64 bits. */
static __always_inline __u64 below(__u64 number, __u64 bound)
{
	asm volatile("" : "+r"(number));
	return number & (bound - 1);
}

static __always_inline bool count_step(struct usc_query_counts *counts, __u64 number, __u64 step)
{
	struct usc_query_steps *steps = &counts->steps[below(number - 1, USC_QUERY_COUNTS)];
	__u32 *count = &steps->events[below(step, USC_QUERY_STEPS)];

	if (*count == ~0u)
		return false;
	++*count;
	return true;
}

#define COUNT_TRIES 4	   /* places for one key */
#define COUNT_STRIDE 0x2d1 /* from one to the next */

/* Counts where the first place of the key has another one, or none. A function of its own: it is seldom called. Static: 6.1
 * looks at others even if nobody calls them, and their map may not be there. 0: there is no room. */
static __noinline int count_elsewhere(__u64 key, __u32 image, __u32 step)
{
	__u32 at = usc_query_count_place(key, image), most = config.query.rows, i;
	struct usc_query_counts *counts = query_counts_here();
	struct usc_query_place *place;

	if (!counts)
		return 0;
	if (most > USC_QUERY_COUNTS)
		most = USC_QUERY_COUNTS;
	for (i = 0; i < COUNT_TRIES; i++) {
		asm volatile("" : "+r"(i)); /* no four copies of this */
		at += i * COUNT_STRIDE;
		place = &counts->place[below(at, USC_QUERY_COUNT_PLACES)];
		if (!place->number) {
			if (counts->used >= most)
				return 0;
			place->key = key;
			place->image = image;
			counts->place_of[below(counts->used, USC_QUERY_COUNTS)] = at & (USC_QUERY_COUNT_PLACES - 1);
			place->number = ++counts->used;
		}
		if (place->key == key && place->image == image)
			return count_step(counts, place->number, step);
	}
	return 0;
}

/*
 * Counts a call that has returned, of a question that counts by fields: by little code, and without memory that nothing else
 * has touched since the processor was here last. No other program of this processor comes in between that counts here: it
 * would be one of a call. false: nothing has been done.
 */
static __always_inline bool count_by_fields(const struct brief_call *call, __s64 result)
{
	__s64 group = 0, error = result < 0 && result >= -4095 ? -result : 0;
	__u32 image = counts_images ? call->image : 0, step = 0;
	struct usc_query_counts *counts;
	struct usc_query_place *place;
	__u64 now, key;

	if (counts_times) {
		now = now_ns();
		group = usc_query_group(now > call->entry_ns ? now - call->entry_ns : 0, &step);
	} else if (counts_results) {
		group = usc_query_group(result, &step);
	}
	counts = query_counts_here();
	if (!counts)
		return false;
	key = usc_query_count_key(call->nr, group, error, call->serial) & count_mask;
	place = &counts->place[below(usc_query_count_place(key, image), USC_QUERY_COUNT_PLACES)];
	if (place->number && place->key == key && place->image == image)
		return count_step(counts, place->number, step);
	return count_elsewhere(key, image, step);
}

/* As ask_event(), of a call that returns. */
USC_SUBPROGRAM int ask_brief_call(struct brief_call *call, __s64 result, __u32 how)
{
	__u64 now = is_asked_for(1u << USC_QUERY_TOOK) ? now_ns() : 0;
	struct query_scratch *scratch;
	struct usc_event event;

	if (!call)
		return 1;
	scratch = begin_asking();
	if (!scratch)
		return 1;
	event.head.task = call->serial;
	event.head.time = now;
	event.entry_ns = call->entry_ns;
	event.result = result;
	event.image = call->image;
	event.kind = call->nr;
	event.how = how;
	event.abi = USC_ABI_NATIVE;
	event.flags = returns_no_result(event.abi, event.kind) ? USC_EVENT_NO_RESULT : 0;
	event.source = USC_SOURCE_SYSCALL;
	return ask_of_event(scratch, &event, 0, call->process);
}

/* true: it is an event no more. */
static __always_inline bool is_told(struct task_struct *task, struct brief_call *call, __s64 result)
{
	__u32 how;

	if (is_told_open(call))
		return false;
	how = how_it_returns(result);
	if (counts_by_fields && how == USC_HOW_RETURNED && call->nr != NR_rt_sigreturn && count_by_fields(call, result))
		return true;
	return !ask_brief_call(call, result, how);
}

/* true: the entry is not needed for the call that returns. */
static __always_inline bool leaves_briefly(struct task_struct *task, long result)
{
	struct brief_call *call = brief_call_of(task);
	__u32 state = call ? call->state : BRIEF_NOT;

	if (!call || state == BRIEF_NOT || state == BRIEF_READY)
		return false;
	call->state = BRIEF_READY;
	/* What is to go on is kept in the entry, unless it is left out. */
	if (state == BRIEF_LEFT_OUT || (state == BRIEF_COUNTED && result != RESULT_ERESTART_RESTARTBLOCK))
		return true;
	if (state == BRIEF_OPEN && !is_restart(result) && is_told(task, call, result))
		return true;
	give_to_entry(task, call, state == BRIEF_OPEN ? TASK_IN_CALL : TASK_ASKED);
	return false;
}

/* Does its entry say nothing of calls that are to come? */
static __always_inline bool may_be_brief(const struct task_entry *t)
{
	return t && t->state == USC_TRACED && !(t->flags & ~TASK_COPIED) && !t->unannounced &&
	       t->restart_nr == NO_NUMBER && !targets(USC_TARGET_CGROUP);
}

/* The slot that the thread's number chooses, if no other thread has it. */
static __always_inline struct brief_call *take_brief_call(struct task_struct *task)
{
	__u32 pid = task->pid, number = brief_call_number(pid);
	struct brief_call *call = bpf_map_lookup_elem(&brief_calls, &number);

	return call && !__sync_val_compare_and_swap(&call->thread, 0, pid) ? call : 0;
}

/* A call has returned, and its entry has been looked at: do those to come need that? A function of its own, so that the hook
 * keeps nothing for it on the stack, of which 6.1's BPF has 512 bytes for all calls. */
static __noinline int becomes_brief(struct task_struct *task, const struct task_entry *t)
{
	struct brief_call *call = brief_call_of(task);

	if (call)
		call->state = BRIEF_NOT;
	if (!may_be_brief(t))
		return 0;
	if (!call)
		call = take_brief_call(task);
	if (!call)
		return 0;
	call->renamed = 0;
	barrier();
	call->serial = t->serial;
	call->image = t->image;
	call->process = t->process;
	call->entry_ns = t->entry_ns;
	call->told_open = 0;
	call->state = BRIEF_READY;
	return 0;
}

/* A thread that ends: its entry tells of the call that it is in. */
static __always_inline void ends_in_call(struct task_struct *task)
{
	struct brief_call *call = brief_call_of(task);

	if (call && call->state == BRIEF_OPEN)
		give_to_entry(task, call, TASK_IN_CALL);
}

/* A thread begins, ends, or goes on as another program, maybe under another number. */
static __always_inline void ends_briefness(struct task_struct *task)
{
	struct brief_call *call = brief_call_of(task);

	if (!call)
		return;
	call->state = BRIEF_NOT;
	barrier();
	call->thread = 0;
}

/* A thread's entry has told of another name: calls to come have its new guise. */
static __always_inline void brief_call_renamed(struct task_struct *task)
{
	struct brief_call *call = guises_asked ? brief_call_of(task) : 0;

	if (call)
		*(volatile __u8 *)&call->renamed = 1;
}

/* As core_open_call(). */
static __always_inline int brief_open_call(struct task_struct *task, __u64 before_ns, struct usc_event *event)
{
	struct brief_call *call = brief_call_of(task);

	if (!call || *(volatile __u8 *)&call->state != BRIEF_OPEN)
		return 0;
	event->entry_ns = *(volatile __u64 *)&call->entry_ns;
	if (event->entry_ns >= before_ns || is_told_open(call))
		return 0;
	fill_user_head(&event->head, USC_RECORD_EVENT, sizeof(*event), call->serial, now_ns());
	event->image = call->image;
	event->kind = call->nr;
	event->how = USC_HOW_OPEN;
	event->abi = USC_ABI_NATIVE;
	event->source = USC_SOURCE_SYSCALL;
	read_args(user_regs(task), event->abi, event->args);
	barrier();
	if (*(volatile __u64 *)&call->entry_ns != event->entry_ns || *(volatile __u8 *)&call->state != BRIEF_OPEN)
		return 0;
	call->told_open = event->entry_ns;
	return 1;
}

/* As if it had not been told of. */
static __always_inline void take_back_open_call(struct task_struct *task)
{
	struct brief_call *call = brief_call_of(task);

	if (call)
		call->told_open = 0;
}

#endif
