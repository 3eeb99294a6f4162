/* SPDX-License-Identifier: GPL-2.0-or-later OR MIT */
/*
 * Registers and a bounded copy of the stack, for a walk that user space is to finish or to compare.
 */
#ifndef USCOPE_CORE_SAMPLES_H
#define USCOPE_CORE_SAMPLES_H

#include "walk.h"

struct copy_context {
	struct sample_scratch *room;
	__u64 address; /* of the next page; the first one from rsp on */
	__u64 end;     /* of the stack */
	__u64 pages;   /* bits of the pages that were copied */
	__u32 at;      /* where in the room the next page goes */
	__u32 limit;
	__u32 strict; /* stop at a page that cannot be read */
};

static long copy_stack_page(__u32 i, struct copy_context *c)
{
	__u32 bytes = PAGE_BYTES - (c->address & (PAGE_BYTES - 1));
	__u32 at = c->at;

	if (at > c->limit - PAGE_BYTES || at > USC_SAMPLE_BYTES + USC_SAMPLE_END_BYTES - PAGE_BYTES ||
	    bytes > PAGE_BYTES || c->address >= c->end)
		return 1;
	if (!read_user(c->room->data + at, bytes, (void *)c->address)) {
		c->at = at + bytes;
		c->pages |= 1ull << (i & 63);
	} else if (c->strict) {
		return 1;
	}
	c->address += bytes;
	return 0;
}

static long on_stack_vma(struct task_struct *task, struct vm_area_struct *vma, __u64 *end)
{
	*end = vma->vm_end;
	return 0;
}

/*
 * Copies the stack: what can be read of a window from rsp on, and the stack's end, where main's callers are. The pages
 * of large buffers between are left out.
 */
static __noinline int copy_stack(struct sample_scratch *room, __u64 rsp)
{
	struct copy_context copy = {.room = room, .address = rsp, .limit = USC_SAMPLE_BYTES};
	struct usc_sample *sample;
	__u64 end = 0;

	if (!room)
		return 0;
	sample = &room->sample;
	/* Where the mappings are locked, the end is not known. */
	with_vma(rsp, on_stack_vma, &end);
	copy.end = end ? end : rsp + 32 * PAGE_BYTES;
	usc_loop(64, copy_stack_page, &copy);
	sample->base = rsp;
	sample->pages = copy.pages;
	sample->bytes = copy.at;
	sample->end_base = 0;
	sample->end_bytes = 0;
	if (copy.address >= end)
		return 0;
	if (end - copy.address > USC_SAMPLE_END_BYTES)
		copy.address = end - USC_SAMPLE_END_BYTES;
	copy.limit = copy.at + USC_SAMPLE_END_BYTES;
	copy.strict = 1;
	sample->end_base = copy.address;
	usc_loop(USC_SAMPLE_END_BYTES / PAGE_BYTES, copy_stack_page, &copy);
	sample->end_bytes = copy.at - sample->bytes;
	return 0;
}

/*
 * Sends registers and stack: for a walk that user space is to finish (`verify` 0; the id to define comes back), or to
 * compare
 * (`verify` 1; `id` is the stack to compare with). 0 = lost. The record's time is now, not that of the call: a mapping
 * met by the walk itself has been told of by then.
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
		count_loss(cpu, verify ? USC_LOSS_VERIFY_SKIPPED : USC_LOSS_DEFERRED_RING, t->process);
		return 0;
	}
	if (__sync_lock_test_and_set(&cpu->sample_busy, 1)) {
		count_loss(cpu, verify ? USC_LOSS_VERIFY_SKIPPED : USC_LOSS_SCRATCH_BUSY, t->process);
		return 0;
	}
	sample = &room->sample;
	walk_begin(s, regs, t);
	__builtin_memcpy(sample->regs, s->frame.regs, sizeof(sample->regs));
	sample->pc = s->frame.pc;
	sample->entry_ns = t->entry_ns;
	sample->mm = t->mm;
	sample->exe_file = t->exe_file;
	sample->verify = verify;
	if (!verify)
		id = next_serial(SERIAL(stack));
	sample->stack = id;
	copy_stack(room, sample->regs[USC_REG_RSP]);
	bytes = (sample->bytes + sample->end_bytes + 7) & ~7u;
	if (bytes > USC_SAMPLE_BYTES + USC_SAMPLE_END_BYTES ||
	    send_record(&sample->head, USC_RECORD_SAMPLE, sizeof(*sample) + bytes, t->serial, now_ns(), !verify)) {
		count_loss(cpu, verify ? USC_LOSS_VERIFY_SKIPPED : USC_LOSS_DEFERRED_RING, t->process);
		id = 0;
	}
	barrier();
	cpu->sample_busy = 0;
	return id;
}

#endif
