/* SPDX-License-Identifier: GPL-2.0-or-later OR MIT */
/*
 * The tracer as BPF programs: calls (sys_enter, sys_exit), the trace map (fork, exec, exit, names), and what is still
 * under way (a task iterator). An untraced task pays one look-up of its own storage and nothing else.
 */
#include "stacks.h"

char LICENSE[] SEC("license") = "Dual MIT/GPL";

enum {
	NR_mmap = 9,
	NR_mprotect = 10,
	NR_munmap = 11,
	NR_rt_sigreturn = 15,
	NR_mremap = 25,
	NR_shmat = 30,
	NR_execve = 59,
	NR_arch_prctl = 158,
	NR_exit = 60,
	NR_shmdt = 67,
	NR_remap_file_pages = 216,
	NR_restart_syscall = 219,
	NR_exit_group = 231,
	NR_execveat = 322,
	NR_pkey_mprotect = 329,
	NR_io_uring_setup = 425,
	X32_rt_sigreturn = 513,
	I386_restart_syscall = 0,
	I386_exit = 1,
	I386_sigreturn = 119,
	I386_rt_sigreturn = 173,
	I386_exit_group = 252,
};

#define ERESTARTSYS 512
#define ERESTART_RESTARTBLOCK 516
#define EINTR 4
#define SIGKILL 9
#define NO_NUMBER ~0u

static __always_inline struct task_entry *entry_of(struct task_struct *task)
{
	return bpf_task_storage_get(&tasks, task, 0, 0);
}

static __always_inline bool wanted(__u32 abi, __u32 nr)
{
	__u32 bit = nr % USC_SYSCALL_BITS;

	if (nr >= USC_SYSCALL_BITS)
		return true; /* x32's own numbers, and what no table knows */
	if (abi == USC_ABI_I386)
		return config.calls_i386[bit / 64 % 8] >> (bit % 64) & 1;
	return config.calls_x86_64[bit / 64 % 8] >> (bit % 64) & 1;
}

static __always_inline __u32 abi_of(struct task_struct *task, __u32 nr)
{
	if (task->thread_info.status & TS_COMPAT)
		return USC_ABI_I386;
	return nr != NO_NUMBER && nr & X32_BIT ? USC_ABI_X32 : USC_ABI_X86_64;
}

static __always_inline void read_args(struct pt_regs *regs, __u32 abi, __u64 *args)
{
	if (abi == USC_ABI_I386) {
		args[0] = (__u32)regs->bx;
		args[1] = (__u32)regs->cx;
		args[2] = (__u32)regs->dx;
		args[3] = (__u32)regs->si;
		args[4] = (__u32)regs->di;
		args[5] = (__u32)regs->bp;
	} else {
		args[0] = regs->di;
		args[1] = regs->si;
		args[2] = regs->dx;
		args[3] = regs->r10;
		args[4] = regs->r8;
		args[5] = regs->r9;
	}
}

#define MREMAP_FIXED 2

/* Does a mapping with this protection become executable? */
static __always_inline bool makes_executable(__u64 protection)
{
	struct task_struct *task = bpf_get_current_task_btf();

	return protection & PROT_EXEC || (protection & PROT_READ && task->personality & READ_IMPLIES_EXEC);
}

/* The 32-bit ABI's calls on mappings, which a 64-bit process can make too. What they did is not looked at in detail. */
static __always_inline bool is_i386_mapping_call(__u32 nr)
{
	return nr == 90 || nr == 91 || nr == 117 || nr == 125 || nr == 163 || nr == 192 || nr == 257 || nr == 380 ||
	       nr == 384 || nr == 397 || nr == 398;
}

/* Can this call make, move or replace executable mappings? */
static __noinline int changes_mappings(struct task_entry *t)
{
	if (!t)
		return 0;
	switch (t->nr) {
	case NR_mmap:
		if (makes_executable(t->args[2]))
			return 1;
		return t->args[3] & MAP_FIXED && !is_data_range(t->mm, t->args[0], t->args[1]);
	case NR_munmap:
		return !is_data_range(t->mm, t->args[0], t->args[1]);
	case NR_mremap:
		return t->args[3] & MREMAP_FIXED || !is_data_range(t->mm, t->args[0], t->args[1]);
	case NR_mprotect:
	case NR_pkey_mprotect:
		return makes_executable(t->args[2]) ? 1 : 0;
	case NR_shmat:
	case NR_shmdt:
	case NR_remap_file_pages:
	case NR_arch_prctl: /* ARCH_MAP_VDSO_* */
		return t->nr != NR_arch_prctl || (t->args[0] >= 0x2001 && t->args[0] <= 0x2003);
	default:
		return 0;
	}
}

static __always_inline bool may_change_mappings(__u32 nr)
{
	return nr == NR_mmap || nr == NR_munmap || nr == NR_mprotect || nr == NR_mremap || nr == NR_shmat ||
	       nr == NR_shmdt || nr == NR_remap_file_pages || nr == NR_pkey_mprotect || nr == NR_arch_prctl;
}

static __always_inline void tell_unmap(struct task_entry *t, __u64 start, __u64 bytes, __u64 now)
{
	struct usc_unmap record = {.mm = t->mm, .start = start, .end = start + bytes};

	if (send_record(&record.head, USC_RECORD_UNMAP, sizeof(record), t->serial, now, false))
		count_loss(cpu_state_of(bpf_get_smp_processor_id()), USC_LOSS_RING_FULL_RECORD, t->process);
}

/* Announces a mapping now or, where mappings are locked, at the task's next call. */
static __always_inline void announce_later(struct task_entry *t, __u64 address)
{
	t->untold = announce_mapping(address, t->mm, t->serial) ? address : 0;
}

/* After a call that may have changed mappings: what is executable where now. */
static __noinline int mappings_changed(struct task_entry *t, __s64 result)
{
	if (!t || (result < 0 && result > -4096))
		return 0;
	switch (t->mapping_nr) {
	case NR_mmap:
		if (t->args[3] & MAP_FIXED)
			tell_unmap(t, result, t->args[1], t->mapping_ns);
		if (makes_executable(t->args[2])) {
			widen_hull(t->mm, result, t->args[1]);
			announce_later(t, result);
		}
		break;
	case NR_munmap:
		tell_unmap(t, t->args[0], t->args[1], t->mapping_ns);
		break;
	case NR_mprotect:
	case NR_pkey_mprotect:
		widen_hull(t->mm, t->args[0], t->args[1]);
		announce_later(t, t->args[0]);
		break;
	case NR_mremap:
		tell_unmap(t, t->args[0], t->args[1], t->mapping_ns);
		widen_hull(t->mm, result, t->args[2]);
		announce_later(t, result);
		break;
	case NR_shmat:
		widen_hull(t->mm, result, 1ull << 46); /* its size is not known here */
		announce_later(t, result);
		break;
	case NR_arch_prctl:
	case MAPPING_I386:
		widen_hull(t->mm, 0, ~0ull);
		break;
	default:
		break;
	}
	return 0;
}

static __noinline int send_task(struct task_struct *task, struct task_entry *t, __u32 parent, __u32 parent_mm,
				__u32 flags)
{
	struct usc_task record = {};
	struct pid *pid;
	__u32 level;

	if (!t)
		return 0;
	record.process = t->process;
	record.parent_task = parent;
	record.pid = task->tgid;
	record.tid = task->pid;
	pid = BPF_CORE_READ(task, thread_pid);
	level = BPF_CORE_READ(pid, level);
	bpf_core_read(&record.ns_tid, 4, &pid->numbers[level].nr);
	pid = BPF_CORE_READ(task, group_leader, thread_pid);
	bpf_core_read(&record.ns_pid, 4, &pid->numbers[level].nr);
	record.mm = t->mm;
	record.parent_mm = parent_mm;
	record.start_ns = task->start_time;
	record.flags = flags;
	record.image = t->image;
	bpf_probe_read_kernel_str(record.name, sizeof(record.name), task->comm);
	if (send_record(&record.head, USC_RECORD_TASK, sizeof(record), t->serial, bpf_ktime_get_ns(), false))
		count_loss(cpu_state_of(bpf_get_smp_processor_id()), USC_LOSS_RING_FULL_RECORD, t->process);
	return 0;
}

static __noinline int is_launched(void)
{
	struct bpf_pidns_info ids = {};

	if (bpf_get_ns_current_pid_tgid(pid_namespace_dev, pid_namespace_ino, &ids, sizeof(ids)))
		return 0;
	return ids.tgid == launch_pid;
}

/* The launched command enters the map with its first execve. */
static __noinline int begin_launched(struct task_struct *task)
{
	struct task_entry *t = bpf_task_storage_get(&tasks, task, 0, BPF_LOCAL_STORAGE_GET_F_CREATE);

	if (!t) {
		count_loss(cpu_state_of(bpf_get_smp_processor_id()), USC_LOSS_TASK_MAP_FULL, 0);
		return 0;
	}
	t->serial = next_serial(&last_task);
	t->process = next_serial(&last_process);
	t->mm = next_serial(&last_mm);
	launch_pid = 0;
	t->restart_nr = NO_NUMBER;
	t->state = USC_TRACED;
	send_task(task, t, 0, 0, USC_TASK_PROCESS | USC_TASK_LAUNCHED);
	return 0;
}

/* restart_syscall goes on with the call that was interrupted: under that one's number and arguments. */
static __always_inline void restore_restarted(struct task_entry *t)
{
	__u32 restart = t->abi == USC_ABI_I386 ? I386_restart_syscall : NR_restart_syscall;

	if (t->nr != restart || t->restart_nr == NO_NUMBER)
		return;
	t->nr = t->restart_nr;
	__builtin_memcpy(t->args, t->restart_args, sizeof(t->args));
	t->event_flags = USC_EVENT_RESTARTED;
}

static __always_inline void call_begins(struct task_struct *task, struct pt_regs *regs, struct task_entry *t, __u32 nr)
{
	__u32 ended = 0;

	t->flags &= ~(TASK_IN_CALL | TASK_NEWBORN | TASK_SKIPPED);
	if (t->untold)
		announce_later(t, t->untold);
	t->abi = abi_of(task, nr);
	if (t->abi == USC_ABI_X32)
		nr &= ~X32_BIT;
	t->nr = nr;
	t->event_flags = 0;
	t->call_serial = t->serial;
	t->call_image = t->image;
	read_args(regs, t->abi, t->args);
	restore_restarted(t);
	t->restart_nr = NO_NUMBER;
	if (wanted(t->abi, t->nr)) {
		t->entry_ns = bpf_ktime_get_ns();
		if (t->abi == USC_ABI_I386)
			ended = USC_ENDED_BROKEN + USC_BROKEN_COMPAT;
		else if (!t->image)
			ended = USC_ENDED_SCOPE; /* the launcher's own code, before the command's first exec */
		t->stack = take_stack(regs, t, ended);
		barrier();
		t->flags |= TASK_IN_CALL;
	} else {
		t->flags |= TASK_SKIPPED;
	}
	if (t->abi == USC_ABI_I386 ? is_i386_mapping_call(t->nr) : may_change_mappings(t->nr) && changes_mappings(t)) {
		t->mapping_nr = t->abi == USC_ABI_I386 ? MAPPING_I386 : t->nr;
		t->mapping_ns = bpf_ktime_get_ns();
		t->flags |= TASK_MAPPING;
		mappings_begin(t->mm);
	}
}

SEC("tp_btf/sys_enter")
int BPF_PROG(on_sys_enter, struct pt_regs *regs, long id)
{
	struct task_struct *task = bpf_get_current_task_btf();
	struct task_entry *t = entry_of(task);

	if (!t) {
		if (!launch_pid || id != NR_execve || !is_launched())
			return 0;
		begin_launched(task);
		t = entry_of(task);
		if (!t)
			return 0;
	}
	if (t->state == USC_TRACED)
		call_begins(task, regs, t, id);
	return 0;
}

static __always_inline int send_event(struct task_entry *t, __s64 result, __u32 how, __u64 now)
{
	__u32 cpu_number = bpf_get_smp_processor_id();
	struct cpu_state *cpu = cpu_state_of(cpu_number);
	void *ring = bpf_map_lookup_elem(&rings, &cpu_number);
	struct usc_event *event;

	if (!cpu || !ring)
		return -1;
	event = bpf_ringbuf_reserve(ring, sizeof(*event), 0);
	if (!event) {
		__sync_fetch_and_add(&cpu->seq, 1);
		count_loss(cpu, USC_LOSS_RING_FULL_EVENT, t->process);
		return -1;
	}
	fill_head(&event->head, cpu, cpu_number, USC_RECORD_EVENT, sizeof(*event), t->call_serial, now);
	event->entry_ns = t->entry_ns;
	event->result = result;
	event->args[0] = t->args[0];
	event->args[1] = t->args[1];
	event->args[2] = t->args[2];
	event->args[3] = t->args[3];
	event->args[4] = t->args[4];
	event->args[5] = t->args[5];
	event->stack = t->stack;
	event->image = t->call_image;
	event->nr = t->nr;
	event->how = how;
	event->abi = t->abi;
	event->flags = t->event_flags;
	cpu->stats.events++;
	bpf_ringbuf_submit(event, wakeup_flags(ring, false));
	return 0;
}

/* An exit whose entry was not seen although the task was traced: the call was denied before sys_enter. */
static __noinline int denied_call(struct task_struct *task, struct pt_regs *regs, struct task_entry *t, __s64 result)
{
	__u64 now = bpf_ktime_get_ns();
	__u32 nr = regs->orig_ax;

	if (!t)
		return 0;
	t->abi = abi_of(task, nr);
	if (t->abi == USC_ABI_X32)
		nr &= ~X32_BIT;
	if (nr != NO_NUMBER && !wanted(t->abi, nr))
		return 0;
	t->nr = nr;
	t->entry_ns = now;
	t->call_serial = t->serial;
	t->call_image = t->image;
	t->event_flags = 0;
	read_args(regs, t->abi, t->args);
	t->stack = take_stack(regs, t, t->abi == USC_ABI_I386 ? USC_ENDED_BROKEN + USC_BROKEN_COMPAT : 0);
	send_event(t, result, USC_HOW_NO_ENTRY, now);
	return 0;
}

static __always_inline bool returns_no_result(const struct task_entry *t)
{
	if (t->abi == USC_ABI_I386)
		return t->nr == I386_sigreturn || t->nr == I386_rt_sigreturn;
	return t->nr == NR_rt_sigreturn || (t->abi == USC_ABI_X32 && t->nr == X32_rt_sigreturn);
}

static __always_inline bool is_io_uring_setup(const struct task_entry *t)
{
	return t->nr == NR_io_uring_setup; /* the same number in every ABI */
}

static __noinline int send_io_uring(struct task_entry *t, __u64 now)
{
	struct usc_io_uring record = {};

	if (!t)
		return 0;
	record.process = t->process;
	if (send_record(&record.head, USC_RECORD_IO_URING, sizeof(record), t->serial, now, false))
		count_loss(cpu_state_of(bpf_get_smp_processor_id()), USC_LOSS_RING_FULL_RECORD, t->process);
	return 0;
}

static __always_inline int call_returns(struct task_struct *task, struct task_entry *t, __s64 result)
{
	__u64 now = bpf_ktime_get_ns();
	__u32 how = USC_HOW_RETURNED;

	if (returns_no_result(t))
		t->event_flags |= USC_EVENT_NO_RESULT;
	if (result == -EINTR || (result <= -ERESTARTSYS && result >= -ERESTART_RESTARTBLOCK)) {
		if (task->pending.signal.sig[0] & 1ul << (SIGKILL - 1))
			how = USC_HOW_KILLED;
		if (result == -ERESTART_RESTARTBLOCK) {
			t->restart_nr = t->nr;
			__builtin_memcpy(t->restart_args, t->args, sizeof(t->args));
		}
	}
	t->flags &= ~TASK_IN_CALL;
	send_event(t, result, how, now);
	if (is_io_uring_setup(t) && result >= 0)
		send_io_uring(t, now);
	return 0;
}

SEC("tp_btf/sys_exit")
int BPF_PROG(on_sys_exit, struct pt_regs *regs, long result)
{
	struct task_struct *task = bpf_get_current_task_btf();
	struct task_entry *t = entry_of(task);

	if (!t || t->state != USC_TRACED)
		return 0;
	if (t->flags & TASK_MAPPING) {
		t->flags &= ~TASK_MAPPING;
		mappings_changed(t, result);
		mappings_end(t->mm);
	} else if (t->nr == NR_mmap && t->abi == USC_ABI_X86_64 && result > 0 && !makes_executable(t->args[2])) {
		remember_data(t->mm, result, t->args[1]);
	}
	if (t->flags & TASK_IN_CALL)
		call_returns(task, t, result);
	else if (t->flags & (TASK_NEWBORN | TASK_SKIPPED))
		t->flags &= ~(TASK_NEWBORN | TASK_SKIPPED);
	else if (!entries_closed)
		denied_call(task, regs, t, result);
	return 0;
}

SEC("tp_btf/sched_process_fork")
int BPF_PROG(on_fork, struct task_struct *parent, struct task_struct *child)
{
	struct task_entry *from = entry_of(parent), *t;
	__u32 flags = 0;

	if (!from || from->state == USC_UNKNOWN)
		return 0;
	t = bpf_task_storage_get(&tasks, child, 0, BPF_LOCAL_STORAGE_GET_F_CREATE);
	if (!t) {
		count_loss(cpu_state_of(bpf_get_smp_processor_id()), USC_LOSS_TASK_MAP_FULL, from->process);
		return 0;
	}
	t->state = usc_map_fork(from->state);
	if (t->state != USC_TRACED)
		return 0;
	t->serial = next_serial(&last_task);
	t->process = from->process;
	if (child->tgid != parent->tgid) {
		t->process = next_serial(&last_process);
		flags = USC_TASK_PROCESS;
	}
	t->mm = from->mm;
	if (child->mm != parent->mm) {
		t->mm = next_serial(&last_mm);
		copy_hulls(from->mm, t->mm);
	}
	t->image = from->image;
	t->exe_file = from->exe_file;
	t->restart_nr = NO_NUMBER;
	t->flags = TASK_NEWBORN;
	send_task(child, t, from->serial, from->mm, flags);
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
	found.address = BPF_CORE_READ(task, mm, start_code);
	find_mapping(&found);
	exe = found.status == FOUND ? found.file : 0;
	if (!exe && task->mm->exe_file)
		exe = file_serial(task, task->mm->exe_file, &found);
	widen_hull(t->mm, found.address, BPF_CORE_READ(task, mm, end_code) - found.address);
	if (exe)
		tell_mapping(&found, 1);
	regs = (struct pt_regs *)bpf_task_pt_regs(task);
	/* The interpreter's text, whose length is not known here, and the vdso: no more than this before and behind. */
	widen_hull(t->mm, regs->ip - INTERPRETER_BYTES, 2 * INTERPRETER_BYTES);
	announce_mapping(regs->ip, t->mm, t->serial);
	vdso = (__u64)BPF_CORE_READ(task, mm, context.vdso);
	if (vdso) {
		widen_hull(t->mm, vdso, PAGE_BYTES * 4);
		announce_mapping(vdso, t->mm, t->serial);
	}
	return exe;
}

static __noinline int send_exec(struct task_struct *task, struct task_entry *t, struct linux_binprm *bprm,
				__u32 old_tid, __u32 serial)
{
	__u32 cpu_number = bpf_get_smp_processor_id();
	struct text_scratch *text = bpf_map_lookup_elem(&texts, &cpu_number);
	__u64 arg_start, arg_end, total; /* 64 bits: 6.1's verifier loses a bound that is tested on a 32-bit copy */
	__u32 bytes;
	long got;

	if (!text || !t)
		return 0;
	__builtin_memset(&text->exec, 0, sizeof(text->exec));
	text->exec.process = t->process;
	text->exec.image = t->image;
	text->exec.mm = t->mm;
	text->exec.exe_file = t->exe_file;
	text->exec.old_tid = old_tid;
	text->exec.tid = task->pid;
	bpf_probe_read_kernel_str(text->exec.name, sizeof(text->exec.name), task->comm);
	got = bpf_probe_read_kernel_str(text->exec.data, USC_PATH_BYTES, BPF_CORE_READ(bprm, filename));
	if (got < 1 || got > USC_PATH_BYTES)
		got = 1;
	bytes = got - 1;
	text->exec.path_bytes = bytes;
	arg_start = BPF_CORE_READ(task, mm, arg_start);
	arg_end = BPF_CORE_READ(task, mm, arg_end);
	total = arg_end - arg_start;
	text->exec.argv_total = total;
	if (total > USC_ARGV_BYTES)
		total = USC_ARGV_BYTES;
	if (bytes < USC_PATH_BYTES && total &&
	    !bpf_probe_read_user(text->exec.data + bytes, total, (void *)arg_start)) {
		text->exec.argv_bytes = total;
		bytes += total;
	}
	bytes = (bytes + 7) & ~7u;
	if (bytes > USC_PATH_BYTES + USC_ARGV_BYTES ||
	    send_record(&text->exec.head, USC_RECORD_EXEC, sizeof(text->exec) + bytes, serial, bpf_ktime_get_ns(),
			true))
		count_loss(cpu_state_of(cpu_number), USC_LOSS_RING_FULL_RECORD, t->process);
	return 0;
}

SEC("tp_btf/sched_process_exec")
int BPF_PROG(on_exec, struct task_struct *task, int old_pid, struct linux_binprm *bprm)
{
	struct task_entry *t = entry_of(task);
	__u32 serial;

	if (!t || t->state != USC_TRACED)
		return 0;
	serial = t->serial;
	t->image = next_serial(&last_image);
	t->mm = next_serial(&last_mm);
	t->exe_file = announce_image(task, t);
	send_exec(task, t, bprm, old_pid, serial);
	if (old_pid != task->pid) {
		/* The caller goes on as the leader: its tid is the process's now. */
		t->serial = next_serial(&last_task);
		send_task(task, t, serial, t->mm, USC_TASK_EXEC_TID);
	}
	return 0;
}

static __always_inline bool is_exit(const struct task_entry *t)
{
	if (t->abi == USC_ABI_I386)
		return t->nr == I386_exit || t->nr == I386_exit_group;
	return t->nr == NR_exit || t->nr == NR_exit_group;
}

SEC("tp_btf/sched_process_exit")
int BPF_PROG(on_exit, struct task_struct *task)
{
	struct task_entry *t = entry_of(task);
	struct usc_task_exit record = {};
	__u64 now = bpf_ktime_get_ns();

	if (!t || t->state != USC_TRACED)
		return 0;
	if (t->flags & TASK_MAPPING)
		mappings_end(t->mm);
	if (t->flags & TASK_IN_CALL)
		send_event(t, 0, is_exit(t) ? USC_HOW_NORETURN : USC_HOW_KILLED, now);
	t->flags = 0;
	record.process = t->process;
	record.code = task->exit_code;
	if (task->signal->flags & SIGNAL_GROUP_EXIT)
		record.code = task->signal->group_exit_code;
	if (task->signal->live.counter == 0)
		record.flags = USC_EXIT_GROUP_DEAD;
	if (send_record(&record.head, USC_RECORD_TASK_EXIT, sizeof(record), t->serial, now, false))
		count_loss(cpu_state_of(bpf_get_smp_processor_id()), USC_LOSS_RING_FULL_RECORD, t->process);
	t->state = USC_UNTRACED;
	return 0;
}

SEC("tp_btf/task_rename")
int BPF_PROG(on_rename, struct task_struct *task, const char *comm)
{
	struct task_entry *t = entry_of(task);
	struct usc_task_name record = {};

	if (!t || t->state != USC_TRACED)
		return 0;
	bpf_probe_read_kernel_str(record.name, sizeof(record.name), comm);
	if (send_record(&record.head, USC_RECORD_TASK_NAME, sizeof(record), t->serial, bpf_ktime_get_ns(), false))
		count_loss(cpu_state_of(bpf_get_smp_processor_id()), USC_LOSS_RING_FULL_RECORD, t->process);
	return 0;
}

/* Set before each run of the iterator: calls that began before this time are written, all others are too young. */
__u64 open_before_ns;
/* Set to 0 before each run: counts the tasks being traced. */
__u64 traced_tasks;

/*
 * Calls that have not returned, as events with how = open, once each. A call that returns while it is copied is left
 * out: its entry time has changed, or the task is out of the call.
 */
SEC("iter/task")
int list_open_calls(struct bpf_iter__task *ctx)
{
	struct task_struct *task = ctx->task;
	struct usc_event event = {};
	struct task_entry *t;

	if (!task)
		return 0;
	t = entry_of(task);
	if (!t || t->state != USC_TRACED)
		return 0;
	traced_tasks++;
	if (!(t->flags & TASK_IN_CALL))
		return 0;
	event.entry_ns = *(volatile __u64 *)&t->entry_ns;
	if (event.entry_ns >= open_before_ns || t->open_ns == event.entry_ns)
		return 0;
	event.head.size = sizeof(event);
	event.head.type = USC_RECORD_EVENT;
	event.head.cpu = USC_CPU_USER;
	event.head.task = t->call_serial;
	event.head.time = bpf_ktime_get_ns();
	__builtin_memcpy(event.args, t->args, sizeof(event.args));
	event.stack = t->stack;
	event.image = t->call_image;
	event.nr = t->nr;
	event.how = USC_HOW_OPEN;
	event.abi = t->abi;
	event.flags = t->event_flags;
	barrier();
	if (*(volatile __u64 *)&t->entry_ns != event.entry_ns || !(*(volatile __u32 *)&t->flags & TASK_IN_CALL))
		return 0;
	t->open_ns = event.entry_ns;
	bpf_seq_write(ctx->meta->seq, &event, sizeof(event));
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

	bpf_find_vma(bpf_get_current_task_btf(), request.address, on_own_vma, &request, 0);
	key_request.key = request.key;
	key_request.found = request.found;
	return 0;
}
