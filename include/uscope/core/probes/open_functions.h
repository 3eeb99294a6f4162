/* SPDX-License-Identifier: GPL-2.0-or-later OR MIT */
/*
 * How functions are paired from entry to return (`%return`). What is known at the entry is kept with the thread until one
 * of these happens:
 *   the function returns, or jumps to another one (a tail call: core/probes/jumps.h): the event is told, how = returned;
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
static struct open_slot *open_slot_at(struct task_entry *t, __u32 number, bool make);
static void forget_open_functions(struct task_entry *t);
/* Also of the backend's: is a hit kept of each function? If not, no more is told of one than what struct open_function says,
 * its end and its result (wants_whole_hits() is false), and all that is done with it is done by functions whose names end
 * with "briefly". */
static bool keeps_hits(void);
/* core/probes/hits.h: has a question taken a hit of this thread (serial) and process, so that it is not sent? */
static bool taken_by_question(const struct hit_room *room, __u32 task, __u32 process, __u64 now);
/* core/probes/returns.h: tells the end of a function of which no hit is kept. */
struct told_end;
static int tell_briefly(struct task_entry *t, const struct open_function *f, const struct told_end *end);

static __always_inline bool is_of_kernel(const struct usc_hit *hit)
{
	return hit->source == USC_SOURCE_KFUNCTION;
}

static __always_inline __u32 open_functions_most(bool of_kernel)
{
	return of_kernel ? OPEN_KERNEL_FUNCTIONS : OPEN_USER_FUNCTIONS;
}

/*
 * `depth`: 0 is the outermost one. `brief`, here and below: no hits are kept, and the outermost functions stand in task_entry.
 * Known when this is compiled: what is not done by a program must not lie below it, since BPF's verifier counts calls
 * that are never made, too.
 */
static __always_inline struct open_function *function_at_depth(struct task_entry *t, bool of_kernel, __u32 depth,
							       bool make, const bool brief)
{
	struct open_slot *slot;

	/* For the verifier: from here on the bound is that of this register. */
	__asm__ volatile("" : "+r"(depth));
	if (brief && depth < NEAR_FUNCTIONS)
		return of_kernel ? &t->near[1][depth] : &t->near[0][depth];
	if (depth >= open_functions_most(of_kernel))
		return 0;
	slot = open_slot_at(t, (of_kernel ? OPEN_USER_FUNCTIONS : 0) + depth, make);
	if (!slot)
		return 0;
	if (make && depth >= t->made[of_kernel])
		t->made[of_kernel] = depth + 1;
	return &slot->function;
}

/* The hit of a function, where hits are kept. */
static __always_inline struct hit_room *room_of(struct open_function *f)
{
	return &((struct open_slot *)f)->room;
}

/* Linux runs handlers there that asked for it: sigaltstack(2). `sp`: where a return address is. */
static __always_inline bool is_on_alternate_stack(const struct task_struct *task, __u64 sp)
{
	return sp - task->sas_ss_sp < task->sas_ss_size;
}

/* Sends a hit of a function with so many kernel frames, and with the serial that the thread had at the entry. */
static __always_inline void send_function_record(struct hit_room *room, const struct task_entry *t, __u32 serial,
						 __u64 now, __u32 frames)
{
	const __u32 most = sizeof(room->hit) + sizeof(room->frames);
	__u64 bytes = sizeof(room->hit) + frames * sizeof(room->frames[0]);
	struct cpu_state *cpu = cpu_state_of(current_cpu());

	if (!cpu)
		return;
	if (!now) /* a question that reads no time has had no clock read */
		now = now_ns();
	if (!room->hit.entry_ns)
		room->hit.entry_ns = now;
	/* For the verifier: from here on the bound is that of this register. */
	__asm__ volatile("" : "+r"(bytes));
	if (bytes > most)
		bytes = most;
	if (send_record(&room->hit.head, USC_RECORD_HIT, bytes, serial, now, false))
		count_loss(cpu, USC_LOSS_RING_FULL_EVENT, t->process);
	else
		cpu->stats.events++;
}

/* The same, unless a question takes it. */
static __always_inline void send_function(struct hit_room *room, const struct task_entry *t, __u32 serial, __u64 now)
{
	if (!taken_by_question(room, serial, t->process, now))
		send_function_record(room, t, serial, now, room->hit.frames);
}

/* A function's end. */
struct told_end {
	__u64 now; /* when that was, or was found */
	__u64 result;
	__u32 how;
	__u32 has_result;
};

static __always_inline void note_end(struct usc_hit *hit, const struct told_end *end)
{
	hit->how = end->how;
	if (!end->has_result)
		return;
	hit->result = end->result;
	hit->flags &= ~USC_EVENT_NO_RESULT;
}

static __always_inline void tell_function(struct task_entry *t, struct open_function *f, const struct told_end *end,
					  const bool brief)
{
	if (brief) {
		tell_briefly(t, f, end);
		return;
	}
	note_end(&room_of(f)->hit, end);
	send_function(room_of(f), t, f->serial, end->now);
}

/* One of which no more is known than how and when. */
static __always_inline void tell_plain_end(struct task_entry *t, struct open_function *f, __u32 how, __u64 now,
					   const bool brief)
{
	struct told_end end = {.now = now, .how = how};

	tell_function(t, f, &end, brief);
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

/* What loops do, with hits that are kept and without. */
#define FUNCTION_LOOP(name, type)                                                                                      \
	static long name(__u32 i, type *what)                                                                          \
	{                                                                                                              \
		return name##_either(i, what, false);                                                                  \
	}                                                                                                              \
	static long name##_briefly(__u32 i, type *what)                                                                \
	{                                                                                                              \
		return name##_either(i, what, true);                                                                   \
	}

/* The innermost function of the program, if it has been left; 0: the search is over. */
static __always_inline struct open_function *innermost_that_was_left(struct function_search *search, const bool brief)
{
	struct task_entry *t = search->t;
	__u32 depth = t->open_functions[0];
	struct open_function *f = depth ? function_at_depth(t, false, depth - 1, false, brief) : 0;

	if (!f || has_been_left(f, search))
		return f;
	/* Functions may share the code by which they return. */
	if (f->sp == search->sp && f->on_alternate == search->on_alternate && f->number == search->number)
		search->depth = depth;
	return 0;
}

static __always_inline long leave_function_either(__u32 i, struct function_search *search, const bool brief)
{
	struct open_function *f = innermost_that_was_left(search, brief);
	struct task_entry *t = search->t;

	if (!f)
		return 1;
	tell_plain_end(t, f, USC_HOW_LEFT, search->now, brief);
	t->open_functions[0]--;
	return 0;
}

/* A function of the kernel whose entry found no room has no number: the innermost one of these is taken to return. */
static __always_inline long find_kernel_function_either(__u32 i, struct function_search *search, const bool brief)
{
	__u32 depth = search->t->open_functions[1] - i;
	struct open_function *f;

	if (!depth || depth > search->t->open_functions[1])
		return 1;
	f = function_at_depth(search->t, true, depth - 1, false, brief);
	if (f && (f->number != search->number || (search->sp && f->sp && f->sp != search->sp)))
		return 0;
	search->depth = depth;
	return 1;
}

static __always_inline long leave_kernel_function_either(__u32 i, struct function_search *search, const bool brief)
{
	struct task_entry *t = search->t;
	__u32 depth = t->open_functions[1];
	struct open_function *f;

	if (depth <= search->depth)
		return 1;
	f = function_at_depth(t, true, depth - 1, false, brief);
	if (f)
		tell_plain_end(t, f, USC_HOW_LEFT, search->now, brief);
	t->open_functions[1] = depth - 1;
	return 0;
}

FUNCTION_LOOP(leave_function, struct function_search)
FUNCTION_LOOP(find_kernel_function, struct function_search)
FUNCTION_LOOP(leave_kernel_function, struct function_search)

/* Of the program: tells those that have been left, and finds the one with this number that has its return address at sp. */
static __always_inline void find_function(struct function_search *search, const bool brief)
{
	if (!brief) {
		usc_loop(OPEN_USER_FUNCTIONS, leave_function, search);
		return;
	}
	/* Most often there is none. */
	if (innermost_that_was_left(search, true))
		usc_loop(OPEN_USER_FUNCTIONS, leave_function_briefly, search);
}

/* The same of the kernel: what lies above the one that is found has been left. */
static __noinline int find_function_of_kernel(struct function_search *search)
{
	usc_loop(OPEN_KERNEL_FUNCTIONS + 1, find_kernel_function, search);
	if (search->depth)
		usc_loop(OPEN_KERNEL_FUNCTIONS + 1, leave_kernel_function, search);
	return 0;
}

static __always_inline void find_function_of_kernel_briefly(struct function_search *search)
{
	if (!find_kernel_function_either(0, search, true))
		usc_loop(OPEN_KERNEL_FUNCTIONS + 1, find_kernel_function_briefly, search);
	if (search->depth && search->depth < search->t->open_functions[1])
		usc_loop(OPEN_KERNEL_FUNCTIONS + 1, leave_kernel_function_briefly, search);
}

/* What is known of a function at its entry, beside its hit. */
struct function_begin {
	__u64 sp; /* as in open_function, so the next */
	__u64 entry_ns;
	__u32 image;
	__u32 number;
};

/* Has the innermost function of the program come to its entry by a jump of its own? It goes on. */
static __always_inline bool goes_on_at_entry(struct task_entry *t, const struct function_begin *begin,
					     bool on_alternate, const bool brief)
{
	__u32 depth = t->open_functions[0];
	struct open_function *f = depth ? function_at_depth(t, false, depth - 1, false, brief) : 0;

	if (!f || !f->goes_on || f->sp != begin->sp || f->number != begin->number || f->on_alternate != on_alternate)
		return false;
	f->goes_on = 0;
	return true;
}

static __always_inline int keep_function_either(struct task_entry *t, const struct hit_room *hit,
						const struct function_begin *begin, bool of_kernel, const bool brief)
{
	struct function_search search = {.t = t, .sp = begin->sp, .now = begin->entry_ns, .number = NO_NUMBER};
	struct open_function *f;
	__u32 depth;

	if (!of_kernel) {
		search.on_alternate = is_on_alternate_stack(this_task(), begin->sp);
		if (goes_on_at_entry(t, begin, search.on_alternate, brief))
			return 0;
		if (t->open_functions[0])
			find_function(&search, brief);
	}
	if (!t->functions)
		t->functions = t->serial;
	/* Functions of the kernel that an interrupt enters and leaves meanwhile lie above. */
	depth = t->open_functions[of_kernel];
	if (of_kernel)
		t->open_functions[of_kernel] = depth + 1;
	barrier();
	f = function_at_depth(t, of_kernel, depth, true, brief);
	if (!f) {
		count_loss(cpu_state_of(current_cpu()), USC_LOSS_PROBE_MISSED, t->process);
		return -1;
	}
	if (!brief) {
		room_of(f)->hit = hit->hit;
		if (hit->hit.frames)
			__builtin_memcpy(room_of(f)->frames, hit->frames, sizeof(hit->frames));
	}
	f->sp = begin->sp;
	f->entry_ns = begin->entry_ns;
	f->serial = t->serial;
	f->image = begin->image;
	f->number = begin->number;
	f->on_alternate = search.on_alternate;
	f->goes_on = 0;
	barrier();
	t->open_functions[of_kernel] = depth + 1;
	return 0;
}

/* Keeps a hit that is complete. A function of its own, since 6.1's BPF has 512 bytes of stack for all calls, and what walks
 * stacks does not lie below this. */
static __noinline int keep_function(struct task_entry *t, struct hit_room *hit, __u32 number, __u64 sp)
{
	struct function_begin begin = {
		.sp = sp, .entry_ns = hit->hit.entry_ns, .image = hit->hit.image, .number = number};

	return keep_function_either(t, hit, &begin, is_of_kernel(&hit->hit), false);
}

/* What ends a function. */
struct function_end {
	__u64 sp;
	__u64 result;
	__u64 now; /* when it was, if that is over */
	__u32 number;
	__u8 result_is; /* usc_probe.result */
	__u8 goes_on;	/* it is none: the function jumps to its own entry */
};

static __always_inline int function_ended_either(struct task_entry *t, const struct function_end *end, bool of_kernel,
						 const bool brief)
{
	struct function_search search = {
		.t = t, .sp = end->sp, .now = end->now ? end->now : now_ns(), .number = end->number};
	struct told_end told = {.now = search.now, .how = USC_HOW_RETURNED};
	__u32 bytes = end->result_is & ~USC_RESULT_SIGNED;
	struct open_function *f;

	if (!t->open_functions[of_kernel])
		return 0;
	if (!of_kernel) {
		search.on_alternate = is_on_alternate_stack(this_task(), end->sp);
		find_function(&search, brief);
	} else if (brief) {
		find_function_of_kernel_briefly(&search);
	} else {
		find_function_of_kernel(&search);
	}
	if (!search.depth)
		return 0;
	if (bytes) {
		told.result = usc_argument_value(end->result, bytes, end->result_is & USC_RESULT_SIGNED);
		told.has_result = 1;
	}
	f = function_at_depth(t, of_kernel, search.depth - 1, false, brief);
	if (end->goes_on) {
		if (f)
			f->goes_on = 1;
		return 0;
	}
	if (f)
		tell_function(t, f, &told, brief);
	/* Not before: what interrupts this would use its room. */
	barrier();
	t->open_functions[of_kernel] = search.depth - 1;
	return 0;
}

/* A function of its own for each kind: 6.1's BPF has 512 bytes of stack for all calls, and what one of them needs is not
 * kept for the other. */
static __noinline int function_ended(struct task_entry *t, const struct function_end *end)
{
	return function_ended_either(t, end, false, false);
}

static __noinline int kernel_function_ended(struct task_entry *t, const struct function_end *end)
{
	return function_ended_either(t, end, true, false);
}

static __always_inline struct function_end end_at_return(__u32 number, const struct usc_probe *probe, __u64 sp,
							 __u64 result)
{
	struct function_end end = {.sp = sp, .result = result, .number = number};

	end.result_is = probe->result;
	return end;
}

/* The current task is at a return: sends the hit of the innermost open function with this number (and sp, if not 0).
 * `of_kernel`, here and below: known when this is compiled, where calls are few. */
static __always_inline void core_function_returned(struct task_entry *t, __u32 number, const struct usc_probe *probe,
						   __u64 sp, __u64 result, const bool of_kernel)
{
	struct function_end end = end_at_return(number, probe, sp, result);

	if (of_kernel)
		kernel_function_ended(t, &end);
	else
		function_ended(t, &end);
}

static __always_inline void core_function_returned_briefly(struct task_entry *t, __u32 number,
							   const struct usc_probe *probe, __u64 sp, __u64 result,
							   const bool of_kernel)
{
	struct function_end end = end_at_return(number, probe, sp, result);

	function_ended_either(t, &end, of_kernel, true);
}

/* It stays unknown whether the function ended there. */
static __always_inline void give_up_unread_jump(struct task_entry *t)
{
	if (!t->unread.jump)
		return;
	t->unread.jump = 0;
	count_loss(cpu_state_of(current_cpu()), USC_LOSS_JUMP_UNREAD, t->process);
}

struct functions_end {
	struct task_entry *t;
	__u64 now;
	__u32 how;
	__u32 of_kernel;
};

static __always_inline long end_function_either(__u32 i, struct functions_end *end, const bool brief)
{
	struct task_entry *t = end->t;
	bool of_kernel = end->of_kernel;
	__u32 depth = t->open_functions[of_kernel];
	struct open_function *f;

	if (!depth)
		return 1;
	f = function_at_depth(t, of_kernel, depth - 1, false, brief);
	if (f)
		tell_plain_end(t, f, end->how, end->now, brief);
	t->open_functions[of_kernel] = depth - 1;
	return 0;
}

FUNCTION_LOOP(end_function, struct functions_end)

static __always_inline void end_functions(__u32 most, struct functions_end *end)
{
	if (keeps_hits())
		usc_loop(most, end_function, end);
	else
		usc_loop(most, end_function_briefly, end);
}

/* All open functions of the program, and of the kernel, end so. A function of its own for the verifier. */
static __noinline int functions_end(struct task_entry *t, __u32 how, bool with_kernel, __u64 now)
{
	struct functions_end end = {.t = t, .now = now, .how = how};

	if (!t)
		return 0;
	give_up_unread_jump(t);
	end_functions(OPEN_USER_FUNCTIONS, &end);
	if (!with_kernel)
		return 0;
	end.of_kernel = 1;
	end_functions(OPEN_KERNEL_FUNCTIONS, &end);
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
