// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
/*
 * Functions of the kernel that are traced beside system calls: which they are, and the hooks in them. What a hit does
 * is tracer.c's.
 *
 * Entries come by one ftrace_ops that has all addresses. A function that is not among them costs nothing.
 *
 * Returns come by the kernel's own return hook (rethook), whose trampoline the kernel's unwinder knows, so that stacks
 * through it stay whole. A module reaches it by kretprobes only: Debian 12 has no fprobe, and function graph tracing,
 * which takes one user at a time there and hooks all functions for it, is not exported. A kretprobe for each function
 * would patch the kernel's code once for each, which takes milliseconds. So there is one, whose own probe is never
 * armed: its handler of entries is called from the ftrace_ops, with any function's registers, for tasks that are
 * traced.
 */
#include <linux/capability.h>
#include <linux/ftrace.h>
#include <linux/kallsyms.h>
#include <linux/kprobes.h>
#include <linux/mm.h>
#include <linux/module.h>
#include <linux/security.h>
#include <linux/slab.h>
#include <linux/sort.h>
#include <linux/spinlock.h>
#include <linux/string.h>
#include <linux/uaccess.h>
#include <linux/vmalloc.h>

#include "compat.h"
#include "functions.h"
#include "session.h"
#include "tracer.h"

/* An endbr64 may come before a function's call of ftrace. */
#define MOST_BEFORE_CALL 4
/* Functions that have been entered by traced tasks, and have not returned, of all tasks together: so many rooms in the
 * kernel for their return addresses, and in here for their hits. */
#define MOST_OPEN 4096

static struct plan {
	struct usc_probe *probes;
	struct usc_device_place *places; /* by address */
	u32 probe_count;
	u32 place_count;
	bool with_returns;
	bool attached;
	/* From entry to return. */
	struct open_slot *open;
	u16 *free; /* numbers of those that are not taken; the last ones are taken first */
	u32 free_count;
	raw_spinlock_t lock; /* stays as it is when all else is cleared */
} plan = {.lock = __RAW_SPIN_LOCK_UNLOCKED(plan.lock)};

const struct usc_probe *usc_function_probe(u32 number)
{
	return number < plan.probe_count ? &plan.probes[number] : NULL;
}

const struct usc_device_place *usc_function_last(void)
{
	return plan.places + plan.place_count - 1;
}

const struct usc_device_place *usc_function_place(unsigned long ip)
{
	u32 low = 0, high = plan.place_count, middle;
	const struct usc_device_place *place;

	/* The first place behind the address that a function may have at most. */
	while (low < high) {
		middle = low + (high - low) / 2;
		if (plan.places[middle].address <= ip)
			low = middle + 1;
		else
			high = middle;
	}
	if (!low)
		return NULL;
	place = &plan.places[low - 1];
	if (ip - place->address > MOST_BEFORE_CALL)
		return NULL;
	while (place > plan.places && place[-1].address == place->address)
		place--;
	return place;
}

u16 usc_open_slot_take(void)
{
	unsigned long flags;
	u16 number = 0;

	raw_spin_lock_irqsave(&plan.lock, flags);
	if (plan.free_count)
		number = plan.free[--plan.free_count];
	raw_spin_unlock_irqrestore(&plan.lock, flags);
	return number;
}

void usc_open_slot_give_back(u16 number)
{
	unsigned long flags;

	if (!number)
		return;
	raw_spin_lock_irqsave(&plan.lock, flags);
	plan.free[plan.free_count++] = number;
	raw_spin_unlock_irqrestore(&plan.lock, flags);
}

struct open_slot *usc_open_slot(u16 number)
{
	return number ? &plan.open[number - 1] : NULL;
}

static int take_rooms(void)
{
	u32 i;

	plan.open = __vmalloc(array_size(MOST_OPEN, sizeof(*plan.open)), GFP_KERNEL_ACCOUNT | __GFP_ZERO);
	plan.free = kvmalloc_array(MOST_OPEN, sizeof(*plan.free), GFP_KERNEL_ACCOUNT);
	if (!plan.open || !plan.free)
		return -ENOMEM;
	for (i = 0; i < MOST_OPEN; i++)
		plan.free[i] = MOST_OPEN - i;
	plan.free_count = MOST_OPEN;
	return 0;
}

#ifdef CONFIG_DYNAMIC_FTRACE_WITH_ARGS

/* PERMANENT: whoever turns kernel.ftrace_enabled off meanwhile is refused, where hits would be lost without a word. */
#define ENTRIES                                                                                                        \
	{                                                                                                              \
		.func = usc_function_entered, .flags = FTRACE_OPS_FL_PERMANENT                                         \
	}
static struct ftrace_ops entries = ENTRIES;

#ifdef CONFIG_KRETPROBES
static struct kretprobe returns;

/* Where the kretprobe is, which is never armed. */
static noinline void never_probed(void)
{
	barrier();
}

static int take_returns(void)
{
	memset(&returns, 0, sizeof(returns));
	returns.kp.addr = (kprobe_opcode_t *)never_probed;
	returns.kp.flags = KPROBE_FLAG_DISABLED;
	returns.entry_handler = usc_function_kept;
	returns.handler = usc_function_returned;
	returns.maxactive = MOST_OPEN;
	returns.data_size = USC_RETURN_BYTES;
	return register_kretprobe(&returns);
}

static void give_returns_back(void)
{
	unregister_kretprobe(&returns);
}

void usc_function_hook_return(struct pt_regs *regs)
{
	returns.kp.pre_handler(&returns.kp, regs);
}
#else
static int take_returns(void)
{
	return -EOPNOTSUPP;
}

static void give_returns_back(void)
{
}

void usc_function_hook_return(struct pt_regs *regs)
{
}
#endif

int usc_functions_attach(void)
{
	int error = 0;

	if (!plan.place_count)
		return 0;
	if (plan.with_returns)
		error = take_returns();
	if (error)
		return error;
	error = register_ftrace_function(&entries);
	if (error && plan.with_returns)
		give_returns_back();
	plan.attached = !error;
	return error;
}

void usc_functions_detach(void)
{
	if (!plan.attached)
		return;
	unregister_ftrace_function(&entries);
	if (plan.with_returns)
		give_returns_back();
	plan.attached = false;
}

/* Of several places the first one that ftrace does not know. */
static u64 find_unknown(void)
{
	u32 i;

	for (i = 0; i < plan.place_count; i++)
		if (ftrace_set_filter_ip(&entries, plan.places[i].address, 0, 1))
			return plan.places[i].address;
	return 0;
}

static int set_filter(u64 *refused)
{
	unsigned long *addresses = kvcalloc(plan.place_count, sizeof(*addresses), GFP_KERNEL_ACCOUNT);
	u32 i, count = 0;
	int error;

	if (!addresses)
		return -ENOMEM;
	for (i = 0; i < plan.place_count; i++)
		if (!i || plan.places[i].address != plan.places[i - 1].address)
			addresses[count++] = plan.places[i].address;
	error = ftrace_set_filter_ips(&entries, addresses, count, 0, 1);
	kvfree(addresses);
	if (error != -EINVAL)
		return error;
	*refused = find_unknown();
	return *refused ? 0 : error;
}

static void clear_filter(void)
{
	const struct ftrace_ops fresh = ENTRIES;

	ftrace_free_filter(&entries);
	/* Linux 6.1 leaves the pointers to what it has freed in it. */
	entries = fresh;
}
#else
void usc_function_hook_return(struct pt_regs *regs)
{
}

int usc_functions_attach(void)
{
	return 0;
}

void usc_functions_detach(void)
{
}

static int set_filter(u64 *refused)
{
	return -EOPNOTSUPP;
}

static void clear_filter(void)
{
}
#endif

void usc_functions_free(void)
{
	if (plan.probes)
		clear_filter();
	kvfree(plan.probes);
	kvfree(plan.places);
	vfree(plan.open);
	kvfree(plan.free);
	memset(&plan, 0, offsetof(struct plan, lock));
}

static void *copy_in(u64 from, u32 count, size_t bytes)
{
	void *copy = kvmalloc_array(count, bytes, GFP_KERNEL_ACCOUNT);

	if (!copy)
		return ERR_PTR(-ENOMEM);
	if (!copy_from_user(copy, u64_to_user_ptr(from), count * bytes))
		return copy;
	kvfree(copy);
	return ERR_PTR(-EFAULT);
}

static int copy_plan(const struct usc_device_probes *request)
{
	void *copy = copy_in(request->probes, request->count, sizeof(*plan.probes));

	if (IS_ERR(copy))
		return PTR_ERR(copy);
	plan.probes = copy;
	plan.probe_count = request->count;
	copy = copy_in(request->places, request->place_count, sizeof(*plan.places));
	if (IS_ERR(copy))
		return PTR_ERR(copy);
	plan.places = copy;
	plan.place_count = request->place_count;
	return 0;
}

static int compare_places(const void *a, const void *b)
{
	const struct usc_device_place *one = a, *other = b;

	if (one->address != other->address)
		return one->address < other->address ? -1 : 1;
	return one->probe < other->probe ? -1 : one->probe > other->probe;
}

static int check_plan(void)
{
	u32 i, at;

	for (i = 0; i < plan.probe_count; i++) {
		if (usc_probe_check(&plan.probes[i], &at) || plan.probes[i].source != USC_SOURCE_KFUNCTION)
			return -EINVAL;
		if (plan.probes[i].role == USC_PROBE_WITH_RETURN)
			plan.with_returns = true;
	}
	for (i = 0; i < plan.place_count; i++)
		if (plan.places[i].probe >= plan.probe_count || plan.places[i].reserved)
			return -EINVAL;
	sort(plan.places, plan.place_count, sizeof(*plan.places), compare_places, NULL);
	for (i = 1; i < plan.place_count; i++)
		if (!compare_places(&plan.places[i - 1], &plan.places[i]))
			return -EINVAL;
	return 0;
}

static bool serves_returns(unsigned long address)
{
	static const char *const beginnings[] = {USC_DEVICE_SERVE_RETURNS};
	char symbol[KSYM_SYMBOL_LEN];
	u32 i;

	sprint_symbol(symbol, address);
	for (i = 0; i < ARRAY_SIZE(beginnings); i++)
		if (!strncmp(symbol, beginnings[i], strlen(beginnings[i])))
			return true;
	return false;
}

/* The address of a function that may not be probed; 0 = none. */
static u64 find_forbidden(void)
{
	const struct usc_device_place *place;

	for (place = plan.places; place <= usc_function_last(); place++) {
		if (within_module_core(place->address, THIS_MODULE))
			return place->address;
		if (plan.probes[place->probe].role == USC_PROBE_WITH_RETURN && serves_returns(place->address))
			return place->address;
	}
	return 0;
}

int usc_functions_take(struct usc_device_probes *request)
{
	int error;

	if (request->refused || request->reserved || !request->count || request->count > USC_PROBES_MOST ||
	    !request->place_count || request->place_count > USC_DEVICE_PLACES_MAX)
		return -EINVAL;
	/* Their stacks leave as addresses, and texts of the kernel's memory with them. */
	if ((!capable(CAP_SYSLOG) && !capable(CAP_SYS_ADMIN)) || security_locked_down(LOCKDOWN_KPROBES))
		return -EPERM;
	if (plan.probes)
		return -EALREADY;
	error = copy_plan(request);
	if (!error)
		error = check_plan();
	if (!error && plan.with_returns)
		error = take_rooms();
	if (!error)
		request->refused = find_forbidden();
	if (!error && !request->refused)
		error = set_filter(&request->refused);
	if (error || request->refused)
		usc_functions_free();
	return error;
}
