/* SPDX-License-Identifier: GPL-2.0-or-later OR MIT */
/*
 * Hits of functions of the kernel (functions.c). Ftrace calls these hooks wherever the function is called: in any
 * context, under any lock. So they wait for nothing, take no memory and meet no file, and what core itself calls is
 * left out. Only tracer.c includes this, behind core.
 */
#ifndef USCOPE_KMOD_FUNCTION_HITS_H
#define USCOPE_KMOD_FUNCTION_HITS_H

#include <linux/ftrace.h>
#include <linux/kprobes.h>
#include <linux/stacktrace.h>
#include <linux/trace_recursion.h>

#include "functions.h"

/* Frames between a hook and the function that it is in: ftrace's, and those of other users of it. */
#define HOOK_FRAMES 16

#define INSIDE_FUNCTION(call)                                                                                          \
	do {                                                                                                           \
		bool before_function_ = __this_cpu_read(usc_anywhere);                                                 \
                                                                                                                       \
		__this_cpu_write(usc_anywhere, true);                                                                  \
		INSIDE(call);                                                                                          \
		__this_cpu_write(usc_anywhere, before_function_);                                                      \
	} while (0)

static __always_inline const struct usc_probe *probe_at(__u32 number)
{
	return usc_function_probe(number);
}

static __always_inline u16 *open_numbers(struct task_entry *t)
{
	return container_of(t, struct usc_task_node, entry)->open;
}

/* Functions of programs come by BPF only. */
static struct open_slot *open_slot_at(struct task_entry *t, __u32 number, bool make)
{
	u16 *open;

	if (number < OPEN_USER_FUNCTIONS || number >= OPEN_FUNCTIONS)
		return NULL;
	open = &open_numbers(t)[number - OPEN_USER_FUNCTIONS];
	if (!*open && make)
		*open = usc_open_slot_take();
	return usc_open_slot(*open);
}

/* Room for them is taken in advance. */
static __always_inline bool keeps_hits(void)
{
	return true;
}

static void forget_open_functions(struct task_entry *t)
{
	u16 *open = open_numbers(t);
	u32 i;

	for (i = 0; i < OPEN_KERNEL_FUNCTIONS; i++)
		usc_open_slot_give_back(open[i]);
	memset(open, 0, OPEN_KERNEL_FUNCTIONS * sizeof(*open));
}

#include "uscope/core/probes/returns.h"

/* The entry at hand. */
struct function_entry {
	struct task_entry *t;
	struct pt_regs *regs;
	unsigned long ip;
	const struct usc_device_place *place;
	bool was_asked; /* whether it is to return by way of a hook */
};

static DEFINE_PER_CPU(struct function_entry *, entry_at_hand);

/* By DWARF's numbers. Of others ftrace saves nothing. */
static __always_inline void read_entry_registers(const struct function_entry *entry, __u64 *registers)
{
	const struct pt_regs *regs = entry->regs;

	memset(registers, 0, USC_PROBE_REGISTERS * sizeof(*registers));
	USC_READ_ENTRY_REGISTERS(regs, registers);
	registers[USC_PROBE_REGISTERS - 1] = entry->ip;
}

/* From the function itself on: it is where its call of ftrace comes back to. */
static noinline void take_kernel_frames(struct hit_room *hit, unsigned long ip)
{
	unsigned long addresses[HOOK_FRAMES + USC_KERNEL_FRAMES];
	u32 count = stack_trace_save(addresses, ARRAY_SIZE(addresses), 0), first = 0, i;

	while (first < count && addresses[first] != ip + MCOUNT_INSN_SIZE)
		first++;
	for (i = 0; i < USC_KERNEL_FRAMES && first + i < count; i++)
		hit->frames[i] = addresses[first + i];
	note_frames(hit, i * sizeof(hit->frames[0]));
}

/* What is known of a hit at a function's entry. NULL: there is no room. */
static struct hit_room *begin_function(const struct function_entry *entry, const struct usc_probe *probe)
{
	struct hit_room *hit = begin_hit(entry->t);
	struct probe_room *room;

	if (!hit)
		return NULL;
	room = probe_room_at(current_cpu() * HIT_LEVELS + hit->level);
	room->record = 0;
	room->in_kernel = 1;
	if (is_asked_for(USC_QUERY_OF_ARGS))
		read_entry_registers(entry, room->registers);
	take_probe(hit, room, probe, entry->t);
	if (wants_frames())
		take_kernel_frames(hit, entry->ip);
	return hit;
}

static void hit_function(const struct function_entry *entry, const struct usc_probe *probe)
{
	struct hit_room *hit = begin_function(entry, probe);

	if (!hit)
		return;
	send_hit(hit, entry->t);
	end_hit(hit);
}

/* Called by the kernel's hook of returns from inside usc_function_hook_return. Not 0: this call is not hooked. One of
 * which core could keep nothing is: core waits for its return, too. */
int usc_function_kept(struct kretprobe_instance *instance, struct pt_regs *regs)
{
	struct function_entry *entry = __this_cpu_read(entry_at_hand);
	struct hit_room *hit;

	if (!entry)
		return -ENODATA;
	entry->was_asked = true;
	hit = begin_function(entry, probe_at(entry->place->probe));
	if (!hit)
		return -ENOSPC;
	core_function_entered(entry->t, hit, entry->place->probe, 0);
	end_hit(hit);
	memcpy(instance->data, &entry->place->probe, USC_RETURN_BYTES);
	return 0;
}

static void hook_return(struct function_entry *entry)
{
	struct function_entry *before = __this_cpu_read(entry_at_hand);

	entry->was_asked = false;
	__this_cpu_write(entry_at_hand, entry);
	usc_function_hook_return(entry->regs);
	__this_cpu_write(entry_at_hand, before);
	/* The kernel has no room for its return address. */
	if (!entry->was_asked)
		count_loss(cpu_state_of(current_cpu()), USC_LOSS_PROBE_MISSED, entry->t->process);
}

static void take_function(struct function_entry *entry)
{
	const struct usc_device_place *last = usc_function_last();
	const __u64 address = entry->place->address;
	const struct usc_probe *probe;

	for (; entry->place <= last && entry->place->address == address; entry->place++) {
		probe = probe_at(entry->place->probe);
		if (probe->role == USC_PROBE_WITH_RETURN)
			hook_return(entry);
		else
			hit_function(entry, probe);
	}
}

/* With interrupts off, another address space may be there than the current task's: while tasks are switched, or the
 * kernel's code is patched. */
static __always_inline bool has_own_memory(void)
{
	struct mm_struct *mm = current->mm;

	return !mm || !irqs_disabled() || __va(read_cr3_pa()) == mm->pgd;
}

static noinline void meet_function(struct task_entry *t, unsigned long ip, struct ftrace_regs *fregs)
{
	struct function_entry entry = {.t = t, .ip = ip, .regs = usc_entry_regs(fregs)};

	if (in_nmi() || !has_own_memory() || !rcu_is_watching()) {
		usc_log_lost(USC_LOSS_PROBE_MISSED);
		return;
	}
	/* What core calls is not the program's. */
	if (__this_cpu_read(working) & CONTEXT_BIT)
		return;
	entry.place = usc_function_place(ip);
	if (entry.place)
		INSIDE_FUNCTION(take_function(&entry));
}

/* Of the kernel's own threads none is traced, idle ones among them, in which RCU may not watch. */
void notrace usc_function_entered(unsigned long ip, unsigned long parent_ip, struct ftrace_ops *ops,
				  struct ftrace_regs *fregs)
{
	struct task_entry *t;
	int bit;

	if (current->flags & PF_KTHREAD)
		return;
	bit = ftrace_test_recursion_trylock(ip, parent_ip);
	if (bit < 0)
		return;
	t = entry_to_hit(current);
	if (unlikely(t))
		meet_function(t, ip, fregs);
	ftrace_test_recursion_unlock(bit);
}

/* Its own calls are left out at the entry, so this one is not core's. */
int usc_function_returned(struct kretprobe_instance *instance, struct pt_regs *regs)
{
	struct task_entry *t;
	u32 number;

	memcpy(&number, instance->data, sizeof(number));
	preempt_disable_notrace();
	t = traced_entry(current);
	if (t && probe_at(number))
		INSIDE_FUNCTION(core_function_returned(t, number, probe_at(number), 0, regs_return_value(regs), true));
	preempt_enable_notrace();
	return 0;
}

#endif
