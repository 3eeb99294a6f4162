/* SPDX-License-Identifier: GPL-2.0-or-later OR MIT */
/* Which fcntl and ioctl calls change what descriptors stand for, or whether exec closes them. */
#ifndef USCOPE_DESCRIPTOR_CALLS_H
#define USCOPE_DESCRIPTOR_CALLS_H

#include "record.h"

/* By the command, of asm-generic/fcntl.h and linux/fcntl.h: F_DUPFD, F_SETFD, F_DUPFD_CLOEXEC. */
USC_INLINE int usc_fcntl_changes_descriptors(__u32 command)
{
	return command == 0 || command == 2 || command == 1030;
}

/* F_GETLK, F_SETLK, F_SETLKW, and the same of open file descriptions. */
USC_INLINE int usc_fcntl_takes_lock(__u32 command)
{
	return (command >= 5 && command <= 7) || (command >= 36 && command <= 38);
}

/* By the request: the kernel closes or replaces descriptors in a table: Binder's buffers with descriptors, autofs, and a
 * supervisor's SECCOMP_IOCTL_NOTIF_ADDFD (in another task's table). Compared by kind and number, since sizes differ by
 * version. */
USC_INLINE int usc_ioctl_moves_descriptors(__u32 request)
{
	__u32 kind = request & 0xffff;

	return kind == ('b' << 8 | 1) || kind == (0x93 << 8 | 0x75) || kind == ('!' << 8 | 3);
}

/* The same, or FIONCLEX or FIOCLEX of asm-generic/ioctls.h. */
USC_INLINE int usc_ioctl_changes_descriptors(__u32 request)
{
	return usc_ioctl_moves_descriptors(request) || request == 0x5450 || request == 0x5451;
}

#endif
