/* SPDX-License-Identifier: GPL-2.0-or-later OR MIT */
/* What the programs and the tracer that drives them share beside include/uscope. */
#ifndef USCOPE_BPF_SHARED_H
#define USCOPE_BPF_SHARED_H

#include "uscope/core/cpu_state.h"

/* Asks for the key of the file that the asking process has mapped at an address. `error`: -EBUSY where another thread of
 * that process held the lock of its mappings. */
struct key_request {
	__u64 address;
	struct usc_file_key key;
	__u32 found;
	__s32 error;
};

/* [start, end) */
struct address_range {
	__u64 start;
	__u64 end;
};

/* Key of the target's names; zeroes behind the name. */
struct app_name {
	char name[USC_APP_NAME_BYTES];
};

#endif
