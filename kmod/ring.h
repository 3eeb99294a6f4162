/* SPDX-License-Identifier: GPL-2.0-or-later OR MIT */
/* ring.c: one ring for each processor. Writing, waking and asking: in any context but NMI. */
#ifndef USCOPE_KMOD_RING_H
#define USCOPE_KMOD_RING_H

#include <linux/types.h>

struct usc_cpu;

int usc_ring_write(struct usc_cpu *cpu, const void *record, u32 bytes);
void usc_ring_wake(struct usc_cpu *cpu);
bool usc_ring_half_full(const struct usc_cpu *cpu);
int usc_ring_open(struct usc_cpu *cpu, u32 bytes);
void usc_ring_close(struct usc_cpu *cpu);

#endif
