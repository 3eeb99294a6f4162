/* SPDX-License-Identifier: GPL-2.0-or-later OR MIT */
/* kernel_symbols.c: places in the kernel, by module and function. */
#ifndef USCOPE_KMOD_KERNEL_SYMBOLS_H
#define USCOPE_KMOD_KERNEL_SYMBOLS_H

#include <linux/types.h>

struct module;

void usc_find_kernel_text(void); /* once, before anybody logs */
/* The module that holds an address, NULL = none. Under preempt_disable, which keeps modules where they are. */
const struct module *usc_module_of(unsigned long address);
/* Is it that by which the kernel calls probes? Asked of what comes before the first place that is not. */
bool usc_is_plumbing(unsigned long address);
/*
 * Returns the number under which events refer to this address, announcing it on first use with `task` as the record's
 * task; 0 if it has no name, or the announcement was lost (counted).
 */
u32 usc_place_number(unsigned long address, u32 task);

#endif
