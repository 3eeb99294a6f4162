// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
/* Loading and unloading. A loaded module that nobody holds open has no hook in the kernel and no memory but its own. */
#include <linux/module.h>

#include "device.h"
#include "kernel_symbols.h"
#include "tracer.h"

static int __init usc_init(void)
{
	int error = usc_hooks_find();

	usc_find_kernel_text();
	return error ? error : usc_device_register();
}

static void __exit usc_exit(void)
{
	usc_device_unregister();
	rcu_barrier();
}

module_init(usc_init);
module_exit(usc_exit);
MODULE_LICENSE("Dual MIT/GPL");
MODULE_DESCRIPTION("uscope: per-application unified kernel-to-user stack tracer");
MODULE_VERSION(USCOPE_VERSION);
