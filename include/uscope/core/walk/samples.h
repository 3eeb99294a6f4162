/* SPDX-License-Identifier: GPL-2.0-or-later OR MIT */
/*
 * Registers and a bounded copy of the stack, for a walk that user space is to finish or to compare.
 */
#ifndef USCOPE_CORE_SAMPLES_H
#define USCOPE_CORE_SAMPLES_H

#include "uscope/core/walk/walk.h"

struct copy_context {
	struct sample_scratch *room;
};

static long copy_stack_page(__u32 i, struct copy_context *context)
{
	struct sample_scratch *room = context->room;
	struct copy_state *c = &room->copy;
	__u64 address = c->address;
	__u32 bytes = USC_PAGE_BYTES - (address & (USC_PAGE_BYTES - 1));
	__u32 number = address / USC_PAGE_BYTES & (USC_SAMPLE_PAGES - 1);
	__u32 second = c->second != 0;
	__u32 at = c->at;
	__u64 place;
	char *page, *sent;

	if (at > SAMPLE_BYTES - USC_PAGE_BYTES || bytes > USC_PAGE_BYTES || address >= c->end)
		return 1;
	c->address = address + bytes;
	page = room->data + at;
	if (read_user(page, bytes, (void *)address))
		return 0;
	c->pages |= 1ull << (i & 63);
	c->bytes += bytes;
	if (bytes == USC_PAGE_BYTES) {
		place = second * USC_SAMPLE_PAGES + number;
		/* 6.1's verifier knows no bound of an `or`: masked behind the compiler's back. */
		__asm__ volatile("" : "+r"(place));
		sent = room->sent + (place & (2 * USC_SAMPLE_PAGES - 1)) * USC_PAGE_BYTES;
		if (i && room->sent_bits[second] >> number & 1 && same_pages(page, sent)) {
			c->same |= 1ull << (i & 63);
			return 0;
		}
		keep_page(sent, page);
		c->sent[second] |= 1ull << number;
		room->sent_bits[second] |= 1ull << number;
	}
	c->at = at + bytes;
	return 0;
}

/*
 * Of a task whose stack is copied from `sp` up to `high`: where the stack goes on, if it is that of a signal's handler which has
 * interrupted code on another one; else 0. Such a stack is the task's alternate one. In a handler that has asked for it
 * (SS_AUTODISARM), the kernel knows of none; but the signal is blocked.
 */
USC_SUBPROGRAM __u64 interrupted_stack(__u64 sp, __u64 high)
{
	struct context_search search = {
		.from = (sp + CONTEXT_STEP - 1) & ~(CONTEXT_STEP - 1ull), .low = sp, .high = high};
	struct task_struct *task = this_task();
	__u64 bottom = TASK_FIELD(task, sas_ss_sp), bytes = TASK_FIELD(task, sas_ss_size);

	if (bytes ? sp - bottom >= bytes : !TASK_FIELD(task, blocked.sig[0]))
		return 0;
	if (bytes && bottom + bytes - search.from > CONTEXT_SEARCH_BYTES)
		search.from = (bottom + bytes - CONTEXT_SEARCH_BYTES) & ~(CONTEXT_STEP - 1ull);
	usc_loop(CONTEXT_SEARCH_BYTES / CONTEXT_STEP, find_context, &search);
	return search.sp;
}

static long on_stack_vma(struct task_struct *task, struct vm_area_struct *vma, __u64 *end)
{
	*end = vma->vm_end;
	return 0;
}

/*
 * Copies the stack: what can be read of a window from sp on, and the stack's end, where main's callers are; or, of a handler
 * on a stack of its own, of a window from where the stack goes on. The pages of large buffers between are left out; so are
 * those that the collector has from an earlier copy, which of a deep stack are most.
 */
USC_SUBPROGRAM int copy_stack(struct sample_scratch *room, __u64 sp)
{
	struct copy_context context = {.room = room};
	struct usc_sample *sample;
	struct copy_state *copy;
	__u64 end = 0, other, other_end = 0;

	if (!room)
		return 0;
	sample = &room->sample;
	copy = &room->copy;
	__builtin_memset(copy, 0, sizeof(*copy));
	/* Where the mappings are locked, the end is not known. */
	with_vma(sp, on_stack_vma, &end);
	copy->address = sp;
	copy->end = end ? end : sp + 32 * USC_PAGE_BYTES;
	usc_loop(USC_SAMPLE_PAGES, copy_stack_page, &context);
	sample->base = sp;
	sample->pages = copy->pages;
	sample->same = copy->same;
	sample->bytes = copy->bytes;
	sample->end_base = 0;
	sample->end_pages = 0;
	sample->end_same = 0;
	sample->end_bytes = 0;
	other = interrupted_stack(sp, copy->address);
	if (other) {
		with_vma(other, on_stack_vma, &other_end);
		copy->address = other & ~(USC_PAGE_BYTES - 1);
		end = other_end ? other_end : copy->address + USC_SAMPLE_PAGES * USC_PAGE_BYTES;
		copy->end = end;
	}
	if (copy->address < end) {
		if (!other && end - copy->address > USC_SAMPLE_PAGES * USC_PAGE_BYTES)
			copy->address = end - USC_SAMPLE_PAGES * USC_PAGE_BYTES;
		sample->end_base = copy->address;
		copy->second = 1;
		copy->pages = 0;
		copy->same = 0;
		copy->bytes = 0;
		usc_loop(USC_SAMPLE_PAGES, copy_stack_page, &context);
		sample->end_pages = copy->pages;
		sample->end_same = copy->same;
		sample->end_bytes = copy->bytes;
	}
	return copy->at;
}

/*
 * Sends registers and stack of a walk that walk_starts_at() has begun: for user space to finish it (`verify` 0; the id to
 * define comes back), or to compare (`verify` 1; `id` is the stack to compare with). 0 = lost. The record's time is now, not
 * that of the call: a mapping met by the walk itself has been announced by then.
 */
static __noinline __u32 send_sample(struct pt_regs *regs, struct task_entry *t, struct scratch *s, __u32 verify,
				    __u32 id)
{
	struct sample_scratch *room;
	struct usc_sample *sample;
	struct cpu_state *cpu;
	__u32 bytes;

	if (!s || !t)
		return 0;
	cpu = cpu_state_of(s->cpu);
	room = sample_at(s->cpu);
	if (!cpu || !room)
		return 0;
	/* A copy is as large as hundreds of events: none of them may be lost for its sake. */
	if (ring_is_half_full(s->cpu)) {
		refuse_record(cpu, verify ? USC_LOSS_VERIFY_SKIPPED : USC_LOSS_DEFERRED_RING, t->process);
		return 0;
	}
	if (!verify)
		id = next_serial(SERIAL(stack));
	/* No locked instruction is needed, as for enter_scratch(); and what interrupts this copy makes none itself, see
	 * leave_to_collector(). */
	*(volatile __u64 *)&cpu->copying = (__u64)t->serial << 32 | id;
	barrier();
	sample = &room->sample;
	sample->reason = verify ? USC_DEFER_NONE : s->defer;
	read_registers(regs, sample->regs);
	sample->pc = s->start_pc;
	sample->flags = (s->start_behind ? USC_SAMPLE_BEHIND : 0) | (s->no_elf ? USC_SAMPLE_NO_ELF : 0);
	sample->entry_ns = t->entry_ns;
	sample->mm = t->mm;
	sample->exe_file = t->exe_file;
	sample->verify = verify;
	sample->stack = id;
	bytes = (copy_stack(room, sample->regs[USC_REG_SP]) + 7) & ~7u;
	if (bytes > SAMPLE_BYTES ||
	    send_record(&sample->head, USC_RECORD_SAMPLE, sizeof(*sample) + bytes, t->serial, now_ns(), !verify)) {
		room->sent_bits[0] &= ~room->copy.sent[0];
		room->sent_bits[1] &= ~room->copy.sent[1];
		count_loss(cpu, verify ? USC_LOSS_VERIFY_SKIPPED : USC_LOSS_DEFERRED_RING, t->process);
		id = 0;
	}
	barrier();
	*(volatile __u64 *)&cpu->copying = 0;
	return id;
}

#endif
