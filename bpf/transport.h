/* SPDX-License-Identifier: GPL-2.0-or-later OR MIT */
/*
 * The way out: one ring for each processor. Every attempt takes a sequence number, so that a record that found no room
 * leaves a gap, and is counted by cause.
 */
#ifndef USCOPE_BPF_TRANSPORT_H
#define USCOPE_BPF_TRANSPORT_H

#include "storage.h"

static __always_inline bool ring_is_half_full(__u32 cpu_number)
{
	void *ring = bpf_map_lookup_elem(&rings, &cpu_number);

	return !ring || bpf_ringbuf_query(ring, BPF_RB_AVAIL_DATA) > bpf_ringbuf_query(ring, BPF_RB_RING_SIZE) / 2;
}

/* Sends a finished record of variable length; its head is filled here. 0, or not 0 where it was lost. */
static __always_inline int send_record(struct usc_record *head, __u16 type, __u32 bytes, __u32 task, __u64 now,
				       bool urgent)
{
	__u32 cpu_number = bpf_get_smp_processor_id();
	struct cpu_state *cpu = cpu_state_of(cpu_number);
	void *ring = bpf_map_lookup_elem(&rings, &cpu_number);

	if (!cpu || !ring)
		return -1;
	fill_head(head, cpu, cpu_number, type, bytes, task, now);
	/* The collector looks at the rings by itself at least every 40 ms; only what is urgent wakes it. */
	return bpf_ringbuf_output(ring, head, bytes, urgent ? BPF_RB_FORCE_WAKEUP : BPF_RB_NO_WAKEUP);
}

static __always_inline struct usc_event *reserve_event(__u32 cpu_number)
{
	void *ring = bpf_map_lookup_elem(&rings, &cpu_number);

	return ring ? bpf_ringbuf_reserve(ring, sizeof(struct usc_event), 0) : 0;
}

static __always_inline int submit_event(__u32 cpu_number, struct usc_event *event)
{
	bpf_ringbuf_submit(event, BPF_RB_NO_WAKEUP);
	return 0;
}

USC_SUBPROGRAM int add_process_loss(__u32 cause, __u32 process)
{
	struct usc_loss_key key = {.process = process, .cause = cause};
	__u64 one = 1, *count;

	count = bpf_map_lookup_elem(&loss_by_process, &key);
	if (count)
		__sync_fetch_and_add(count, 1);
	else
		bpf_map_update_elem(&loss_by_process, &key, &one, BPF_NOEXIST);
	return 0;
}

static __always_inline void count_process_loss(__u32 cause, __u32 process)
{
	add_process_loss(cause, process);
}

#endif
