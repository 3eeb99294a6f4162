/* SPDX-License-Identifier: GPL-2.0-or-later OR MIT */
/*
 * Processes that ran before the tracer came, and those that come under the target or leave it later. The group leader's
 * entry is the process's: its other threads take process, address space and image from there.
 */
#ifndef USCOPE_CORE_ADOPT_H
#define USCOPE_CORE_ADOPT_H

#include "uscope/core/tasks/cgroups.h"
#include "uscope/core/calls/calls.h"

static __always_inline bool targets(__u32 kind)
{
	return config.target.kinds & kind;
}

/* pid of the process that made this one, as the initial namespace has it */
static __always_inline __u32 parent_pid(struct task_struct *leader)
{
	struct task_struct *parent = TASK_FIELD(leader, real_parent);

	return parent ? TASK_FIELD(parent, tgid) : 0;
}

/* A function of its own for the verifier, which goes through it once. */
USC_SUBPROGRAM int send_met_task(const struct met_task *met, struct task_entry *t, __u32 parent, __u32 parent_mm,
				 __u32 flags)
{
	struct task_struct *task;
	struct usc_task record = {};

	if (!met || !t)
		return 0;
	task = met->task;
	record.process = t->process;
	record.parent_task = parent;
	record.pid = TASK_FIELD(task, tgid);
	record.tid = TASK_FIELD(task, pid);
	fill_ids(task, &record);
	record.mm = t->mm;
	record.parent_mm = parent_mm;
	record.start_ns = TASK_FIELD(task, start_time);
	record.flags = flags | USC_TASK_USER;
	record.image = t->image;
	t->uid = user_of(task);
	record.uid = t->uid;
	record.cgroup = announce_cgroup(met);
	if (flags & USC_TASK_ATTACHED && flags & USC_TASK_PROCESS)
		record.parent_pid = parent_pid(task);
	read_kernel_text(record.name, sizeof(record.name), task->comm);
	/* One that has ended does so when it comes: begin_entry()'s time. */
	if (send_record(&record.head, USC_RECORD_TASK, sizeof(record), t->serial,
			t->flags & TASK_ENDED ? t->entry_ns : now_ns(), false))
		count_loss(cpu_state_of(current_cpu()), USC_LOSS_RING_FULL_RECORD, t->process);
	return 0;
}

static __always_inline void send_task(struct task_struct *task, struct task_entry *t, __u32 parent, __u32 parent_mm,
				      __u32 flags)
{
	struct met_task met = {.task = task};

	send_met_task(&met, t, parent, parent_mm, flags);
}

#define THREAD_STRUCT_BYTES 4096 /* at the thread pointer; glibc's has 2304 bytes, with the number at 720 */

/* USC_TASK_* of where the thread's number in its C library's structure comes from. */
static __always_inline __u32 number_of_first(struct task_struct *task)
{
	__u64 place = (unsigned long)task->set_child_tid; /* CLONE_CHILD_SETTID: where its number was to be written */

	if (!(task->flags & PF_FORKNOEXEC))
		return USC_TASK_EXECUTED;
	return place && place - USC_THREAD_POINTER(task) < THREAD_STRUCT_BYTES ? USC_TASK_OWN_TID : 0;
}

/* USC_TASK_* of what a new task shares with the one that makes it. */
static __always_inline __u32 shared_by_fork(struct task_struct *parent, struct task_struct *child)
{
	return USC_TASK_FORKED | (same_files(child, parent) ? USC_TASK_SAME_FILES : 0) |
	       (same_fs(child, parent) ? USC_TASK_SAME_FS : 0);
}

/* The same of a task that is met: a first thread, or another one of its process. */
static __noinline __u32 shared_when_met(struct task_struct *task, struct task_struct *leader)
{
	bool first = task == leader;
	__u32 flags = 0;

	if (first ? has_own_files(task) : same_files(task, leader))
		flags |= USC_TASK_SAME_FILES;
	if (first ? has_own_fs(task) : same_fs(task, leader))
		flags |= USC_TASK_SAME_FS;
	if (may_be_supervised(task))
		flags |= USC_TASK_SUPERVISED;
	if (first)
		flags |= number_of_first(task);
	return flags;
}

/* The decision is this processor's to take: from `state` it goes through STATE_DECIDING. */
static __always_inline bool claim(struct task_entry *t, __u32 state)
{
	return __sync_val_compare_and_swap(&t->state, state, STATE_DECIDING) == state;
}

/* What a task that enters the map in the middle of its life begins with. */
static __always_inline void begin_entry(struct task_entry *t)
{
	if (!t->serial)
		t->serial = next_serial(SERIAL(task));
	t->restart_nr = NO_NUMBER;
	t->stack = 0;
	t->open_ns = 0;
	t->off_ns = 0;
	t->unannounced = 0;
	t->entry_ns = now_ns();
	t->flags = TASK_ADOPTED | TASK_HELD;
}

static __noinline __u32 traced_parent(struct task_struct *leader)
{
	struct task_struct *parent = leader->real_parent;
	struct task_entry *t;

	if (!parent)
		return 0;
	t = entry_of(parent);
	return t && t->state == USC_TRACED ? t->serial : 0;
}

/* What the process is now. The tracer adds path and arguments, which are not to be had here for every process. */
static __noinline int send_adopted_image(struct task_struct *leader, struct task_entry *t)
{
	__u32 cpu_number = current_cpu();
	struct text_scratch *text = text_at(cpu_number);
	struct met_task met = {.task = leader};
	__u64 cgroup;

	if (!text || !t)
		return 0;
	cgroup = announce_cgroup(&met); /* it uses `text`, too */
	__builtin_memset(&text->exec, 0, sizeof(text->exec));
	text->exec.cgroup = cgroup;
	text->exec.process = t->process;
	text->exec.image = t->image;
	text->exec.mm = t->mm;
	text->exec.exe_file = t->exe_file;
	text->exec.tid = leader->pid; /* old_tid 0: this is no exec */
	read_kernel_text(text->exec.name, sizeof(text->exec.name), leader->comm);
	if (send_record(&text->exec.head, USC_RECORD_EXEC, sizeof(text->exec), t->serial, now_ns(), true))
		count_loss(cpu_state_of(cpu_number), USC_LOSS_RING_FULL_RECORD, t->process);
	return 0;
}

/* A first thread that ended before the process came into the trace, while others live: it is no thread without calls. */
static __noinline int send_earlier_end(struct task_struct *leader, struct task_entry *t)
{
	struct usc_task_exit record = {};

	if (!t)
		return 0;
	record.process = t->process;
	record.code = TASK_FIELD(leader, exit_code);
	if (send_record(&record.head, USC_RECORD_TASK_EXIT, sizeof(record), t->serial, t->entry_ns, false))
		count_loss(cpu_state_of(current_cpu()), USC_LOSS_RING_FULL_RECORD, t->process);
	return 0;
}

/* Of a ring that it set up before: it may have neither a descriptor nor a mapping by which /proc would tell. */
static __always_inline void tell_rings(struct task_struct *task, struct task_entry *t)
{
	if (has_rings(task))
		send_io_uring(t, now_ns());
}

/* The serial of the file that a task's program is mapped from, 0 = none. */
static __noinline __u32 image_file(struct task_struct *task, struct task_entry *t)
{
	struct image_place place = {};
	struct found found = {};
	struct file *file;

	if (!t)
		return 0;
	file = hold_image_file(task, &place);
	if (!file)
		return 0;
	found.serial = t->serial;
	found.start = place.start;
	found.end = place.end;
	found.offset = place.offset;
	found.file = file_serial(task, file, &found);
	release_image_file(file);
	return found.file;
}

/* Fills the entry of a process that is traced from here on. It has been claimed. `task`: one of its threads that lives,
 * which the first one need not do. */
static __noinline int begin_process(struct task_struct *leader, struct task_struct *task, struct task_entry *t,
				    __u32 flags)
{
	if (!t)
		return 0;
	begin_entry(t);
	/* Set only behind sched_process_exit: the end of the first thread has been announced by then. */
	if (leader->exit_state)
		t->flags |= TASK_ENDED;
	if (!t->process)
		t->process = next_serial(SERIAL(process));
	t->mm = space_of(task);
	t->image = next_serial(SERIAL(image));
	t->plain_image = 0;
	/* It may have been traced before, and changed unseen since. What an exec has just made is announced by the exec. */
	mappings_expire(t->mm);
	if (flags & USC_TASK_ATTACHED)
		exec_ranges_unknown(t->mm);
	t->exe_file = image_file(task, t);
	send_task(leader, t, traced_parent(leader), 0, flags | shared_when_met(leader, leader));
	if (flags & USC_TASK_ATTACHED)
		send_adopted_image(leader, t);
	tell_rings(leader, t);
	if (t->flags & TASK_ENDED)
		send_earlier_end(leader, t);
	return 0;
}

/*
 * The tracer, and the processes without privileges that read files for it: its child, and what that has forked. They run
 * before the hooks are there; what they fork later is spared with them.
 */
static __noinline int is_own(struct task_struct *leader)
{
	struct task_struct *parent = TASK_FIELD(leader, real_parent);

	if (leader->tgid == own_process)
		return 1;
	if (!parent)
		return 0;
	if (TASK_FIELD(parent, tgid) == own_process)
		return 1;
	parent = TASK_FIELD(parent, real_parent);
	return parent && TASK_FIELD(parent, tgid) == own_process;
}

/* Decides on a process whose state is `from`: unknown, or one that was not traced so far. The new state. */
static __noinline __u32 decide_process(struct task_struct *leader, struct task_struct *task, __u32 from)
{
	struct task_entry *t = new_entry(leader);
	__u32 state;
	int matches;

	if (!t) {
		count_loss(cpu_state_of(current_cpu()), USC_LOSS_TASK_MAP_FULL, 0);
		return USC_UNKNOWN;
	}
	if (!claim(t, from))
		return t->state;
	if (is_own(leader)) {
		barrier();
		*(volatile __u32 *)&t->state = USC_UNTRACED;
		return USC_UNTRACED;
	}
	matches = process_matches(leader, task);
	state = usc_map_first_event(config.target.follow, matches,
				    !matches && !targets(USC_TARGET_CGROUP) && config.target.follow == USC_FOLLOW_TREE
					    ? ancestor_matches(leader)
					    : 0);
	t->group_asked = cgroup_generation;
	if (state == USC_TRACED)
		begin_process(leader, task, t, USC_TASK_PROCESS | USC_TASK_ATTACHED);
	barrier();
	*(volatile __u32 *)&t->state = state;
	return state;
}

/* Another thread of a process that has been decided. */
static __noinline int decide_thread(struct task_struct *task, struct task_struct *leader, __u32 from)
{
	struct task_entry *t = new_entry(task);
	struct task_entry *first = entry_of(leader);
	__u32 state;

	if (!t || !first) {
		count_loss(cpu_state_of(current_cpu()), USC_LOSS_TASK_MAP_FULL, 0);
		return 0;
	}
	if (!claim(t, from))
		return 0;
	state = first->state;
	t->group_asked = cgroup_generation;
	if (state == USC_TRACED) {
		begin_entry(t);
		t->process = first->process;
		t->mm = first->mm;
		t->image = first->image;
		t->plain_image = first->plain_image;
		t->exe_file = first->exe_file;
		send_task(task, t, 0, 0, USC_TASK_ATTACHED | shared_when_met(task, leader));
		tell_rings(task, t);
	}
	barrier();
	*(volatile __u32 *)&t->state = state == USC_TRACED ? USC_TRACED : USC_UNTRACED;
	return 0;
}

/* The first event of a task that no fork has brought into the map. */
static __always_inline int decide_task(struct task_struct *task, __u32 from)
{
	struct task_struct *leader = task->group_leader;
	__u32 state;

	if (!leader || !TASK_FIELD(task, mm))
		return 0;
	state = decide_process(leader, task, from);
	if (state != USC_UNTRACED) {
		note_traced(leader);
		note_traced(task);
	}
	/* Where another processor is at it, this event comes before the trace of this task begins. */
	if (task != leader && (state == USC_TRACED || state == USC_UNTRACED))
		decide_thread(task, leader, from);
	return 0;
}

/* The task goes on, and is not traced any more. */
static __noinline int leave_trace(struct task_struct *task, struct task_entry *t)
{
	struct task_struct *leader = task->group_leader;
	struct usc_task_exit record = {};
	struct task_entry *first;

	if (!t)
		return 0;
	if (t->flags & TASK_MAPPING)
		mappings_end(t);
	t->flags = 0;
	t->state = USC_UNTRACED;
	/* A first thread that has ended leaves with the others: it has no call of its own to leave at. */
	first = entry_of(leader);
	if (first && first->flags & TASK_ENDED)
		first->state = USC_UNTRACED;
	record.process = t->process;
	record.flags = USC_EXIT_LEFT | (task == leader ? USC_EXIT_GROUP_DEAD : 0);
	if (send_record(&record.head, USC_RECORD_TASK_EXIT, sizeof(record), t->serial, now_ns(), false))
		count_loss(cpu_state_of(current_cpu()), USC_LOSS_RING_FULL_RECORD, t->process);
	return 0;
}

/* A process has been moved since this task was last asked: is it a member still, or now? */
static __noinline int ask_cgroup(struct task_struct *task, struct task_entry *t)
{
	int matches;

	if (!t)
		return 0;
	t->group_asked = cgroup_generation;
	matches = cgroup_matches(task);
	if (t->state == USC_TRACED && !matches)
		leave_trace(task, t);
	else if (t->state == USC_UNTRACED && matches)
		decide_task(task, USC_UNTRACED);
	return 0;
}

/*
 * The call that an adopted task was found in, and still is: one that waits there. One on a processor is left out: it is
 * about to return, or not in a call at all. 1: it is there.
 */
static __always_inline int core_attached_call(struct task_struct *task, struct task_entry *t, struct pt_regs *regs,
					      struct usc_attached_call *call)
{
	__u32 nr = USC_REGS_CALL(regs);
	__u64 now;

	if (t->state != USC_TRACED || !(*(volatile __u32 *)&t->flags & TASK_ADOPTED) || task->on_cpu)
		return 0;
	if (task->exit_state)
		return 0; /* a first thread that the others have outlived */
	if ((long)USC_REGS_CALL(regs) < 0)
		return 0; /* interrupted in its own code */
	nr = identify_call(task, nr, &call->event.abi);
	read_args(regs, call->event.abi, call->event.args);
	call->event.flags = USC_EVENT_ATTACHED;
	if (!wanted(call->event.abi, nr)) {
		if (!is_followed(call->event.abi, nr, call->event.args))
			return 0;
		call->event.flags |= USC_EVENT_FOLLOWED;
	}
	now = now_ns();
	t->open_ns = t->entry_ns; /* its return is to be told, even while the task is held */
	fill_user_head(&call->event.head, USC_RECORD_EVENT, sizeof(call->event), t->serial, now);
	call->event.entry_ns = t->entry_ns;
	call->event.image = t->image;
	call->event.kind = nr;
	call->event.how = USC_HOW_ATTACHED;
	call->event.source = USC_SOURCE_SYSCALL;
	fill_user_head(&call->sample.head, USC_RECORD_SAMPLE, sizeof(call->sample), t->serial, now);
	call->sample.entry_ns = t->entry_ns;
	call->sample.mm = t->mm;
	call->sample.exe_file = t->exe_file;
	call->sample.pc = USC_REGS_PC(regs);
	call->sample.flags = USC_SAMPLE_BEHIND;
	read_registers(regs, call->sample.regs);
	call->pid = task->tgid;
	call->tid = task->pid;
	barrier();
	/* Still there? The stack of a task that has ended, where its registers were, is soon another one's. */
	if (!(*(volatile __u32 *)&t->flags & TASK_ADOPTED) || task->on_cpu || task->exit_state)
		return 0;
	return 1;
}

#endif
