/* SPDX-License-Identifier: GPL-2.0-or-later OR MIT */
/* Which fcntl and ioctl calls change what descriptors stand for, or whether exec closes them; and how much their commands take. */
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

/* Bytes of the structure that a command of fcntl takes or writes; 0: it has none. */
USC_INLINE __u32 usc_fcntl_structure(__u32 command)
{
	if (usc_fcntl_takes_lock(command))
		return 32;
	switch (command) {
	case 15: /* F_SETOWN_EX, F_GETOWN_EX, F_GETOWNER_UIDS */
	case 16:
	case 17:
	case 1035: /* F_GET_RW_HINT, F_SET_RW_HINT, F_GET_FILE_RW_HINT, F_SET_FILE_RW_HINT */
	case 1036:
	case 1037:
	case 1038:
	case 1039: /* F_GETDELEG, F_SETDELEG */
	case 1040:
		return 8;
	default:
		return 0;
	}
}

/* Does the kernel write the structure of a command of fcntl? */
USC_INLINE int usc_fcntl_gets(__u32 command)
{
	return command == 5 || command == 36 || command == 16 || command == 17 || command == 1035 || command == 1037 ||
	       command == 1039;
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

/*
 * Bytes of what a command of a device takes or writes, in 64 bits: newer commands say so by their number (linux/ioctl.h). Of the older
 * ones, those of asm-generic/ioctls.h for terminals, and of linux/sockios.h for interfaces. 0: nothing, or it is not known.
 */
USC_INLINE __u32 usc_ioctl_bytes(__u32 request)
{
	if (request >> 30)
		return request >> 16 & 0x3fff;
	if (request >= 0x8913 && request <= 0x8948) /* struct ifreq */
		return 40;
	if (request >= 0x5401 && request <= 0x5404) /* struct termios: TCGETS, TCSETS, TCSETSW, TCSETSF */
		return 36;
	if (request == 0x5413 || request == 0x5414) /* struct winsize: TIOCGWINSZ, TIOCSWINSZ */
		return 8;
	/* TIOCGPGRP, TIOCSPGRP, TIOCOUTQ, TIOCMGET to TIOCMSET, FIONREAD, FIONBIO, TIOCGSID, FIOASYNC */
	if ((request >= 0x540f && request <= 0x5418) || request == 0x541b || request == 0x5421 || request == 0x5429 ||
	    request == 0x5452)
		return 4;
	return 0;
}

/* Does the kernel write it? Of interfaces it does, too, but for SIOCSIF…: what it has not changed is what was passed. */
USC_INLINE int usc_ioctl_gets(__u32 request)
{
	if (request >> 30)
		return (int)(request >> 31);
	return request == 0x5401 || request == 0x5413 || request == 0x540f || request == 0x5411 || request == 0x5415 ||
	       request == 0x541b || request == 0x5429 || request >> 8 == 0x89;
}

/* Does the program pass it? */
USC_INLINE int usc_ioctl_sets(__u32 request)
{
	if (request >> 30)
		return (int)(request >> 30 & 1);
	return request >> 8 == 0x89 || !usc_ioctl_gets(request);
}

#endif
