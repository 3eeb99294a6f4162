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

#define INTERRUPT_RANGES 3 /* of the kernel's code, at most, that says: an interrupt is served */

#define FUNCTION_CELL_BYTES 16 /* kernels are compiled so that functions begin at multiples of it */

/* Of two cells: an array's values are padded to 8 bytes. */
struct function_pair {
	__u32 number[2];
};

#define MAPPING_REQUEST_MOST 256

/* Asks for executable mappings of a process to be told. */
struct mapping_request {
	struct address_range ranges[2];	       /* they hold all its executable memory */
	__u64 addresses[MAPPING_REQUEST_MOST]; /* an address in each mapping; 0: there is none, or it has been told */
	__u64 key;			       /* under which those told so far are remembered; 0: none is */
	__u32 left;			       /* how many addresses are not 0 */
	__u32 is_last;			       /* when these are told, all of the process are */
	__u32 at_once;			       /* also if what is told cannot be remembered now */
	__u32 seen;			       /* out: the process is traced, and runs */
	__u32 changed;			       /* out: mappings have changed, and those told so far are forgotten */
};

/* Key of the target's names; zeroes behind the name. */
struct app_name {
	char name[USC_APP_NAME_BYTES];
};

#endif
