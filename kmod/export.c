// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
/*
 * What other modules may call (uscope_log.h). Kernel frames are told as function and offset, each place once, and
 * events name it by a number: no kernel address leaves.
 */
#include <linux/export.h>
#include <linux/hash.h>
#include <linux/kallsyms.h>
#include <linux/sched.h>
#include <linux/stacktrace.h>

#include "session.h"
#include "uscope_log.h"

#define PROBED_PLACES 8

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
		char text[KSYM_SYMBOL_LEN];
	} record = {};
	u32 bytes;

	bytes = sprint_symbol(record.text, address);
	if (!bytes || record.text[0] == '0')
		return 0; /* without a name it would be the address */
	record.head.place = __sync_add_and_fetch(&usc.last_place, 1);
	record.head.text_bytes = bytes;
	if (usc_log_send(&record.head.head, USC_RECORD_KERNEL_PLACE, sizeof(record.head) + ALIGN(bytes, 8), task)) {
		count_lost(USC_LOSS_RING_FULL_RECORD);
		return 0;
	}
	keep_place(address, record.head.place);
	return record.head.place;
}

static __always_inline u32 kernel_places(u32 *places, u32 task)
{
	unsigned long addresses[USC_KERNEL_FRAMES];
	u32 count, i;

	/* Without log_event and usc_log_event. */
	count = stack_trace_save(addresses, ARRAY_SIZE(addresses), 2);
	for (i = 0; i < count; i++) {
		places[i] = known_place(addresses[i]);
		if (!places[i])
			places[i] = tell_place(addresses[i], task);
	}
	return count;
}

static noinline int log_event(u32 kind, const u64 *values, unsigned int count, unsigned int flags)
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
		record.head.places = kernel_places(record.places, task.serial);
	if (usc_log_send(&record.head.head, USC_RECORD_LOGGED,
			 sizeof(record.head) + ALIGN(record.head.places * sizeof(u32), 8), task.serial)) {
		count_lost(USC_LOSS_RING_FULL_EVENT);
		return -ENOSPC;
	}
	return 0;
}

int usc_log_event(u32 kind, const u64 *values, unsigned int count, unsigned int flags)
{
	int error;

	if (count > USC_LOGGED_VALUES || flags & ~(USC_LOG_USER_STACK | USC_LOG_KERNEL_STACK))
		return -EINVAL;
	error = usc_log_begin();
	if (error)
		return error;
	error = log_event(kind, values, count, flags);
	usc_log_end();
	return error;
}
EXPORT_SYMBOL_GPL(usc_log_event);

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
