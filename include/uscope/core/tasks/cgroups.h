/* SPDX-License-Identifier: GPL-2.0-or-later OR MIT */
/* Control groups: the collector is told of each one that a task of the trace is in, before the task's own record. */
#ifndef USCOPE_CORE_CGROUPS_H
#define USCOPE_CORE_CGROUPS_H

#include "uscope/core/calls/calls.h"

struct met_task {
	struct task_struct *task;
};

/*
 * The number of the task's control group, 0 = none, announced where it has not been lately: slots forget, and then it is
 * announced again. A function of its own for the verifier, which goes through it once.
 */
USC_SUBPROGRAM __u64 announce_cgroup(const struct met_task *met)
{
	__u32 cpu_number = current_cpu(), bytes;
	struct text_scratch *text;
	struct task_struct *task;
	__u64 *slot, number;

	if (!met)
		return 0;
	task = met->task;
	number = cgroup_of(task);
	slot = cgroup_slot_at(spread(number) % CGROUP_SLOTS);
	text = text_at(cpu_number);
	if (!number || !slot || !text || *slot == number)
		return number;
	__builtin_memset(&text->cgroup, 0, sizeof(text->cgroup));
	text->cgroup.cgroup = number;
	bytes = cgroup_components(task, text);
	text->cgroup.path_bytes = bytes;
	bytes = (bytes + 7) & ~7u;
	if (bytes > USC_PATH_BYTES + NAME_BYTES ||
	    send_record(&text->cgroup.head, USC_RECORD_CGROUP, sizeof(text->cgroup) + bytes, 0, now_ns(), false))
		count_loss(cpu_state_of(cpu_number), USC_LOSS_RING_FULL_RECORD, 0);
	else
		*slot = number;
	return number;
}

#endif
