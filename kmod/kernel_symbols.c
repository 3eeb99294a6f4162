// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
/*
 * Places in the kernel, for log.c: announced as module and offset, each once, and events refer to them by number: no
 * kernel address leaves. Where the core kernel's text begins is found by asking for symbols downwards from a known one,
 * in the steps by which the kernel is placed; where a module's does, in the list of modules.
 */
#include <linux/hash.h>
#include <linux/kallsyms.h>
#include <linux/module.h>
#include <linux/rculist.h>
#include <linux/string.h>

#include "uscope/arch/arch.h"
#include "compat.h"
#include "kernel_symbols.h"
#include "session.h"
#include "tracer.h"

#define PROBED_PLACES 8
#define PLACE_BYTES (MODULE_NAME_LEN + KSYM_SYMBOL_LEN + 32)
#define KERNEL_STEPS_MAX 512 /* 1 GiB, as much as there is for it */

static unsigned long kernel_text; /* 0 = not found: no frame of the core kernel has a name then */

static bool has_symbol(unsigned long address)
{
	char text[KSYM_SYMBOL_LEN];

	/* Else the address itself comes back: 0x…. */
	return sprint_symbol(text, address) && text[0] != '0';
}

void usc_find_kernel_text(void)
{
	unsigned long address = (unsigned long)&sprint_symbol & ~(USC_KERNEL_TEXT_ALIGNMENT - 1);
	u32 i;

	if (!has_symbol((unsigned long)&sprint_symbol))
		return;
	/* In the step of the known symbol the text may begin; below the text nothing has a name. */
	for (i = 0; i < KERNEL_STEPS_MAX && has_symbol(address); i++) {
		kernel_text = address;
		address -= USC_KERNEL_TEXT_ALIGNMENT;
	}
}

/* The module that holds an address, 0 = none. Under preempt_disable, which keeps modules where they are. */
const struct module *usc_module_of(unsigned long address)
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
		module = usc_module_of(address);
		if (!module) /* made at run time: trampolines, BPF programs */
			return scnprintf(text, room, "? %s", symbol);
		name = module->name;
		base = usc_module_text(module);
	}
	if (!base || address < base)
		return 0;
	return scnprintf(text, room, "%s+0x%lx %s", name, address - base, symbol);
}

static struct usc_place *place_slot(unsigned long address, u32 number)
{
	return &usc.places[(hash_long(address, 32) + number) % USC_PLACE_SLOTS];
}

/* NULL = not known. A slot is one address's for good, which is written last. */
static const struct usc_place *known_place(unsigned long address)
{
	u32 i;

	for (i = 0; i < PROBED_PLACES; i++) {
		struct usc_place *slot = place_slot(address, i);

		if (smp_load_acquire(&slot->address) == address)
			return slot;
	}
	return NULL;
}

static void keep_place(unsigned long address, u32 place, u32 plumbing)
{
	unsigned long flags;
	u32 i;

	if (!raw_spin_trylock_irqsave(&usc.lock, flags))
		return; /* announced again then, under another number */
	for (i = 0; i < PROBED_PLACES; i++) {
		struct usc_place *slot = place_slot(address, i);

		if (!slot->address || slot->address == address) {
			slot->place = place;
			slot->plumbing = plumbing;
			smp_store_release(&slot->address, address);
			break;
		}
	}
	raw_spin_unlock_irqrestore(&usc.lock, flags);
}

/*
 * What stands between a probe's module and the place that it probes: of kprobes and kretprobes (by ftrace, by a
 * breakpoint, optimised), tracepoints, user-space marks and the profiling clock. Trampolines made at run time have no
 * name.
 */
static bool is_plumbing_name(const char *symbol)
{
	static const char *const names[] = {
		"uprobe_notify_resume",
		"handle_swbp",
		"handler_chain",
		"__perf_event_overflow",
		"perf_event_overflow",
		"perf_swevent_hrtimer",
		"aggr_pre_handler",
		"opt_pre_handler",
		"kprobe_ftrace_handler",
		"optimized_callback",
		"ftrace_call",
		"ftrace_regs_call",
		"ftrace_caller",
		"ftrace_regs_caller",
		"ftrace_ops_assist_func",
		"ftrace_ops_list_func",
		"arch_ftrace_ops_list_func",
		"__kretprobe_trampoline",
		"trampoline_handler",
		"kretprobe_trampoline",
		"__kretprobe_trampoline_handler",
		"arch_rethook_trampoline",
		"rethook_trampoline_handler",
		"arch_rethook_trampoline_callback",
		"kretprobe_rethook_handler",
	};
	size_t bytes = strcspn(symbol, "+");
	u32 i;

	if (!strncmp(symbol, "__traceiter_", strlen("__traceiter_")))
		return true;
	for (i = 0; i < ARRAY_SIZE(names); i++)
		if (bytes == strlen(names[i]) && !memcmp(symbol, names[i], bytes))
			return true;
	return false;
}

static bool looks_like_plumbing(unsigned long address)
{
	char symbol[KSYM_SYMBOL_LEN];

	if (!sprint_symbol(symbol, address))
		return false;
	if (symbol[0] == '0')
		return address >= MODULES_VADDR && !usc_module_of(address);
	return is_plumbing_name(symbol);
}

static u32 announce_place(unsigned long address, u32 task)
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
		usc_log_lost(USC_LOSS_RING_FULL_RECORD);
		return 0;
	}
	keep_place(address, record.head.place, looks_like_plumbing(address));
	return record.head.place;
}

bool usc_is_plumbing(unsigned long address)
{
	const struct usc_place *known = known_place(address);

	if (known)
		return known->plumbing;
	if (!looks_like_plumbing(address))
		return false;
	keep_place(address, 0, 1);
	return true;
}

u32 usc_place_number(unsigned long address, u32 task)
{
	const struct usc_place *known = known_place(address);

	return known && known->place ? known->place : announce_place(address, task);
}
