// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
/* The contract as kernel code: built against the distribution's kernel headers, never loaded. */
#include <linux/module.h>
#include <linux/slab.h>
#include <linux/uaccess.h>

static inline int check_read_user(__u64 *value, __u64 address)
{
	return copy_from_user_nofault(value, (const void __user *)(unsigned long)address, sizeof(*value)) ? -EFAULT : 0;
}

#include "contract.h"

static int __init check_init(void)
{
	struct check_tables *tables = kzalloc(sizeof(*tables), GFP_KERNEL);
	struct usc_file_rows file = {.row_count = 1};
	struct usc_scope scope = {USC_MODE_ALL_ALL, 64};
	struct usc_frame *frame = kzalloc(sizeof(*frame), GFP_KERNEL);
	int result = -ENOMEM;

	if (tables && frame)
		result = check_step(tables, frame, &file, &scope) + check_step(tables, frame, NULL, &scope);
	kfree(frame);
	kfree(tables);
	return result;
}

module_init(check_init);
MODULE_LICENSE("Dual MIT/GPL");
MODULE_DESCRIPTION("Compile check of the uscope contract headers");
