// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
/*
 * The hooks: include/uscope/core on sys_enter, sys_exit, fork, exec, exit and renaming of tasks, the delivery of
 * signals and, if asked for, their sending. An untraced task pays one look-up in the trace map's hash and nothing else.
 *
 * Probes run with preemption disabled (the kernel does that up to 6.12; later ones leave it to us), so per-processor
 * state is theirs, and with page faults disabled, so that reading user memory never sleeps.
 */
#include <linux/delay.h>
#include <linux/preempt.h>
#include <linux/sched/mm.h>
#include <linux/sched/signal.h>
#include <linux/sched/task.h>
#include <linux/tracepoint.h>

#include "port.h"
#include "tracer.h"

#include "uscope/core/probes/arguments.h"
#include "uscope/core/tasks/signals.h"
#include "uscope/core/tasks/tasks.h"

#include "app_frame.h"

#define LOCK_TRIES 100
#define LOCK_PAUSE_US 30

/* The contexts (task, softirq, interrupt) in which core is at work on this processor, as bits. Another module that logs
 * from inside it is turned away. */
static DEFINE_PER_CPU(u32, working);
static bool logging;

#define CONTEXT_BIT (1u << interrupt_context_level())
#define TASK_BIT 1u /* the same where it is a task that makes a call: found by no instruction */

#define INSIDE_AS(context_bit, call)                                                                                   \
	do {                                                                                                           \
		u32 worked_ = __this_cpu_read(working);                                                                \
                                                                                                                       \
		__this_cpu_write(working, worked_ | (context_bit));                                                    \
		pagefault_disable();                                                                                   \
		call;                                                                                                  \
		pagefault_enable();                                                                                    \
		__this_cpu_write(working, worked_);                                                                    \
	} while (0)

#define INSIDE(call) INSIDE_AS(CONTEXT_BIT, call)

#define PROBE(call)                                                                                                    \
	do {                                                                                                           \
		preempt_disable_notrace();                                                                             \
		INSIDE(call);                                                                                          \
		preempt_enable_notrace();                                                                              \
	} while (0)

#include "function_hits.h"

static noinline void enter_call(struct task_entry *t, struct pt_regs *regs, long id)
{
	INSIDE_AS(TASK_BIT, core_sys_enter(current, t, regs, id));
}

static noinline void leave_call(struct task_entry *t, long result)
{
	INSIDE_AS(TASK_BIT, core_sys_exit(t, result));
}

/* Is there anything to do at a call of the current task, whose entry is `t`? One that runs already may still have to be
 * decided. */
static __always_inline bool concerns_us(const struct task_entry *t)
{
	if (likely(!t))
		return unlikely(READ_ONCE(launch_pending)) || !targets(USC_TARGET_LAUNCH);
	return t->state != USC_UNTRACED || targets(USC_TARGET_CGROUP);
}

/* At every call of every task: nothing is called and nothing else is touched before it is known to be traced. */
static void probe_sys_enter(void *data, struct pt_regs *regs, long id)
{
	struct task_entry *t;

	preempt_disable_notrace();
	t = entry_of(current);
	if (concerns_us(t))
		enter_call(t, regs, id);
	preempt_enable_notrace();
}

static void probe_sys_exit(void *data, struct pt_regs *regs, long result)
{
	struct task_entry *t;

	preempt_disable_notrace();
	t = entry_of(current);
	if (t)
		leave_call(t, result);
	preempt_enable_notrace();
}

static void probe_fork(void *data, struct task_struct *parent, struct task_struct *child)
{
	PROBE(core_fork(parent, child));
}

/* The caller of exec goes on as the first thread under its number; the one before has been released. */
static void probe_exec(void *data, struct task_struct *task, pid_t old_pid, struct linux_binprm *bprm)
{
	PROBE({
		core_exec(task, old_pid, bprm);
		if (task->pid != old_pid)
			usc_process_remove(task->signal);
	});
}

/* It ends. The first thread's entry stays as long as other threads live: it is the process's. */
static void forget(struct task_struct *task)
{
	if (entry_of(task)) {
		if (thread_group_leader(task) && atomic_read(&task->signal->live))
			usc_task_outlived(task);
		else
			usc_task_remove(task);
	}
	/* Of a first thread and the last of the others, which end at the same time, one sees what the other has done.
	 */
	smp_mb();
	if (!atomic_read(&task->signal->live))
		usc_process_remove(task->signal);
}

static void probe_exit(USC_EXIT_PROBE_ARGS)
{
	PROBE({
		core_functions_exit(task);
		core_exit(task);
		forget(task);
	});
}

static void probe_rename(void *data, struct task_struct *task, const char *comm)
{
	PROBE(core_rename(task, comm));
}

/* In a task, or in an interrupt, which may have hit core at work. */
static void probe_signal_sent(void *data, int number, struct kernel_siginfo *info, struct task_struct *receiver,
			      int to_group, int result)
{
	bool may_walk;

	preempt_disable_notrace();
	may_walk = in_task() && !__this_cpu_read(working);
	INSIDE(core_signal_sent(number, info, receiver, to_group, result, may_walk));
	preempt_enable_notrace();
}

static void probe_signal_delivered(void *data, int number, struct kernel_siginfo *info, struct k_sigaction *action)
{
	PROBE({
		core_call_interrupted(entry_of(current), action);
		if (config.signals)
			core_signal_delivered(number, info, action);
	});
}

/* Of every task that is moved. */
static void probe_cgroup(void *data, struct cgroup *group, const char *path, struct task_struct *task, bool whole)
{
	__sync_fetch_and_add(&cgroup_generation, 1);
}

static struct hook {
	const char *name;
	void *probe;
	struct tracepoint *tracepoint;
	bool attached;
	u32 kinds;    /* of targets that need it; 0 = all */
	bool signals; /* only where signals are recorded */
} hooks[] = {
	/* In the order of attaching: what keeps the map up to date comes before what fills it. */
	{"sched_process_exit", probe_exit},
	{"sched_process_fork", probe_fork},
	{"sched_process_exec", probe_exec},
	{"task_rename", probe_rename},
	{"cgroup_attach_task", probe_cgroup, .kinds = USC_TARGET_CGROUP},
	{"signal_generate", probe_signal_sent, .signals = true},
	{"signal_deliver", probe_signal_delivered},
	{"sys_exit", probe_sys_exit},
	{"sys_enter", probe_sys_enter},
};

#define SYS_ENTER (ARRAY_SIZE(hooks) - 1)

static void compare_tracepoint(struct tracepoint *tracepoint, void *unused)
{
	u32 i;

	for (i = 0; i < ARRAY_SIZE(hooks); i++)
		if (!strcmp(tracepoint->name, hooks[i].name))
			hooks[i].tracepoint = tracepoint;
}

int usc_hooks_find(void)
{
	u32 i;

	for_each_kernel_tracepoint(compare_tracepoint, NULL);
	for (i = 0; i < ARRAY_SIZE(hooks); i++) {
		if (!hooks[i].tracepoint && !hooks[i].kinds && !hooks[i].signals) {
			pr_err("uscope: this kernel has no tracepoint %s\n", hooks[i].name);
			return -ENODEV;
		}
	}
	return 0;
}

static void unregister(struct hook *hook)
{
	if (hook->attached)
		tracepoint_probe_unregister(hook->tracepoint, hook->probe, NULL);
	hook->attached = false;
}

int usc_hooks_attach(void)
{
	u32 i;
	int error;

	/* Uscope never traces itself. Its entry is made at its next call: before the hooks are there, nobody would
	 * remove the entry. */
	if (!targets(USC_TARGET_LAUNCH))
		own_process = current->tgid;
	WRITE_ONCE(hold_until, now_ns() + USC_HOLD_NS);
	for (i = 0; i < ARRAY_SIZE(hooks); i++) {
		if ((hooks[i].kinds && !targets(hooks[i].kinds)) || (hooks[i].signals && !config.signals))
			continue;
		if (!hooks[i].tracepoint) {
			usc_hooks_detach();
			return -EOPNOTSUPP;
		}
		error = tracepoint_probe_register(hooks[i].tracepoint, hooks[i].probe, NULL);
		if (error) {
			usc_hooks_detach();
			return error;
		}
		hooks[i].attached = true;
	}
	error = usc_functions_attach();
	if (error) {
		usc_hooks_detach();
		return error;
	}
	WRITE_ONCE(logging, true);
	return 0;
}

/* With no hook in a function any more: those that tasks are in. */
static void tell_open_functions(void)
{
	struct usc_task_node *node;
	u32 bucket;

	for (bucket = 0; bucket < ARRAY_SIZE(usc_tasks); bucket++) {
		rcu_read_lock();
		hlist_for_each_entry_rcu(node, &usc_tasks[bucket], link) PROBE(core_open_functions(&node->entry));
		rcu_read_unlock();
	}
}

void usc_hooks_close_entries(void)
{
	WRITE_ONCE(entries_closed, 1);
	usc_functions_detach();
	tell_open_functions();
	unregister(&hooks[SYS_ENTER]);
	tracepoint_synchronize_unregister();
}

/* No probe runs when this has returned, and nobody logs: both run with preemption disabled. Nobody would keep the map
 * up to date from here on. */
void usc_hooks_detach(void)
{
	u32 i;

	WRITE_ONCE(logging, false);
	usc_functions_detach();
	for (i = ARRAY_SIZE(hooks); i-- > 0;)
		unregister(&hooks[i]);
	tracepoint_synchronize_unregister();
	usc_tasks_clear();
}

/* One that is ending may have passed sched_process_exit before it came into the map: then nobody else takes it out. */
static void adopt_task(struct task_struct *task)
{
	if (entry_of(task) || READ_ONCE(task->flags) & PF_EXITING)
		return;
	usc_target_lock(task);
	if (task->mm)
		decide_task(task, USC_UNKNOWN);
	usc_target_unlock(task);
	smp_mb();
	if (READ_ONCE(task->flags) & PF_EXITING) {
		core_exit(task);
		forget(task);
	}
}

void usc_adopt(void)
{
	struct task_struct *process, *task;

	WRITE_ONCE(hold_until, now_ns() + USC_HOLD_NS);
	rcu_read_lock();
	for_each_process_thread(process, task) if (!(task->flags & PF_KTHREAD)) PROBE(adopt_task(task));
	rcu_read_unlock();
	usc_target_drop_pids();
}

/* A thread that lives, which a process's first one need not do, with its address space. */
static struct mm_struct *mm_of(struct pid *pid, struct task_struct **one)
{
	struct task_struct *leader, *task;
	struct mm_struct *mm = NULL;

	rcu_read_lock();
	leader = pid_task(pid, PIDTYPE_TGID);
	if (leader) {
		for_each_thread(leader, task)
		{
			mm = get_task_mm(task);
			if (!mm)
				continue;
			get_task_struct(task);
			*one = task;
			break;
		}
	}
	rcu_read_unlock();
	return mm;
}

/* The number of the address space, where the task is traced and has it still. */
static u32 adopt_mapping_of(struct task_struct *task, struct mm_struct *mm, struct vm_area_struct *vma)
{
	struct task_entry *t = entry_of(task);
	u32 serial = 0;

	if (!t || t->state != USC_TRACED)
		return 0;
	usc_target_lock(task);
	if (task->mm == mm && is_mapping_of(t, vma)) {
		serial = t->mm;
		adopt_mapping(task, t, vma);
	}
	usc_target_unlock(task);
	return serial;
}

/* Threads that map and unmap all the time leave the lock free for an instant only. Not waited for: who maps may hold it
 * for as long as it likes, and the device's lock is held here. */
static bool try_to_read(struct mm_struct *mm)
{
	u32 i;

	for (i = 0; i < LOCK_TRIES; i++) {
		if (mmap_read_trylock(mm))
			return true;
		usleep_range(LOCK_PAUSE_US, 2 * LOCK_PAUSE_US);
	}
	return false;
}

/* Another processor is about to take its process into the trace, or not. */
static u32 is_undecided(struct task_struct *task)
{
	struct task_entry *t = entry_of(task->group_leader);

	return t && READ_ONCE(t->state) == STATE_DECIDING;
}

int usc_adopt_mappings(struct pid *pid)
{
	struct task_struct *task = NULL;
	struct mm_struct *mm = mm_of(pid, &task);
	struct vm_area_struct *vma;
	u32 serial = 0, missed = 0, undecided = 0;
	int error;

	if (!mm)
		return -ESRCH;
	error = try_to_read(mm) ? 0 : -EAGAIN;
	if (!error) {
		VMA_ITERATOR(each, mm, 0);

		for_each_vma(each, vma)
		{
			if (!(vma->vm_flags & VM_EXEC))
				continue;
			PROBE(serial = adopt_mapping_of(task, mm, vma));
			missed |= !serial;
		}
		mmap_read_unlock(mm);
		if (serial && !missed)
			mappings_known(serial);
		else
			PROBE(undecided = is_undecided(task));
		if (undecided)
			error = -EAGAIN;
	}
	mmput(mm);
	put_task_struct(task);
	return error;
}

/*
 * Registers that a task entered the kernel with. The memory of its stack stays until RCU readers are done, but is
 * another task's once this one has ended: core_attached_call looks for that behind its last read.
 */
static struct pt_regs *entry_regs(struct task_struct *task)
{
	char *stack = READ_ONCE(task->stack);

	return stack ? (struct pt_regs *)(stack + THREAD_SIZE - TOP_OF_KERNEL_STACK_PADDING) - 1 : NULL;
}

u32 usc_attached_calls(struct usc_attached_call *calls, u32 capacity)
{
	struct usc_task_node *node;
	struct pt_regs *regs;
	u32 bucket, count = 0;

	for (bucket = 0; bucket < ARRAY_SIZE(usc_tasks); bucket++) {
		rcu_read_lock();
		hlist_for_each_entry_rcu(node, &usc_tasks[bucket], link)
		{
			if (count == capacity || READ_ONCE(node->entry.state) != USC_TRACED)
				continue;
			regs = entry_regs(node->task);
			if (regs && core_attached_call(node->task, &node->entry, regs, &calls[count]))
				count++;
			else
				memset(&calls[count], 0, sizeof(*calls));
		}
		rcu_read_unlock();
	}
	return count;
}

/* Beside running tasks: entries stay while this reads them. */
u32 usc_open_calls(struct usc_event *events, u32 capacity, u64 before_ns, u64 *traced)
{
	struct usc_task_node *node;
	u32 bucket, count = 0;

	*traced = 0;
	for (bucket = 0; bucket < ARRAY_SIZE(usc_tasks); bucket++) {
		rcu_read_lock();
		hlist_for_each_entry_rcu(node, &usc_tasks[bucket], link)
		{
			if (READ_ONCE(node->entry.state) != USC_TRACED || READ_ONCE(node->entry.flags) & TASK_ENDED ||
			    READ_ONCE(node->task->exit_state))
				continue;
			++*traced;
			if (count < capacity)
				count += core_open_call(&node->entry, before_ns, &events[count]);
		}
		rcu_read_unlock();
	}
	return count;
}

/* Between here and usc_log_end no file is met for the first time: port.h. */
int usc_log_begin(void)
{
	if (in_nmi())
		return -EOPNOTSUPP;
	preempt_disable_notrace();
	if (!READ_ONCE(logging)) {
		preempt_enable_notrace();
		return -ENODEV;
	}
	if (__this_cpu_read(working)) {
		count_loss(cpu_state_of(current_cpu()), USC_LOSS_RECURSION, 0);
		preempt_enable_notrace();
		return -EBUSY;
	}
	__this_cpu_write(working, CONTEXT_BIT);
	__this_cpu_write(usc_anywhere, true);
	pagefault_disable();
	return 0;
}

void usc_log_lost(u32 cause)
{
	__sync_fetch_and_add(&cpu_state_of(current_cpu())->stats.loss[cause], 1);
}

/* Reads what usc_is_traced reads, and adds to a number of this processor: that may be done anywhere. */
void usc_log_refused(void)
{
	preempt_disable_notrace();
	if (READ_ONCE(logging) && usc_is_traced(current))
		count_loss(cpu_state_of(current_cpu()), USC_LOSS_LOG_CONTEXT, 0);
	preempt_enable_notrace();
}

void usc_log_end(void)
{
	pagefault_enable();
	__this_cpu_write(usc_anywhere, false);
	__this_cpu_write(working, 0);
	preempt_enable_notrace();
}

bool usc_is_traced(struct task_struct *task)
{
	struct task_entry *t = entry_of(task);

	return t && t->state == USC_TRACED && !(t->flags & TASK_ENDED);
}

int usc_log_task(struct usc_log_task *task, bool with_stack)
{
	struct task_entry *t = entry_of(current);
	struct pt_regs *regs = task_pt_regs(current);
	u32 ended = 0;

	if (!usc_is_traced(current))
		return -ENOENT;
	task->serial = t->serial;
	task->image = t->image;
	task->stack = 0;
	/* A task that ends may have no memory any more. */
	if (!current->mm || !t->image)
		ended = USC_ENDED_SCOPE;
	else if (!user_64bit_mode(regs))
		ended = USC_ENDED_BROKEN + USC_BROKEN_COMPAT;
	if (with_stack)
		task->stack = take_stack(regs, place_now(regs, t, true), t, ended);
	return 0;
}

int usc_log_send(struct usc_record *record, u16 type, u32 bytes, u32 task)
{
	return send_record(record, type, bytes, task, now_ns(), false);
}
