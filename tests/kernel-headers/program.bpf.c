// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
/* The contract as BPF: compiled, never loaded. */
#include <linux/bpf.h>
#include <linux/types.h>
#include <bpf/bpf_helpers.h>

static __always_inline int check_read_user(__u64 *value, __u64 address)
{
	return bpf_probe_read_user(value, sizeof(*value), (const void *)address);
}

#include "contract.h"

char LICENSE[] SEC("license") = "Dual MIT/GPL";

struct check_tables check_tables;
struct usc_frame check_frame;
struct usc_file_rows check_file;
struct usc_scope check_scope;

SEC("raw_tp/sys_enter")
int check(void *context)
{
	(void)context;
	return check_step(&check_tables, &check_frame, &check_file, &check_scope) +
	       check_step(&check_tables, &check_frame, 0, &check_scope);
}
