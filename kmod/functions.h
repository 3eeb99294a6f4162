/* SPDX-License-Identifier: GPL-2.0-or-later OR MIT */
/* functions.c: functions of the kernel that are traced beside system calls; what a hit of one does is tracer.c's. */
#ifndef USCOPE_KMOD_FUNCTIONS_H
#define USCOPE_KMOD_FUNCTIONS_H

#include <linux/types.h>

#include "uscope/device.h"

struct open_slot;
struct pt_regs;

/* Once for a session, before attaching. */
int usc_functions_take(struct usc_device_probes *request);
/* An attach that fails leaves no hook. Detaching, at any time, waits for running hooks. Both may sleep. */
int usc_functions_attach(void);
void usc_functions_detach(void);
void usc_functions_free(void);

/*
 * For hooks. The first place at a function, by the address that ftrace gives; NULL = none. Others with the same address
 * follow it, up to the last one.
 */
const struct usc_device_place *usc_function_place(unsigned long ip);
const struct usc_device_place *usc_function_last(void);
const struct usc_probe *usc_function_probe(u32 number);
/*
 * Room for functions from entry to return, of all tasks together, by number. 0 is none: of it there is NULL, nothing to
 * give back, and it is taken where there is no more.
 */
u16 usc_open_slot_take(void);
void usc_open_slot_give_back(u16 number);
struct open_slot *usc_open_slot(u16 number);
/* Has the function return by way of usc_function_returned, unless usc_function_kept, which is called from here, says
 * that it is not to, or all of the kernel's room for that is taken. */
void usc_function_hook_return(struct pt_regs *regs);

#endif
