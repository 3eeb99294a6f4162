/* SPDX-License-Identifier: GPL-2.0-or-later OR MIT */
/* Tasks of the trace map: how they come, what they become, how they end. */
#ifndef USCOPE_CORE_TASKS_H
#define USCOPE_CORE_TASKS_H

#include "uscope/core/tasks/adopt.h"

/* The launched command enters the map with its first execve. */
static __noinline int begin_launched(struct task_struct *task)
{
	struct task_entry *t = new_entry(task);

	if (!t) {
		count_loss(cpu_state_of(current_cpu()), USC_LOSS_TASK_MAP_FULL, 0);
		return 0;
	}
	t->serial = next_serial(SERIAL(task));
	t->process = next_serial(SERIAL(process));
	t->mm = space_of(task);
	note_traced(task);
	launch_begins();
	t->restart_nr = NO_NUMBER;
	t->state = USC_TRACED;
	send_task(task, t, 0, 0, USC_TASK_PROCESS | USC_TASK_LAUNCHED | shared_when_met(task, task));
	return 0;
}

/* A process that has just come into the map may be another one before the tracer has looked at its mappings: the two
 * that most stacks go through are announced at once. */
static __noinline int announce_adopted(struct task_struct *task, struct pt_regs *regs, struct task_entry *t)
{
	if (!t)
		return 0;
	announce_mapping(USC_REGS_PC(regs), t->mm, t->serial);
	announce_mapping(MM_FIELD(task, start_code), t->mm, t->serial);
	return 0;
}

/* `task`: the current one. `t`: its entry, 0 = none. */
static __always_inline int core_sys_enter(struct task_struct *task, struct task_entry *t, struct pt_regs *regs, long id)
{
	if (!t) {
		if (targets(USC_TARGET_LAUNCH)) {
			if (!launch_pending || id != NR_execve || !is_launched())
				return 0;
			begin_launched(task);
		} else {
			decide_task(task, USC_UNKNOWN);
		}
		t = entry_of(task);
		if (!t)
			return 0;
	}
	settle_interrupted_call(t);
	if (targets(USC_TARGET_CGROUP) && t->group_asked != cgroup_generation)
		ask_cgroup(task, t);
	if (!targets(USC_TARGET_LAUNCH) && (t->flags & (TASK_ADOPTED | TASK_SKIPPED)) == TASK_ADOPTED)
		announce_adopted(task, regs, t);
	if (t->state == USC_TRACED)
		call_begins(task, regs, t, id);
	return 0;
}

static __always_inline int core_fork(struct task_struct *parent, struct task_struct *child)
{
	struct task_entry *from = entry_of(parent), *t;
	struct mm_struct *mm;
	__u32 flags = 0;

	if (!from || from->state == USC_UNKNOWN) {
		if (!targets(USC_TARGET_LAUNCH))
			note_traced(child);
		return 0;
	}
	t = new_entry(child);
	if (!t) {
		note_traced(child);
		if (from->state == USC_TRACED)
			count_loss(cpu_state_of(current_cpu()), USC_LOSS_TASK_MAP_FULL, from->process);
		return 0;
	}
	t->state = from->state;
	t->group_asked = cgroup_generation - 1; /* it may have been made inside another control group */
	if (t->state != USC_TRACED)
		return 0;
	note_traced(child);
	t->serial = next_serial(SERIAL(task));
	t->process = from->process;
	if (child->tgid != parent->tgid) {
		t->process = next_serial(SERIAL(process));
		flags = USC_TASK_PROCESS | number_of_first(child);
	}
	t->mm = from->mm;
	t->flags = TASK_NEWBORN | (from->flags & (TASK_COPIED | TASK_HELD));
	mm = TASK_FIELD(child, mm);
	if (mm && mm != TASK_FIELD(parent, mm)) {
		t->mm = space_of(child);
		t->flags |= TASK_COPIED;
		if (copy_exec_ranges(from->mm, t->mm))
			flags |= USC_TASK_UNMAPPED;
	}
	t->image = from->image;
	t->plain_image = from->plain_image;
	t->exe_file = from->exe_file;
	t->restart_nr = NO_NUMBER;
	send_task(child, t, from->serial, from->mm, flags | shared_by_fork(parent, child));
	return 0;
}

#define INTERPRETER_BYTES (1ull << 20)

/* Announces what the kernel mapped for a new image; the executable's file serial comes back. */
static __noinline __u32 announce_image(struct task_struct *task, struct task_entry *t)
{
	struct found found = {};
	struct pt_regs *regs;
	__u64 vdso;
	__u32 exe;

	if (!t)
		return 0;
	found.mm = t->mm;
	found.serial = t->serial;
	found.address = MM_FIELD(task, start_code);
	find_mapping(&found);
	exe = found.status == FOUND ? found.file : 0;
	if (!exe)
		exe = image_file(task, t);
	widen_exec_range(t->mm, found.address, MM_FIELD(task, end_code) - found.address);
	if (exe)
		send_mapping(&found, 1);
	regs = user_regs(task);
	/* The interpreter's text, whose length is not known here, and the vdso: no more than this before and behind. */
	widen_exec_range(t->mm, USC_REGS_PC(regs) - INTERPRETER_BYTES, 2 * INTERPRETER_BYTES);
	announce_mapping(USC_REGS_PC(regs), t->mm, t->serial);
	vdso = (__u64)MM_FIELD(task, context.vdso);
	if (vdso) {
		widen_exec_range(t->mm, vdso, USC_PAGE_BYTES * 4);
		announce_mapping(vdso, t->mm, t->serial);
	}
	return exe;
}

/* Takes the end of a list that is longer than what is kept. Returns how many bytes it takes; 0: it could not be read. */
static __always_inline __u32 take_argv_end(struct exec_scratch *room, __u64 at, __u64 arg_end)
{
	struct usc_argv_end *end;

	/* For the verifier: from here on the bounds are those of this register. */
	__asm__ volatile("" : "+r"(at));
	if (at > USC_PATH_BYTES + USC_ARGV_MOST - USC_ARGV_END_BYTES)
		return 0;
	end = (struct usc_argv_end *)(room->data + at);
	__builtin_memset(end, 0, sizeof(*end));
	if (read_user(end->text, USC_ARGV_END_BYTES, (void *)(arg_end - USC_ARGV_END_BYTES)))
		return 0;
	end->bytes = USC_ARGV_END_BYTES;
	return sizeof(*end) + USC_ARGV_END_BYTES;
}

/* How much of an argument list is kept whole. */
static __always_inline __u64 most_argument_bytes(void)
{
	__u64 most = config.argument_bytes;

	if (most < USC_ARGV_LEAST)
		return USC_ARGV_DEFAULT;
	return most > USC_ARGV_MOST ? USC_ARGV_MOST : most;
}

static __noinline int send_exec(struct task_struct *task, struct task_entry *t, struct linux_binprm *bprm,
				__u32 old_tid, __u64 now)
{
	__u32 cpu_number = current_cpu();
	struct exec_scratch *room = exec_at(cpu_number);
	struct met_task met = {.task = task};
	__u64 arg_start, arg_end, total, most = most_argument_bytes();
	__u64 kept, bytes; /* 64 bits: 6.1's verifier loses a bound that is tested on a 32-bit copy */
	long got;

	if (!room || !t)
		return 0;
	__builtin_memset(&room->exec, 0, sizeof(room->exec));
	room->exec.process = t->process;
	room->exec.image = t->image;
	room->exec.mm = t->mm;
	room->exec.exe_file = t->exe_file;
	room->exec.old_tid = old_tid;
	room->exec.tid = task->pid;
	room->exec.cgroup = announce_cgroup(&met);
	read_kernel_text(room->exec.name, sizeof(room->exec.name), task->comm);
	got = read_kernel_text(room->data, USC_PATH_BYTES, image_name(bprm));
	if (got < 1 || got > USC_PATH_BYTES)
		got = 1;
	bytes = got - 1;
	room->exec.path_bytes = bytes;
	arg_start = MM_FIELD(task, arg_start);
	arg_end = MM_FIELD(task, arg_end);
	total = arg_end - arg_start;
	room->exec.argv_total = total;
	kept = total;
	if (kept > most)
		kept = most - USC_ARGV_END_BYTES;
	/* For the verifier of Linux 6.1, which learns nothing by a comparison of two registers. */
	__asm__ volatile("" : "+r"(kept));
	if (bytes < USC_PATH_BYTES && kept && kept <= USC_ARGV_MOST &&
	    !read_user(room->data + bytes, kept, (void *)arg_start)) {
		room->exec.argv_bytes = kept;
		bytes += kept;
	}
	bytes = (bytes + 7) & ~7ull;
	if (total > most)
		bytes += take_argv_end(room, bytes, arg_end);
	/* What it knows of the bounds is lost by the rounding. */
	__asm__ volatile("" : "+r"(bytes));
	if (bytes > sizeof(room->data) ||
	    send_record(&room->exec.head, USC_RECORD_EXEC, sizeof(room->exec) + bytes, t->serial, now, true))
		count_loss(cpu_state_of(cpu_number), USC_LOSS_RING_FULL_RECORD, t->process);
	return 0;
}

/* Begins the trace of a process that was in the state `from`. Returns its entry, or 0 if it could not (counted). */
static __noinline struct task_entry *exec_into_trace(struct task_struct *task, __u32 from)
{
	struct task_entry *t = new_entry(task);

	if (!t || !claim(t, from)) {
		count_loss(cpu_state_of(current_cpu()), USC_LOSS_TASK_MAP_FULL, 0);
		return 0;
	}
	begin_process(task, task, t, USC_TASK_PROCESS);
	t->flags = TASK_NEWBORN; /* the return of this exec is not one of its calls */
	barrier();
	*(volatile __u32 *)&t->state = USC_TRACED;
	return t;
}

/* The exec is the last call that is seen; it has succeeded. */
static __noinline int exec_out_of_trace(struct task_struct *task, struct task_entry *t)
{
	if (!t)
		return 0;
	if (t->flags & TASK_IN_CALL)
		send_event(t, 0, USC_HOW_RETURNED, now_ns());
	leave_trace(task, t);
	return 0;
}

/* The process's state before its exec. What another processor is deciding now has not been traced so far. */
static __always_inline __u32 state_before_exec(const struct task_entry *t)
{
	if (!t)
		return USC_UNKNOWN;
	return t->state == USC_TRACED ? USC_TRACED : USC_UNTRACED;
}

static __noinline __u32 state_after_exec(struct task_struct *task, struct linux_binprm *bprm, __u32 before)
{
	const __u32 kinds = config.target.kinds, follow = config.target.follow;
	int matches = 0;

	if (usc_map_exec_asks(kinds, follow, before))
		matches = targets(USC_TARGET_CGROUP) ? cgroup_matches(task) : image_matches(task, bprm);
	return usc_map_exec(kinds, follow, before, matches);
}

static __always_inline int core_exec(struct task_struct *task, int old_pid, struct linux_binprm *bprm)
{
	struct task_entry *t = entry_of(task);
	__u32 before = state_before_exec(t), serial;
	__u64 now;

	if (state_after_exec(task, bprm, before) != USC_TRACED)
		return before == USC_TRACED ? exec_out_of_trace(task, t) : 0;
	if (before != USC_TRACED)
		t = exec_into_trace(task, before);
	if (!t)
		return 0;
	note_traced(task); /* maybe under another tid than before */
	serial = t->serial;
	t->mm = space_of(task);
	t->exe_file = announce_image(task, t);
	now = now_ns();
	tell_user(t, now); /* the new image is of the same time */
	t->image = next_serial(SERIAL(image));
	t->plain_image = 0;
	send_exec(task, t, bprm, old_pid, now);
	if (old_pid != task->pid) {
		/* The caller goes on as the leader: its tid is the process's now. */
		t->serial = next_serial(SERIAL(task));
		send_task(task, t, serial, t->mm, USC_TASK_EXEC_TID);
	}
	return 0;
}

static __always_inline bool is_exit(const struct task_entry *t)
{
	if (t->abi == USC_ABI_COMPAT)
		return t->nr == COMPAT_exit || t->nr == COMPAT_exit_group;
	return t->nr == NR_exit || t->nr == NR_exit_group;
}

static __always_inline int core_exit(struct task_struct *task)
{
	struct task_entry *t = entry_of(task);
	struct usc_task_exit record = {};
	__u64 now = now_ns();

	if (!t || t->state != USC_TRACED || t->flags & TASK_ENDED)
		return 0;
	if (t->flags & TASK_MAPPING)
		mappings_end(t);
	settle_interrupted_call(t);
	if (t->flags & TASK_IN_CALL)
		send_event(t, 0, is_exit(t) ? USC_HOW_NORETURN : USC_HOW_KILLED, now);
	t->flags = TASK_ENDED;
	record.process = t->process;
	record.code = task->exit_code;
	if (SIGNAL_FIELD(task, flags) & SIGNAL_GROUP_EXIT)
		record.code = SIGNAL_FIELD(task, group_exit_code);
	if (SIGNAL_FIELD(task, live.counter) == 0)
		record.flags = USC_EXIT_GROUP_DEAD;
	if (send_record(&record.head, USC_RECORD_TASK_EXIT, sizeof(record), t->serial, now, false))
		count_loss(cpu_state_of(current_cpu()), USC_LOSS_RING_FULL_RECORD, t->process);
	/* The first thread's entry is its process's, which the other threads that are still to be decided on ask. */
	if (record.flags & USC_EXIT_GROUP_DEAD || task != TASK_FIELD(task, group_leader))
		t->state = USC_UNTRACED;
	return 0;
}

static __always_inline int core_rename(struct task_struct *task, const char *comm)
{
	struct task_entry *t = entry_of(task);
	struct usc_task_name record = {};
	__u64 now;

	if (!t || t->state != USC_TRACED || t->flags & TASK_ENDED)
		return 0;
	read_kernel_text(record.name, sizeof(record.name), comm);
	now = now_ns();
	if (send_record(&record.head, USC_RECORD_TASK_NAME, sizeof(record), t->serial, now, false))
		count_loss(cpu_state_of(current_cpu()), USC_LOSS_RING_FULL_RECORD, t->process);
	else if (asks_for_guises())
		take_guise(t, record.name, now);
	return 0;
}

#endif
