// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
/*
 * /dev/uscope (include/uscope/device.h): one opener, whose requests are under one mutex. Nothing that user space hands
 * in is believed: sizes are exact, reserved fields are 0, numbers are within bounds before any memory is taken.
 */
#include <linux/capability.h>
#include <linux/miscdevice.h>
#include <linux/mm.h>
#include <linux/module.h>
#include <linux/mutex.h>
#include <linux/pid.h>
#include <linux/poll.h>
#include <linux/slab.h>
#include <linux/uaccess.h>
#include <linux/vmalloc.h>

#include "compat.h"
#include "device.h"
#include "files.h"
#include "functions.h"
#include "rows.h"
#include "session.h"
#include "target.h"
#include "tasks.h"
#include "tracer.h"

static DEFINE_MUTEX(control_lock);
static unsigned int session_phase = USC_PHASE_OPENED; /* USC_PHASE_*, under control_lock */

/* Not under the mutex of the requests: that others ask who holds the device must not keep the holder from mapping its
 * rings. */
static DEFINE_SPINLOCK(holder_lock);
static bool held;
static char holder[TASK_COMM_LEN];
static pid_t holder_pid;

/* Who holds the device, for the message of a tracer that could not open it. */
static int get_holder(char *buffer, const struct kernel_param *param)
{
	int bytes;

	spin_lock(&holder_lock);
	bytes = held ? sysfs_emit(buffer, "%d %s\n", holder_pid, holder) : sysfs_emit(buffer, "0\n");
	spin_unlock(&holder_lock);
	return bytes;
}

static const struct kernel_param_ops holder_ops = {.get = get_holder};
module_param_cb(holder, &holder_ops, NULL, 0400);
MODULE_PARM_DESC(holder, "pid and name of the process that holds " USC_DEVICE_PATH ", 0 = none");

/* For whoever looks for entries that nobody removes. */
static int get_tasks(char *buffer, const struct kernel_param *param)
{
	return sysfs_emit(buffer, "%u\n", usc_tasks_count());
}

static const struct kernel_param_ops tasks_ops = {.get = get_tasks};
module_param_cb(tasks, &tasks_ops, NULL, 0400);
MODULE_PARM_DESC(tasks, "number of tasks in the trace map, also those that are known not to be traced");

static int device_open(struct inode *inode, struct file *file)
{
	int error = 0;

	if (!capable(CAP_SYS_ADMIN) && !capable(CAP_PERFMON))
		return -EPERM;
	spin_lock(&holder_lock);
	if (held) {
		error = -EBUSY;
	} else {
		held = true;
		holder_pid = task_tgid_nr(current);
		get_task_comm(holder, current->group_leader);
	}
	spin_unlock(&holder_lock);
	return error ? error : nonseekable_open(inode, file);
}

static int detach(void)
{
	usc_hooks_detach();
	session_phase = USC_PHASE_ENDED;
	return 0;
}

/* The last reference is gone, mappings included: nobody reads any more. */
static int device_release(struct inode *inode, struct file *file)
{
	mutex_lock(&control_lock);
	if (session_phase & USC_PHASES_HOOKED)
		detach();
	usc_session_free();
	session_phase = USC_PHASE_OPENED;
	mutex_unlock(&control_lock);
	spin_lock(&holder_lock);
	held = false;
	spin_unlock(&holder_lock);
	return 0;
}

static __poll_t device_poll(struct file *file, poll_table *wait)
{
	poll_wait(file, &usc.readers, wait);
	return atomic_read(&usc.urgent) ? EPOLLIN | EPOLLRDNORM : 0;
}

static ssize_t device_read(struct file *file, char __user *to, size_t bytes, loff_t *position)
{
	u64 count;

	if (bytes != sizeof(count))
		return -EINVAL;
	count = atomic_xchg(&usc.urgent, 0);
	if (!count)
		return -EAGAIN;
	return copy_to_user(to, &count, sizeof(count)) ? -EFAULT : sizeof(count);
}

static int map_region(struct vm_area_struct *vma)
{
	unsigned long pages = vma_pages(vma), region = (PAGE_SIZE + usc.ring_bytes) >> PAGE_SHIFT;
	unsigned long cpu, first;

	if (!usc.cpus || !(vma->vm_flags & VM_SHARED) || vma->vm_flags & VM_EXEC)
		return -EINVAL;
	cpu = vma->vm_pgoff / region;
	first = vma->vm_pgoff % region;
	if (cpu >= usc.cpu_count || pages > region - first)
		return -EINVAL;
	if (first ? vma->vm_flags & VM_WRITE : pages != 1)
		return -EPERM;
	usc_vm_flags(vma, VM_DONTCOPY | VM_DONTEXPAND | VM_DONTDUMP, VM_MAYEXEC | (first ? VM_MAYWRITE : 0));
	return remap_vmalloc_range(vma, usc.cpus[cpu].ring.region, first);
}

static int device_mmap(struct file *file, struct vm_area_struct *vma)
{
	int error;

	/*
	 * Not waited for: the mmap lock is held here, and an ioctl holds the device's while it takes that one. So a
	 * holder that maps and asks for something in two threads at once may be refused.
	 */
	if (!mutex_trylock(&control_lock))
		return -EAGAIN;
	error = map_region(vma);
	mutex_unlock(&control_lock);
	return error;
}

static int give_version(struct usc_device_version *version)
{
	version->device_abi = USC_DEVICE_ABI;
	version->control_abi = USC_CONTROL_ABI;
	version->record_abi = USC_RECORD_ABI;
	strscpy(version->module_version, USCOPE_VERSION, sizeof(version->module_version));
	return 0;
}

static int give_file_key(struct usc_device_file_key *request)
{
	struct vm_area_struct *vma;
	int error = -ENOENT;

	if (request->reserved)
		return -EINVAL;
	mmap_read_lock(current->mm);
	vma = find_vma(current->mm, request->address);
	if (vma && vma->vm_start <= request->address && vma->vm_file) {
		usc_file_read_key(vma->vm_file, &request->key);
		error = 0;
	}
	mmap_read_unlock(current->mm);
	return error;
}

static int start(struct usc_device_start *request)
{
	int error = usc_session_start(request);

	if (!error)
		session_phase = USC_PHASE_STARTED;
	return error;
}

static int reserve_file(struct usc_device_reserve *request)
{
	int error;

	if (usc_file_known(&request->key))
		return -EEXIST;
	/* A hostile caller may use all slots up: the kernel then meets no file, and counts that. */
	request->file = usc_file_take_serial();
	if (!request->file)
		return -ENOSPC;
	error = usc_file_enter(&request->key, request->file);
	if (error)
		WRITE_ONCE(usc.files[usc_file_slot(request->file)].serial, 0);
	return error;
}

/* What a request about several files names: `bytes` of each. The caller gives it back with kvfree(). */
static void *copy_files(const struct usc_device_files *request, size_t bytes)
{
	if (!request->count || request->count > USC_FILE_SLOTS)
		return ERR_PTR(-EINVAL);
	return vmemdup_user(u64_to_user_ptr(request->buffer), request->count * bytes);
}

static int forget_files(const struct usc_device_files *request)
{
	struct usc_file_key *keys = copy_files(request, sizeof(*keys));
	u32 i;

	if (IS_ERR(keys))
		return PTR_ERR(keys);
	for (i = 0; i < request->count; i++)
		usc_file_drop(&keys[i]);
	kvfree(keys);
	synchronize_rcu();
	return 0;
}

static int release_files(const struct usc_device_files *request)
{
	u32 *serials = copy_files(request, sizeof(*serials));
	int error;

	if (IS_ERR(serials))
		return PTR_ERR(serials);
	error = usc_files_release(serials, request->count);
	kvfree(serials);
	return error;
}

static int set_launched(const struct usc_device_launch *request)
{
	struct pid *pid = find_get_pid(request->pid);

	if (!pid)
		return -ESRCH;
	if (usc.launched) {
		put_pid(pid);
		return -EALREADY;
	}
	usc.launched = pid;
	WRITE_ONCE(usc.launch_pending, 1);
	return 0;
}

static int attach(void)
{
	int error = usc_hooks_attach();

	session_phase = error ? USC_PHASE_ENDED : USC_PHASE_TRACING;
	return error;
}

static int close_entries(void)
{
	usc_hooks_close_entries();
	session_phase = USC_PHASE_CLOSING;
	return 0;
}

static int give_open_calls(struct usc_device_open_calls *request)
{
	struct usc_event *events;
	int error = 0;

	if (request->reserved || !request->capacity || request->capacity > USC_DEVICE_OPEN_CALLS_MAX)
		return -EINVAL;
	events = kvcalloc(request->capacity, sizeof(*events), GFP_KERNEL);
	if (!events)
		return -ENOMEM;
	request->count = usc_open_calls(events, request->capacity, request->before_ns, &request->traced);
	if (copy_to_user(u64_to_user_ptr(request->buffer), events, request->count * sizeof(*events)))
		error = -EFAULT;
	kvfree(events);
	return error;
}

static int give_mappings(const struct usc_device_mappings *request)
{
	struct pid *pid = find_get_pid(request->pid);
	int error = pid ? usc_adopt_mappings(pid) : -ESRCH;

	put_pid(pid);
	return error;
}

static int give_attached(struct usc_device_attached *request)
{
	struct usc_attached_call *calls;
	int error = 0;

	if (request->reserved || !request->capacity || request->capacity > USC_DEVICE_ATTACHED_MAX)
		return -EINVAL;
	calls = kvcalloc(request->capacity, sizeof(*calls), GFP_KERNEL);
	if (!calls)
		return -ENOMEM;
	request->count = usc_attached_calls(calls, request->capacity);
	if (copy_to_user(u64_to_user_ptr(request->buffer), calls, request->count * sizeof(*calls)))
		error = -EFAULT;
	kvfree(calls);
	return error;
}

static int reserve_stack(struct usc_device_stack *request)
{
	request->stack = __sync_add_and_fetch(&usc.last_stack, 1);
	return 0;
}

/* When this returns, the hooks that began before have ended: calls that begin later name no older stack. */
static int resend_stacks(struct usc_device_stack *request)
{
	reserve_stack(request);
	WRITE_ONCE(usc.first_stack, request->stack);
	synchronize_rcu();
	return 0;
}

static int give_stats(struct usc_device_stats *request)
{
	if (request->cpu >= usc.cpu_count)
		return -EINVAL;
	request->sequence = usc.cpus[request->cpu].state.seq;
	request->stats = usc.cpus[request->cpu].state.stats;
	return 0;
}

static int give_losses(struct usc_device_losses *request)
{
	struct usc_device_loss *copy;
	u32 slot, count = 0;
	int error = 0;

	if (request->reserved || !request->capacity || request->capacity > USC_DEVICE_LOSSES_MAX)
		return -EINVAL;
	copy = kvcalloc(request->capacity, sizeof(*copy), GFP_KERNEL);
	if (!copy)
		return -ENOMEM;
	for (slot = 0; slot < USC_LOSS_SLOTS && count < request->capacity; slot++)
		if (usc.losses[slot].count)
			copy[count++] = usc.losses[slot];
	request->count = count;
	if (copy_to_user(u64_to_user_ptr(request->buffer), copy, count * sizeof(*copy)))
		error = -EFAULT;
	kvfree(copy);
	return error;
}

/* The hooks that began before the turn have ended when this returns: they hold preemption off. */
static void turn_rows(void)
{
	WRITE_ONCE(usc.query_turn, !usc.query_turn);
	synchronize_rcu();
}

static int give_rows(struct usc_device_rows *request)
{
	struct usc_query_row __user *to = u64_to_user_ptr(request->buffer);
	struct usc_query_row *row;
	u32 i;

	if (request->reserved || request->cpu >= usc.cpu_count)
		return -EINVAL;
	if (!usc.config.query.length)
		return -ENODATA;
	if (!request->cpu)
		turn_rows();
	row = usc.query_rows + (size_t)(request->cpu * 2 + !usc.query_turn) * USC_QUERY_ROWS;
	request->count = 0;
	for (i = 0; i < USC_QUERY_ROWS; i++, row++) {
		if (!row->events)
			continue;
		if (copy_to_user(to + request->count, row, sizeof(*row)))
			return -EFAULT;
		request->count++;
		row->events = 0;
	}
	return 0;
}

union request {
	u32 size;
	struct usc_device_version version;
	struct usc_device_start start;
	struct usc_device_table table;
	struct usc_device_file file;
	struct usc_device_file_key key;
	struct usc_device_reserve reserve;
	struct usc_device_files files;
	struct usc_device_launch launch;
	struct usc_device_target target;
	struct usc_device_mappings mappings;
	struct usc_device_attached attached;
	struct usc_device_stack stack;
	struct usc_device_open_calls open_calls;
	struct usc_device_stats stats;
	struct usc_device_losses losses;
	struct usc_device_rows rows;
	struct usc_device_probes probes;
};

static int answer(unsigned int command, union request *r)
{
	int refusal = usc_device_refusal(command, session_phase);

	if (refusal)
		return -refusal;
	switch (command) {
	case USC_DEVICE_VERSION:
		return give_version(&r->version);
	case USC_DEVICE_START:
		return start(&r->start);
	case USC_DEVICE_FILE_KEY:
		return give_file_key(&r->key);
	case USC_DEVICE_TABLE:
		return r->table.reserved || r->table.table ? -EINVAL : usc_table_load(&r->table);
	case USC_DEVICE_FILE:
		return r->file.reserved ? -EINVAL : usc_file_publish(&r->file);
	case USC_DEVICE_RESERVE:
		return reserve_file(&r->reserve);
	case USC_DEVICE_FORGET:
		return forget_files(&r->files);
	case USC_DEVICE_RELEASE:
		return release_files(&r->files);
	case USC_DEVICE_PROBES:
		return usc_functions_take(&r->probes);
	case USC_DEVICE_LAUNCH:
		return set_launched(&r->launch);
	case USC_DEVICE_TARGET:
		return usc_target_add(&r->target);
	case USC_DEVICE_ADOPT:
		usc_adopt();
		return 0;
	case USC_DEVICE_MAPPINGS:
		return give_mappings(&r->mappings);
	case USC_DEVICE_ATTACHED:
		return give_attached(&r->attached);
	case USC_DEVICE_STACK:
		return reserve_stack(&r->stack);
	case USC_DEVICE_RESEND:
		return resend_stacks(&r->stack);
	case USC_DEVICE_ATTACH:
		return attach();
	case USC_DEVICE_CLOSE_ENTRIES:
		return close_entries();
	case USC_DEVICE_DETACH:
		return detach();
	case USC_DEVICE_OPEN_CALLS:
		return give_open_calls(&r->open_calls);
	case USC_DEVICE_STATS:
		return give_stats(&r->stats);
	case USC_DEVICE_LOSSES:
		return give_losses(&r->losses);
	case USC_DEVICE_ROWS:
		return give_rows(&r->rows);
	default:
		return -ENOTTY;
	}
}

static long device_ioctl(struct file *file, unsigned int command, unsigned long argument)
{
	const u32 bytes = _IOC_SIZE(command);
	void __user *user = (void __user *)argument;
	union request *request; /* too large for the stack */
	int error = -EFAULT;

	if (bytes > sizeof(*request) || (!bytes && argument))
		return -EINVAL;
	request = kzalloc(sizeof(*request), GFP_KERNEL);
	if (!request)
		return -ENOMEM;
	if (bytes && copy_from_user(request, user, bytes))
		goto out;
	error = -EINVAL;
	if (bytes && request->size != bytes)
		goto out;
	error = -EINTR;
	if (mutex_lock_interruptible(&control_lock))
		goto out;
	error = answer(command, request);
	mutex_unlock(&control_lock);
	if (!error && _IOC_DIR(command) & _IOC_READ && copy_to_user(user, request, bytes))
		error = -EFAULT;
out:
	kfree(request);
	return error;
}

static const struct file_operations device_operations = {
	.owner = THIS_MODULE,
	.open = device_open,
	.release = device_release,
	.read = device_read,
	.poll = device_poll,
	.mmap = device_mmap,
	.unlocked_ioctl = device_ioctl,
};

static struct miscdevice device = {
	.minor = MISC_DYNAMIC_MINOR,
	.name = USC_DEVICE_NAME,
	.fops = &device_operations,
	.mode = 0600,
};

int usc_device_register(void)
{
	raw_spin_lock_init(&usc.lock);
	init_waitqueue_head(&usc.readers);
	return misc_register(&device);
}

void usc_device_unregister(void)
{
	misc_deregister(&device);
}
