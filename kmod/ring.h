/* SPDX-License-Identifier: GPL-2.0-or-later OR MIT */
/* ring.c: one ring for each processor. Writing, waking and asking: in any context but NMI. */
#ifndef USCOPE_KMOD_RING_H
#define USCOPE_KMOD_RING_H

#include <linux/irqflags.h>
#include <linux/string.h>

#include "session.h"

/*
 * Room for an event, to be filled in place; NULL = none. Interrupts are off until usc_ring_submit: what they write
 * would come into the same place.
 */
static __always_inline struct usc_event *usc_ring_reserve(struct usc_cpu *cpu)
{
	struct usc_ring *ring = &cpu->ring;
	unsigned long flags;
	u32 at;

	local_irq_save(flags);
	/* The reader's word is not trusted: where it is behind `head`, the ring is full. No store into the room comes
	 * before this branch. */
	if (unlikely(ring->head - READ_ONCE(ring->control->tail) > usc.ring_bytes - sizeof(struct usc_event))) {
		local_irq_restore(flags);
		return NULL;
	}
	ring->irq_flags = flags;
	at = ring->head & (usc.ring_bytes - 1);
	return likely(usc.ring_bytes - at >= sizeof(struct usc_event)) ? (struct usc_event *)(ring->data + at)
								       : &cpu->event;
}

static __always_inline void usc_ring_submit(struct usc_cpu *cpu, struct usc_event *event)
{
	struct usc_ring *ring = &cpu->ring;
	u32 first;

	if (unlikely(event == &cpu->event)) {
		first = usc.ring_bytes - (ring->head & (usc.ring_bytes - 1));
		memcpy(ring->data + usc.ring_bytes - first, event, first);
		memcpy(ring->data, (char *)event + first, sizeof(*event) - first);
	}
	ring->head += sizeof(*event);
	smp_store_release(&ring->control->head, ring->head);
	local_irq_restore(ring->irq_flags);
}

int usc_ring_write(struct usc_cpu *cpu, const void *record, u32 bytes);
void usc_ring_wake(struct usc_cpu *cpu);
bool usc_ring_half_full(const struct usc_cpu *cpu);
int usc_ring_open(struct usc_cpu *cpu, u32 bytes);
void usc_ring_close(struct usc_cpu *cpu);

#endif
