// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
/*
 * One ring for each processor, written on it with interrupts off, read by the collector through its mapping. A record
 * is there as soon as `head` has moved behind it; one that finds no room is not there at all.
 */
#include <linux/sched.h>
#include <linux/vmalloc.h>

#include "ring.h"
#include "session.h"

#define WORDWISE_BYTES 256u

static u64 used_bytes(const struct usc_ring *ring)
{
	u64 used = ring->head - READ_ONCE(ring->control->tail);

	/* The reader's word is not trusted: a tail before the ring's data or behind its head is a full ring. */
	return min_t(u64, used, usc.ring_bytes);
}

/* Most records are small, and all are whole words: less than a call of memcpy and its `rep movsb`. */
static __always_inline void copy_words(u64 *to, const u64 *from, u32 bytes)
{
	for (; bytes; bytes -= sizeof(*to)) {
		*to++ = *from++;
		barrier(); /* or the compiler makes memcpy of it */
	}
}

int usc_ring_write(struct usc_cpu *cpu, const void *record, u32 bytes)
{
	struct usc_ring *ring = &cpu->ring;
	u32 at, first;
	unsigned long flags;
	int error = -ENOSPC;

	local_irq_save(flags);
	/* Read before any byte of the room that it gives is written over: no store comes before this branch. */
	if (likely(bytes <= usc.ring_bytes - used_bytes(ring))) {
		at = ring->head & (usc.ring_bytes - 1);
		first = min(bytes, usc.ring_bytes - at);
		if (likely(first <= WORDWISE_BYTES))
			copy_words((u64 *)(ring->data + at), record, first);
		else
			memcpy(ring->data + at, record, first);
		if (unlikely(first < bytes))
			memcpy(ring->data, record + first, bytes - first);
		ring->head += bytes;
		smp_store_release(&ring->control->head, ring->head);
		error = 0;
	}
	local_irq_restore(flags);
	return error;
}

bool usc_ring_half_full(const struct usc_cpu *cpu)
{
	return used_bytes(&cpu->ring) > usc.ring_bytes / 2;
}

static void wake_readers(struct irq_work *work)
{
	wake_up_interruptible(&usc.readers);
}

/*
 * The collector looks at the rings by itself at least every 40 ms; this is for what must not wait so long. Once until
 * it has read: the interrupt calls functions, whose hits may find a full ring, and would bring the next interrupt.
 */
void usc_ring_wake(struct usc_cpu *cpu)
{
	if (atomic_inc_return(&usc.urgent) == 1)
		irq_work_queue(&cpu->wake);
}

int usc_ring_open(struct usc_cpu *cpu, u32 bytes)
{
	struct usc_ring *ring = &cpu->ring;

	init_irq_work(&cpu->wake, wake_readers);
	ring->region = vmalloc_user(PAGE_SIZE + bytes);
	if (!ring->region)
		return -ENOMEM;
	ring->control = ring->region;
	ring->data = ring->region + PAGE_SIZE;
	return 0;
}

void usc_ring_close(struct usc_cpu *cpu)
{
	if (!cpu->ring.region)
		return;
	irq_work_sync(&cpu->wake);
	vfree(cpu->ring.region);
	cpu->ring.region = NULL;
}
