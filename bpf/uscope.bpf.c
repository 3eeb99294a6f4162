/* SPDX-License-Identifier: GPL-2.0-or-later OR MIT */
/*
 * The tracer as BPF programs: include/uscope/core on sys_enter, sys_exit, fork, exec, exit and renaming of tasks, the delivery
 * of signals and, if asked for, their sending, and a task iterator for what is still under way. An untraced task pays one
 * look-up and nothing else.
 */
#include "brief_calls.bpf.h"
#include "code_doubts.bpf.h"
#include "files.h"
#include "kernel_functions.bpf.h"
#include "preemption.h"
#include "probes.bpf.h"
#include "target.h"
#include "time.bpf.h"
#include "transport.h"
#include "uscope/core/tasks/signals.h"
#include "uscope/core/tasks/tasks.h"

char LICENSE[] SEC("license") = "Dual MIT/GPL";

static __always_inline int enter_hook(struct task_struct *task, struct pt_regs *regs, long id)
{
	doubt_code_of_call(task, regs, id);
	if (is_surely_untraced(task) || enters_briefly(task, regs, id))
		return 0;
	return core_sys_enter(task, entry_of(task), regs, id);
}

static __always_inline int exit_hook_of_call(struct task_struct *task, long result)
{
	struct task_entry *t;

	if (is_surely_untraced(task) || leaves_briefly(task, result))
		return 0;
	t = entry_of(task);
	core_sys_exit(t, result);
	if (tells_briefly())
		becomes_brief(this_task(), t);
	return 0;
}

SEC("tp_btf/sys_enter")
int BPF_PROG(on_sys_enter, struct pt_regs *regs, long id)
{
	return enter_hook(this_task(), regs, id);
}

SEC("tp_btf/sys_exit")
int BPF_PROG(on_sys_exit, struct pt_regs *regs, long result)
{
	return exit_hook_of_call(this_task(), result);
}

/* The same by perf, for kernels that may preempt the two above (preemption.h). */
SEC("tp/raw_syscalls/sys_enter")
int on_sys_enter_perf(struct perf_sys_enter *call)
{
	struct task_struct *task = this_task();

	return enter_hook(task, user_regs(task), call->id);
}

SEC("tp/raw_syscalls/sys_exit")
int on_sys_exit_perf(struct perf_sys_exit *call)
{
	return exit_hook_of_call(this_task(), call->result);
}

static __always_inline int fork_hook(struct task_struct *parent, struct task_struct *child)
{
	ends_briefness(child);
	UNPREEMPTED(if (!was_forked(child)) core_fork(parent, child));
	return 0;
}

static __always_inline int exec_hook(struct task_struct *task, int old_pid, struct linux_binprm *bprm)
{
	ends_briefness(task);
	doubt_code_of_program(task);
	UNPREEMPTED(if (!was_executed(task)) {
		tells_it_runs(task);
		if (has_returns)
			core_functions_exec(task);
		core_exec(task, old_pid, bprm);
		mark_executed(task);
	});
	return 0;
}

static __always_inline int exit_hook(struct task_struct *task)
{
	ends_in_call(task);
	ends_briefness(task);
	UNPREEMPTED(tells_it_runs(task); if (has_returns) core_functions_exit(task); core_exit(task));
	return 0;
}

static __always_inline int rename_hook(struct task_struct *task, const char *comm)
{
	UNPREEMPTED({
		core_rename(task, comm);
		brief_call_renamed(task);
	});
	return 0;
}

#define HOOKS(suffix)                                                                                                  \
	SEC("tp_btf/sched_process_fork")                                                                               \
	int BPF_PROG(on_fork##suffix, struct task_struct *parent, struct task_struct *child)                           \
	{                                                                                                              \
		return fork_hook(parent, child);                                                                       \
	}                                                                                                              \
	SEC("tp_btf/sched_process_exec")                                                                               \
	int BPF_PROG(on_exec##suffix, struct task_struct *task, int old_pid, struct linux_binprm *bprm)                \
	{                                                                                                              \
		return exec_hook(task, old_pid, bprm);                                                                 \
	}                                                                                                              \
	SEC("tp_btf/sched_process_exit")                                                                               \
	int BPF_PROG(on_exit##suffix, struct task_struct *task)                                                        \
	{                                                                                                              \
		return exit_hook(task);                                                                                \
	}                                                                                                              \
	SEC("tp_btf/task_rename")                                                                                      \
	int BPF_PROG(on_rename##suffix, struct task_struct *task, const char *comm)                                    \
	{                                                                                                              \
		return rename_hook(task, comm);                                                                        \
	}

HOOKS()
/* For where those before are not run: preemption.h. */
HOOKS(_2)
HOOKS(_3)

/*
 * An argument as a plain number. Where there is no siginfo, a 0 or 1 stands in its place, but of an argument that is a
 * pointer the verifier takes it that it is none of these, and leaves out what looks for them.
 */
static __always_inline const void *siginfo_argument(const void *argument)
{
	const void *value = 0;

	bpf_probe_read_kernel(&value, sizeof(value), argument);
	return value;
}

/* Loaded only where signals are recorded. The lock of the receiver's signals is held, with interrupts off. */
SEC("tp_btf/signal_generate")
int BPF_PROG(on_signal_sent, int number, void *info, struct task_struct *receiver, int to_group, int result)
{
	if (is_surely_untraced(receiver) && is_surely_untraced(this_task()))
		return 0;
	return core_signal_sent(number, siginfo_argument(&ctx[1]), receiver, to_group, result, true);
}

/* The call that the signal interrupts ends first. */
SEC("tp_btf/signal_deliver")
int BPF_PROG(on_signal_delivered, int number, void *info, void *action)
{
	struct task_struct *task = this_task();

	if (is_surely_untraced(task))
		return 0;
	core_call_interrupted(entry_of(task), action);
	return core_signal_delivered(number, siginfo_argument(&ctx[1]), action);
}

/* Loaded only where signals are not recorded. */
SEC("tp_btf/signal_deliver")
int BPF_PROG(on_call_interrupted, int number, void *info, void *action)
{
	struct task_struct *task = this_task();

	return is_surely_untraced(task) ? 0 : core_call_interrupted(entry_of(task), action);
}

/* Set before each run of the iterator: calls that began before this time are written, all others are too young. */
__u64 open_before_ns;
/* Set to 0 before each run: counts the tasks being traced. */
__u64 traced_tasks;

SEC("iter/task")
int list_open_calls(struct bpf_iter__task *ctx)
{
	struct task_struct *task = ctx->task;
	struct usc_event event = {};
	struct task_entry *t;

	if (!task)
		return 0;
	t = entry_of(task);
	if (!t || t->state != USC_TRACED || t->flags & TASK_ENDED || task->exit_state)
		return 0;
	traced_tasks++;
	/* Where the buffer is full, the task is shown once more to the next one. */
	if ((core_open_call(t, open_before_ns, &event) || brief_open_call(task, open_before_ns, &event)) &&
	    bpf_seq_write(ctx->meta->seq, &event, sizeof(event))) {
		t->open_ns = 0;
		take_back_open_call(task);
		traced_tasks--;
	}
	return 0;
}

SEC("tp_btf/cgroup_attach_task")
int BPF_PROG(on_cgroup_attach, struct cgroup *group, const char *path, struct task_struct *task, bool whole)
{
	__sync_fetch_and_add(&cgroup_generation, 1);
	return 0;
}

/* Run once when the hooks are in place: decides on every task there is. */
SEC("iter/task")
int adopt_tasks(struct bpf_iter__task *ctx)
{
	struct task_struct *task = ctx->task;

	if (!task || task->flags & PF_KTHREAD)
		return 0;
	if (!entry_of(task))
		UNPREEMPTED(decide_task(task, USC_UNKNOWN));
	return 0;
}

/* Set before the next one runs. */
struct mapping_request mapping_request;

static long on_asked_vma(struct task_struct *task, struct vm_area_struct *vma, struct task_entry **t)
{
	if (vma->vm_flags & VM_EXEC)
		UNPREEMPTED(adopt_mapping(task, *t, vma));
	return 0;
}

/* One try for one mapping of those that are left. */
static long tell_mapping(__u32 i, struct task_struct **task)
{
	struct task_entry *t = entry_of(*task);
	__u64 *address = &mapping_request.addresses[i % MAPPING_REQUEST_MOST];

	if (!t || !*address)
		return 0;
	if (bpf_find_vma(*task, *address, on_asked_vma, &t, 0) != RESULT_EBUSY) {
		*address = 0;
		mapping_request.left--;
	}
	return 0;
}

/*
 * Then, of one process at a time: where its executable memory lies, and some of its executable mappings, as the tracer
 * has read both of /proc. What has been made executable since the hooks were there, its own call has told. A mapping is
 * looked up with one try for the lock, so nothing waits here, and nobody waits for this: the tracer comes again for what
 * is left. That holds, too, while a call is under way that may change mappings, since then nothing could be remembered;
 * of those, none begin any more from when the ranges are known, but those that do change them.
 */
SEC("iter/task")
int tell_mappings(struct bpf_iter__task *ctx)
{
	struct task_struct *task = ctx->task;
	struct task_entry *t;
	__u64 key;
	__u32 i;

	/* One thread that lives will do. */
	if (!task || mapping_request.seen || !TASK_FIELD(task, mm))
		return 0;
	t = entry_of(task);
	if (t && *(volatile __u32 *)&t->state == STATE_DECIDING)
		mapping_request.undecided = 1;
	if (!t || t->state != USC_TRACED)
		return 0;
	mapping_request.seen = 1;
	for (i = 0; i < 2; i++)
		widen_exec_range(t->mm, mapping_request.ranges[i].start,
				 mapping_request.ranges[i].end - mapping_request.ranges[i].start);
	exec_ranges_known(t->mm);
	key = mapping_key(t->mm);
	if (!mapping_request.at_once) {
		if (!key)
			return 0;
		if (mapping_request.key && mapping_request.key != key) {
			mapping_request.changed = 1;
			return 0;
		}
		mapping_request.key = key;
	}
	bpf_loop(MAPPING_REQUEST_MOST, tell_mapping, &task, 0);
	if (mapping_request.left || !mapping_request.is_last || !key || mapping_key(t->mm) != key)
		return 0;
	mappings_known(t->mm);
	mapping_request.known = 1;
	return 0;
}

/* Then, as often as asked: the calls that adopted threads wait in. */
SEC("iter/task")
int list_attached_calls(struct bpf_iter__task *ctx)
{
	struct task_struct *task = ctx->task;
	struct usc_attached_call call = {};
	struct task_entry *t;

	if (!task)
		return 0;
	t = entry_of(task);
	if (t && core_attached_call(task, t, user_regs(task), &call))
		bpf_seq_write(ctx->meta->seq, &call, sizeof(call));
	return 0;
}

/* Uscope never traces itself: run by the tracer before the hooks are in place. Its children are spared with it. */
SEC("raw_tp/sys_enter")
int spare_own_process(void *ctx)
{
	struct task_struct *task = this_task();
	struct task_entry *t = new_entry(task);

	own_process = task->tgid;
	if (t)
		t->state = USC_UNTRACED;
	return 0;
}

static long on_own_vma(struct task_struct *task, struct vm_area_struct *vma, struct key_request *request)
{
	struct file *file = vma->vm_file;

	if (file) {
		read_file_key(file, &request->key);
		request->found = 1;
	}
	return 0;
}

/* For the collector: the key of the file that it has mapped at an address, as this kernel sees it. */
struct key_request key_request;

SEC("raw_tp/sys_enter")
int look_up_own_file(void *ctx)
{
	struct key_request request = {.address = key_request.address};

	request.error = with_vma(request.address, on_own_vma, &request);
	key_request.key = request.key;
	key_request.found = request.found;
	key_request.error = request.error;
	return 0;
}
