// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
/* What other modules may call (uscope_log.h). */
#include <linux/export.h>
#include <linux/jhash.h>
#include <linux/module.h>
#include <linux/sched.h>
#include <linux/stacktrace.h>

#include "kernel_symbols.h"
#include "session.h"
#include "tracer.h"
#include "uscope_log.h"

/* `caller`: an address in a module whose own frames are left out where they come first; 0 = none are. */
static __always_inline u32 kernel_places(u32 *places, u32 task, unsigned long caller)
{
	const struct module *module = caller >= MODULES_VADDR ? usc_module_of(caller) : NULL;
	unsigned long addresses[USC_KERNEL_FRAMES];
	u32 count, i, own = 0;

	/* Without log_event, and usc_log_event or usc_log_named. */
	count = stack_trace_save(addresses, ARRAY_SIZE(addresses), 2);
	while (module && own < count && within_module_core(addresses[own], module))
		own++;
	while (module && own < count && usc_is_plumbing(addresses[own]))
		own++;
	for (i = 0; own + i < count; i++)
		places[i] = usc_place_number(addresses[own + i], task);
	return i;
}

#define KIND_LOCK_TRIES 1000

static const struct usc_known_kind *find_kind(const char *name, u32 bytes, u32 hash, u32 from, u32 *number)
{
	u32 count = smp_load_acquire(&usc.kind_count);

	for (*number = from; *number < count; ++*number) {
		const struct usc_known_kind *kind = &usc.kinds[*number];

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
	struct usc_known_kind *kind;

	if (find_kind(name, bytes, hash, 0, number))
		return 0;
	if (*number == USC_KIND_SLOTS) {
		usc_log_lost(USC_LOSS_LOG_KINDS_FULL);
		return -ENOSPC;
	}
	if (!lock_kinds(&flags)) {
		usc_log_lost(USC_LOSS_RECURSION);
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
	usc_log_lost(USC_LOSS_LOG_KINDS_FULL);
	return -ENOSPC;
}

/* Two processors at once may both tell it. */
static int announce_kind(u32 number)
{
	struct usc_known_kind *kind = &usc.kinds[number];
	struct {
		struct usc_log_kind head;
		char name[USC_KIND_NAME_BYTES];
	} record = {};

	if (READ_ONCE(kind->announced))
		return 0;
	record.head.kind = USC_KIND_NAMED | (number + 1);
	record.head.name_bytes = kind->bytes;
	record.head.source = USC_SOURCE_LOGGED;
	memcpy(record.name, kind->name, kind->bytes);
	if (usc_log_send(&record.head.head, USC_RECORD_LOG_KIND, sizeof(record.head) + ALIGN(kind->bytes, 8), 0)) {
		usc_log_lost(USC_LOSS_RING_FULL_LOGGED); /* it is not logged without its name */
		return -ENOSPC;
	}
	WRITE_ONCE(kind->announced, true);
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
	return announce_kind(number);
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
	record.head.source = USC_SOURCE_LOGGED;
	memcpy(record.head.value, values, count * sizeof(*values));
	if (flags & USC_LOG_KERNEL_STACK)
		record.head.places = kernel_places(record.places, task.serial, caller);
	if (usc_log_send(&record.head.head, USC_RECORD_LOGGED,
			 sizeof(record.head) + ALIGN(record.head.places * sizeof(u32), 8), task.serial)) {
		usc_log_lost(USC_LOSS_RING_FULL_LOGGED);
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

int usc_app_frame(u64 *pc, char *text, unsigned int room)
{
	int error;

	if (!room)
		return -EINVAL;
	error = usc_log_begin();
	if (error)
		return error;
	error = usc_log_app_frame(pc, text, room);
	usc_log_end();
	return error;
}
EXPORT_SYMBOL_GPL(usc_app_frame);

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
