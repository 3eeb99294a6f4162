/* SPDX-License-Identifier: GPL-2.0-or-later OR MIT */
/*
 * How functions are paired from entry to return (`%return`). What is known at the entry is kept with the thread until one
 * of these happens:
 *   the function returns, or jumps to another one (a tail call): the event is told, how = returned;
 *   it turns out to have been left in another way (longjmp, an exception, exec): how = left;
 *   the thread or the tracing ends: how = open.
 * A return without a kept entry is not told: the entry was before tracing, or in the parent of a forked process.
 *
 * Functions of the program are known by the place of their return address. A stack grows downward, so when one is entered,
 * or ends, all those whose return address lies below its own have been left; when one is entered, so has one whose return
 * address was in the same place. While a handler runs on an alternate stack, the functions of the thread's own stack wait.
 * Functions on stacks that a program switches between by itself may be told as left, although they go on.
 *
 * Functions of the kernel nest strictly, but a return may be seen where no entry was. They are kept beside those of the
 * program: the kernel may be at a probe of the program while one of its own functions is open.
 */
#ifndef USCOPE_CORE_OPEN_FUNCTIONS_H
#define USCOPE_CORE_OPEN_FUNCTIONS_H

#include "uscope/core/numbers.h"
#include "uscope/core/port.h"
#include "uscope/probes.h"

/*
 * Supplied by the backend: room for a function that a thread is in, by number (0 … OPEN_FUNCTIONS - 1); 0: there is none, or
 * with `make` no memory. What was made stays, and is found again, until forget_open_functions(); t->functions tells threads
 * apart as long as they have any, and t->made says how many of each kind were made.
 */
static struct open_function *open_function_at(struct task_entry *t, __u32 number, bool make);
static void forget_open_functions(struct task_entry *t);
/* Has a question taken a hit of this thread (serial) and process, so that it is not sent? core/probes/hits.h. */
static bool taken_by_question(const struct hit_room *room, __u32 task, __u32 process, __u64 now);

static __always_inline bool is_of_kernel(const struct usc_hit *hit)
{
	return hit->source == USC_SOURCE_KFUNCTION;
}

static __always_inline __u32 open_functions_most(bool of_kernel)
{
	return of_kernel ? OPEN_KERNEL_FUNCTIONS : OPEN_USER_FUNCTIONS;
}

/* `depth`: 0 is the outermost one. */
static __always_inline struct open_function *function_at_depth(struct task_entry *t, bool of_kernel, __u32 depth,
							       bool make)
{
	/* For the verifier: from here on the bound is that of this register. */
	__asm__ volatile("" : "+r"(depth));
	if (depth >= open_functions_most(of_kernel))
		return 0;
	return open_function_at(t, (of_kernel ? OPEN_USER_FUNCTIONS : 0) + depth, make);
}

/* Linux runs handlers there that asked for it: sigaltstack(2). `sp`: where a return address is. */
static __always_inline bool is_on_alternate_stack(const struct task_struct *task, __u64 sp)
{
	return sp - task->sas_ss_sp < task->sas_ss_size;
}

/* Sends a hit of a function, with the serial that the thread had at the entry. */
static __always_inline void send_function(struct hit_room *room, const struct task_entry *t, __u32 serial, __u64 now)
{
	struct cpu_state *cpu = cpu_state_of(current_cpu());
	__u32 frames = room->hit.frames;

	if (!cpu || taken_by_question(room, serial, t->process, now))
		return;
	if (!now) /* a question that reads no time has had no clock read */
		now = now_ns();
	if (!room->hit.entry_ns)
		room->hit.entry_ns = now;
	if (frames > USC_KERNEL_FRAMES)
		frames = USC_KERNEL_FRAMES;
	if (send_record(&room->hit.head, USC_RECORD_HIT, sizeof(room->hit) + frames * sizeof(room->frames[0]), serial,
			now, false))
		count_loss(cpu, USC_LOSS_RING_FULL_EVENT, t->process);
	else
		cpu->stats.events++;
}

/* Tells a function's end. `now`: when that was, or was found. */
static __always_inline void tell_function(struct task_entry *t, struct open_function *f, __u32 how, __u64 now)
{
	f->room.hit.how = how;
	send_function(&f->room, t, f->serial, now);
}

/* What is looked for, from the innermost function outwards. */
struct function_search {
	struct task_entry *t;
	__u64 sp;
	__u64 now;
	__u32 number; /* of the probe that has met a function's end; NO_NUMBER: at an entry */
	__u32 depth;  /* found here, and 1 more */
	bool on_alternate;
};

/* Has a function of the program been left, as seen where the search begins? */
static __always_inline bool has_been_left(const struct open_function *f, const struct function_search *search)
{
	if (f->on_alternate != search->on_alternate)
		return f->on_alternate;
	return f->sp < search->sp || (f->sp == search->sp && search->number == NO_NUMBER);
}

static long leave_function(__u32 i, struct function_search *search)
{
	struct task_entry *t = search->t;
	__u32 depth = t->open_functions[0];
	struct open_function *f = depth ? function_at_depth(t, false, depth - 1, false) : 0;

	if (!f)
		return 1;
	if (!has_been_left(f, search)) {
		/* Functions may share the code by which they return. */
		if (f->sp == search->sp && f->on_alternate == search->on_alternate && f->number == search->number)
			search->depth = depth;
		return 1;
	}
	tell_function(t, f, USC_HOW_LEFT, search->now);
	t->open_functions[0] = depth - 1;
	return 0;
}

/* A function of the kernel whose entry found no room has no number: the innermost one of these is taken to return. */
static long find_kernel_function(__u32 i, struct function_search *search)
{
	__u32 depth = search->t->open_functions[1] - i;
	struct open_function *f;

	if (!depth || depth > search->t->open_functions[1])
		return 1;
	f = function_at_depth(search->t, true, depth - 1, false);
	if (f && (f->number != search->number || (search->sp && f->sp && f->sp != search->sp)))
		return 0;
	search->depth = depth;
	return 1;
}

static long leave_kernel_function(__u32 i, struct function_search *search)
{
	struct task_entry *t = search->t;
	__u32 depth = t->open_functions[1];
	struct open_function *f;

	if (depth <= search->depth)
		return 1;
	f = function_at_depth(t, true, depth - 1, false);
	if (f)
		tell_function(t, f, USC_HOW_LEFT, search->now);
	t->open_functions[1] = depth - 1;
	return 0;
}

/* Of the program: tells those that have been left, and finds the one with this number that has its return address at sp. */
static __always_inline int find_function(struct function_search *search)
{
	usc_loop(OPEN_USER_FUNCTIONS, leave_function, search);
	return 0;
}

/* The same of the kernel: what lies above the one that is found has been left. */
static __noinline int find_function_of_kernel(struct function_search *search)
{
	usc_loop(OPEN_KERNEL_FUNCTIONS + 1, find_kernel_function, search);
	if (search->depth)
		usc_loop(OPEN_KERNEL_FUNCTIONS + 1, leave_kernel_function, search);
	return 0;
}

/* Keeps a hit that is complete. A function of its own, since 6.1's BPF has 512 bytes of stack for all calls, and what walks
 * stacks does not lie below this. */
static __noinline int keep_function(struct task_entry *t, struct hit_room *hit, __u32 number, __u64 sp)
{
	struct function_search search = {.t = t, .sp = sp, .number = NO_NUMBER};
	bool of_kernel = is_of_kernel(&hit->hit);
	struct open_function *f;
	__u32 depth;

	if (!of_kernel) {
		search.now = hit->hit.entry_ns;
		search.on_alternate = is_on_alternate_stack(this_task(), sp);
		if (t->open_functions[0])
			find_function(&search);
	}
	if (!t->functions)
		t->functions = t->serial;
	/* Functions of the kernel that an interrupt enters and leaves meanwhile lie above. */
	depth = t->open_functions[of_kernel];
	if (of_kernel)
		t->open_functions[of_kernel] = depth + 1;
	barrier();
	f = function_at_depth(t, of_kernel, depth, true);
	if (!f) {
		count_loss(cpu_state_of(current_cpu()), USC_LOSS_PROBE_MISSED, t->process);
		return -1;
	}
	if (depth >= t->made[of_kernel])
		t->made[of_kernel] = depth + 1;
	f->room.hit = hit->hit;
	if (hit->hit.frames)
		__builtin_memcpy(f->room.frames, hit->frames, sizeof(hit->frames));
	f->sp = sp;
	f->serial = t->serial;
	f->number = number;
	f->on_alternate = search.on_alternate;
	barrier();
	t->open_functions[of_kernel] = depth + 1;
	return 0;
}

/* What ends a function. */
struct function_end {
	__u64 sp;
	__u64 result;
	__u32 number;
	__u8 of_kernel;
	__u8 result_is; /* usc_probe.result */
};

static __noinline int function_ended(struct task_entry *t, const struct function_end *end)
{
	struct function_search search = {.t = t, .sp = end->sp, .now = now_ns(), .number = end->number};
	__u32 bytes = end->result_is & ~USC_RESULT_SIGNED;
	bool of_kernel = end->of_kernel;
	struct open_function *f;

	if (!t->open_functions[of_kernel])
		return 0;
	if (of_kernel) {
		find_function_of_kernel(&search);
	} else {
		search.on_alternate = is_on_alternate_stack(this_task(), end->sp);
		find_function(&search);
	}
	if (!search.depth)
		return 0;
	f = function_at_depth(t, of_kernel, search.depth - 1, false);
	if (f) {
		if (bytes) {
			f->room.hit.result = usc_argument_value(end->result, bytes, end->result_is & USC_RESULT_SIGNED);
			f->room.hit.flags &= ~USC_EVENT_NO_RESULT;
		}
		tell_function(t, f, USC_HOW_RETURNED, search.now);
	}
	/* Not before: what interrupts this would use its room. */
	barrier();
	t->open_functions[of_kernel] = search.depth - 1;
	return 0;
}

/* The current task is at a return: sends the hit of the innermost open function with this number (and sp, if not 0). */
static __always_inline void core_function_returned(struct task_entry *t, __u32 number, const struct usc_probe *probe,
						   __u64 sp, __u64 result)
{
	struct function_end end = {.sp = sp, .result = result, .number = number};

	end.of_kernel = probe->source == USC_SOURCE_KFUNCTION;
	end.result_is = probe->result;
	function_ended(t, &end);
}

/* A function of the program is at a jump to another one, if its return address is at sp: it has no result of its own. */
static __always_inline void core_function_jumped(struct task_entry *t, __u32 number, __u64 sp)
{
	struct function_end end = {.sp = sp, .number = number};

	function_ended(t, &end);
}

struct functions_end {
	struct task_entry *t;
	__u64 now;
	__u32 how;
	__u32 of_kernel;
};

static long end_function(__u32 i, struct functions_end *end)
{
	struct task_entry *t = end->t;
	bool of_kernel = end->of_kernel;
	__u32 depth = t->open_functions[of_kernel];
	struct open_function *f;

	if (!depth)
		return 1;
	f = function_at_depth(t, of_kernel, depth - 1, false);
	if (f)
		tell_function(t, f, end->how, end->now);
	t->open_functions[of_kernel] = depth - 1;
	return 0;
}

/* All open functions of the program, and of the kernel, end so. A function of its own for the verifier. */
static __noinline int functions_end(struct task_entry *t, __u32 how, bool with_kernel, __u64 now)
{
	struct functions_end end = {.t = t, .now = now, .how = how};

	if (!t)
		return 0;
	usc_loop(OPEN_USER_FUNCTIONS, end_function, &end);
	if (!with_kernel)
		return 0;
	end.of_kernel = 1;
	usc_loop(OPEN_KERNEL_FUNCTIONS, end_function, &end);
	forget_open_functions(t);
	t->functions = 0;
	t->made[0] = t->made[1] = 0;
	return 0;
}

/* For the backend's hooks, before core_exec(): the task's program is replaced by another one. Those of the kernel go on. */
static __always_inline void core_functions_exec(struct task_struct *task)
{
	struct task_entry *t = traced_entry(task);

	if (t && t->open_functions[0])
		functions_end(t, USC_HOW_LEFT, false, now_ns());
}

/* Likewise, before core_exit(): the task ends. If it has left the trace before, nothing is told. */
static __always_inline void core_functions_exit(struct task_struct *task)
{
	struct task_entry *t = entry_of(task);

	if (!t || !t->functions)
		return;
	if (t->state != USC_TRACED || t->flags & TASK_ENDED)
		t->open_functions[0] = t->open_functions[1] = 0;
	functions_end(t, USC_HOW_OPEN, true, now_ns());
}

#endif
