// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
/*
 * What other modules may call (uscope_log.h). Kernel frames are told as module and offset, each place once, and events
 * name it by a number: no kernel address leaves. Where the core kernel's text begins is found by asking for symbols
 * downwards from a known one, in the steps by which the kernel is placed; where a module's does, in the list of
 * modules.
 */
#include <linux/export.h>
#include <linux/hash.h>
#include <linux/jhash.h>
#include <linux/kallsyms.h>
#include <linux/module.h>
#include <linux/rculist.h>
#include <linux/sched.h>
#include <linux/stacktrace.h>

#include "compat.h"
#include "session.h"
#include "uscope_log.h"

#define PROBED_PLACES 8
#define PLACE_BYTES (MODULE_NAME_LEN + KSYM_SYMBOL_LEN + 32)
#define KERNEL_STEP 0x200000ul /* x86-64 aligns the kernel's text to this, or a multiple */
#define KERNEL_STEPS_MAX 512   /* 1 GiB, as much as there is for it */

static unsigned long kernel_text; /* 0 = not found: no frame of the core kernel has a name then */

static bool has_symbol(unsigned long address)
{
	char text[KSYM_SYMBOL_LEN];

	/* Else the address itself comes back: 0x…. */
	return sprint_symbol(text, address) && text[0] != '0';
}

void usc_find_kernel_text(void)
{
	unsigned long address = (unsigned long)&sprint_symbol & ~(KERNEL_STEP - 1);
	u32 i;

	if (!has_symbol((unsigned long)&sprint_symbol))
		return;
	/* In the step of the known symbol the text may begin; below the text nothing has a name. */
	for (i = 0; i < KERNEL_STEPS_MAX && has_symbol(address); i++) {
		kernel_text = address;
		address -= KERNEL_STEP;
	}
}

/* The module that holds an address, 0 = none. Under preempt_disable, which keeps modules where they are. */
static const struct module *module_of(unsigned long address)
{
	const struct module *module;

	if (within_module_core(address, THIS_MODULE))
		return THIS_MODULE;
	list_for_each_entry_rcu(module, &THIS_MODULE->list, list)
	{
		/* The list's head, which lies in no module. */
		if ((unsigned long)module < MODULES_VADDR || (unsigned long)module >= MODULES_END)
			continue;
		if (module->state != MODULE_STATE_UNFORMED && within_module_core(address, module))
			return module;
	}
	return NULL;
}

/* "module+0xoffset function+0xoffset"; 0 = there is no name for it. */
static u32 name_place(char *text, u32 room, unsigned long address)
{
	char symbol[KSYM_SYMBOL_LEN];
	const struct module *module;
	const char *name = "vmlinux";
	unsigned long base = kernel_text;
	char *end;

	if (!sprint_symbol(symbol, address) || symbol[0] == '0')
		return 0; /* without a name it would be the address */
	end = strchr(symbol, '/');
	if (end)
		*end = 0;
	if (address >= MODULES_VADDR) {
		module = module_of(address);
		if (!module) /* made at run time: trampolines, BPF programs */
			return scnprintf(text, room, "? %s", symbol);
		name = module->name;
		base = usc_module_text(module);
	}
	if (!base || address < base)
		return 0;
	return scnprintf(text, room, "%s+0x%lx %s", name, address - base, symbol);
}

static void count_lost(u32 cause)
{
	__sync_fetch_and_add(&usc.cpus[smp_processor_id()].state.stats.loss[cause], 1);
}

static struct usc_place *place_slot(unsigned long address, u32 number)
{
	return &usc.places[(hash_long(address, 32) + number) % USC_PLACE_SLOTS];
}

/* 0 = not known. A slot is written once: its address last. */
static u32 known_place(unsigned long address)
{
	u32 i;

	for (i = 0; i < PROBED_PLACES; i++) {
		struct usc_place *slot = place_slot(address, i);

		if (smp_load_acquire(&slot->address) == address)
			return slot->place;
	}
	return 0;
}

static void keep_place(unsigned long address, u32 place)
{
	unsigned long flags;
	u32 i;

	if (!raw_spin_trylock_irqsave(&usc.lock, flags))
		return; /* told again then, under another number */
	for (i = 0; i < PROBED_PLACES; i++) {
		struct usc_place *slot = place_slot(address, i);

		if (!slot->address) {
			slot->place = place;
			smp_store_release(&slot->address, address);
			break;
		}
	}
	raw_spin_unlock_irqrestore(&usc.lock, flags);
}

static u32 tell_place(unsigned long address, u32 task)
{
	struct {
		struct usc_kernel_place head;
		char text[PLACE_BYTES];
	} record = {};
	u32 bytes;

	bytes = name_place(record.text, sizeof(record.text), address);
	if (!bytes)
		return 0;
	record.head.place = __sync_add_and_fetch(&usc.last_place, 1);
	record.head.text_bytes = bytes;
	if (usc_log_send(&record.head.head, USC_RECORD_KERNEL_PLACE, sizeof(record.head) + ALIGN(bytes, 8), task)) {
		count_lost(USC_LOSS_RING_FULL_RECORD);
		return 0;
	}
	keep_place(address, record.head.place);
	return record.head.place;
}

/* `caller`: an address in a module whose own frames are left out where they come first; 0 = none are. */
static __always_inline u32 kernel_places(u32 *places, u32 task, unsigned long caller)
{
	const struct module *module = caller >= MODULES_VADDR ? module_of(caller) : NULL;
	unsigned long addresses[USC_KERNEL_FRAMES];
	u32 count, i, own = 0;

	/* Without log_event, and usc_log_event or usc_log_named. */
	count = stack_trace_save(addresses, ARRAY_SIZE(addresses), 2);
	while (module && own < count && within_module_core(addresses[own], module))
		own++;
	for (i = 0; own + i < count; i++) {
		places[i] = known_place(addresses[own + i]);
		if (!places[i])
			places[i] = tell_place(addresses[own + i], task);
	}
	return i;
}

#define KIND_LOCK_TRIES 1000

static const struct usc_kind *find_kind(const char *name, u32 bytes, u32 hash, u32 from, u32 *number)
{
	u32 count = smp_load_acquire(&usc.kind_count);

	for (*number = from; *number < count; ++*number) {
		const struct usc_kind *kind = &usc.kinds[*number];

		if (kind->hash == hash && kind->bytes == bytes && !memcmp(kind->name, name, bytes))
			return kind;
	}
	return NULL;
}

/* Who waits for the lock that long was called from inside what holds it. */
static bool lock_kinds(unsigned long *flags)
{
	u32 i;

	for (i = 0; i < KIND_LOCK_TRIES; i++) {
		if (raw_spin_trylock_irqsave(&usc.lock, *flags))
			return true;
		cpu_relax();
	}
	return false;
}

/* The number of a name, from 0; which is given to it here where it has none. */
static int kind_number(const char *name, u32 bytes, u32 *number)
{
	u32 hash = jhash(name, bytes, 0);
	unsigned long flags;
	struct usc_kind *kind;

	if (find_kind(name, bytes, hash, 0, number))
		return 0;
	if (*number == USC_KIND_SLOTS) {
		count_lost(USC_LOSS_LOG_KINDS_FULL);
		return -ENOSPC;
	}
	if (!lock_kinds(&flags)) {
		count_lost(USC_LOSS_RECURSION);
		return -EBUSY;
	}
	/* Another processor may have been faster. */
	if (!find_kind(name, bytes, hash, *number, number) && *number < USC_KIND_SLOTS) {
		kind = &usc.kinds[*number];
		kind->hash = hash;
		kind->bytes = bytes;
		memcpy(kind->name, name, bytes);
		smp_store_release(&usc.kind_count, *number + 1);
	}
	raw_spin_unlock_irqrestore(&usc.lock, flags);
	if (*number < USC_KIND_SLOTS)
		return 0;
	count_lost(USC_LOSS_LOG_KINDS_FULL);
	return -ENOSPC;
}

/* Two processors at once may both tell it. */
static int tell_kind(u32 number)
{
	struct usc_kind *kind = &usc.kinds[number];
	struct {
		struct usc_log_kind head;
		char name[USC_KIND_NAME_BYTES];
	} record = {};

	if (READ_ONCE(kind->told))
		return 0;
	record.head.kind = USC_KIND_NAMED | (number + 1);
	record.head.name_bytes = kind->bytes;
	memcpy(record.name, kind->name, kind->bytes);
	if (usc_log_send(&record.head.head, USC_RECORD_LOG_KIND, sizeof(record.head) + ALIGN(kind->bytes, 8), 0)) {
		count_lost(USC_LOSS_RING_FULL_EVENT); /* it is not logged without its name */
		return -ENOSPC;
	}
	WRITE_ONCE(kind->told, true);
	return 0;
}

static int named_kind(const char *name, u32 bytes, u32 *kind)
{
	u32 number;
	int error;

	if (!usc_is_traced(current))
		return -ENOENT;
	error = kind_number(name, bytes, &number);
	if (error)
		return error;
	*kind = USC_KIND_NAMED | (number + 1);
	return tell_kind(number);
}

static noinline int log_event(u32 kind, const u64 *values, unsigned int count, unsigned int flags, unsigned long caller)
{
	struct {
		struct usc_logged head;
		u32 places[USC_KERNEL_FRAMES];
	} record = {};
	struct usc_log_task task;
	int error = usc_log_task(&task, flags & USC_LOG_USER_STACK);

	if (error)
		return error;
	record.head.kind = kind;
	record.head.stack = task.stack;
	record.head.image = task.image;
	record.head.values = count;
	memcpy(record.head.value, values, count * sizeof(*values));
	if (flags & USC_LOG_KERNEL_STACK)
		record.head.places = kernel_places(record.places, task.serial, caller);
	if (usc_log_send(&record.head.head, USC_RECORD_LOGGED,
			 sizeof(record.head) + ALIGN(record.head.places * sizeof(u32), 8), task.serial)) {
		count_lost(USC_LOSS_RING_FULL_EVENT);
		return -ENOSPC;
	}
	return 0;
}

/* The two functions that modules call are one frame, and log_event another: kernel_places leaves both out. */
static __always_inline int begin_event(unsigned int count, unsigned int flags)
{
	int error;

	if (count > USC_LOGGED_VALUES || flags & ~(USC_LOG_USER_STACK | USC_LOG_KERNEL_STACK))
		return -EINVAL;
	error = usc_log_begin();
	if (error == -EOPNOTSUPP)
		usc_log_refused();
	return error;
}

int usc_log_event(u32 kind, const u64 *values, unsigned int count, unsigned int flags)
{
	int error;

	if (kind & USC_KIND_NAMED)
		return -EINVAL;
	error = begin_event(count, flags);
	if (error)
		return error;
	error = log_event(kind, values, count, flags, 0);
	usc_log_end();
	return error;
}
EXPORT_SYMBOL_GPL(usc_log_event);

int usc_log_named(const char *name, const u64 *values, unsigned int count, unsigned int flags)
{
	size_t bytes = strnlen(name, USC_KIND_NAME_BYTES + 1);
	u32 kind = 0;
	int error;

	if (!bytes || bytes > USC_KIND_NAME_BYTES)
		return -EINVAL;
	error = begin_event(count, flags);
	if (error)
		return error;
	error = named_kind(name, bytes, &kind);
	if (!error)
		error = log_event(kind, values, count, flags, (unsigned long)__builtin_return_address(0));
	usc_log_end();
	return error;
}
EXPORT_SYMBOL_GPL(usc_log_named);

bool usc_task_traced(void)
{
	bool traced;

	if (usc_log_begin())
		return false;
	traced = usc_is_traced(current);
	usc_log_end();
	return traced;
}
EXPORT_SYMBOL_GPL(usc_task_traced);
