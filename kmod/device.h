/* SPDX-License-Identifier: GPL-2.0-or-later OR MIT */
/* device.c: /dev/uscope. */
#ifndef USCOPE_KMOD_DEVICE_H
#define USCOPE_KMOD_DEVICE_H

int usc_device_register(void);
void usc_device_unregister(void);

#endif
