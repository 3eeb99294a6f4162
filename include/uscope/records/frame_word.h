/* SPDX-License-Identifier: GPL-2.0-or-later OR MIT */
/*
 * A frame of a stack in one word of 64 bits, and the only place where such a word is put together or taken apart.
 *
 *   63 62   kind: enum usc_frame_kind
 *   61      exact: the place is that of the interrupted instruction (innermost frame, unless the task is in a system call; or
 *           across a signal frame). Otherwise it is a return address, or that behind a system call's instruction: the call is before it
 *   60 … 0  the place, by kind:
 *           in a file    25 bits of file serial, 36 bits of offset in the file
 *           in memory    the lower 61 bits of the address, whose upper bits are as bit 60
 *           in code      14 bits of zeroes, 27 bits of code serial, 20 bits of position (LAST_POSITION: not known): code of a
 *                        language's virtual machine, which no file or address names. No version writes it yet
 */
#ifndef USCOPE_FRAME_WORD_H
#define USCOPE_FRAME_WORD_H

#include "uscope/base/base.h"

enum usc_frame_kind {
	USC_FRAME_IN_FILE,
	USC_FRAME_IN_MEMORY, /* without a file (JIT); or no code at all, where a bad pointer was called */
	USC_FRAME_IN_CODE,
};

#define USC_FRAME_EXACT (1ull << 61)
#define USC_FRAME_KIND_SHIFT 62
#define USC_FRAME_OFFSET_BITS 36
#define USC_FRAME_FILE_BITS 25
#define USC_FRAME_ADDRESS_BITS 61
#define USC_FRAME_POSITION_BITS 20
#define USC_FRAME_CODE_BITS 27

#define USC_FRAME_FILES (1u << USC_FRAME_FILE_BITS) /* file serials are below */
#define USC_FRAME_LAST_POSITION ((1u << USC_FRAME_POSITION_BITS) - 1)

USC_INLINE __u64 usc_frame_in_memory(__u64 address, __u32 exact)
{
	return (__u64)USC_FRAME_IN_MEMORY << USC_FRAME_KIND_SHIFT | (exact ? USC_FRAME_EXACT : 0) |
	       (address & ((1ull << USC_FRAME_ADDRESS_BITS) - 1));
}

/*
 * `offset` of a file that is mapped so that this place is at `address`. The word of a place beyond what it has room for, which
 * devices have, is that of the memory.
 */
USC_INLINE __u64 usc_frame_in_file(__u32 file, __u64 offset, __u64 address, __u32 exact)
{
	if (offset >> USC_FRAME_OFFSET_BITS || file >= USC_FRAME_FILES)
		return usc_frame_in_memory(address, exact);
	return (exact ? USC_FRAME_EXACT : 0) | (__u64)file << USC_FRAME_OFFSET_BITS | offset;
}

USC_INLINE __u64 usc_frame_in_code(__u32 code, __u32 position, __u32 exact)
{
	return (__u64)USC_FRAME_IN_CODE << USC_FRAME_KIND_SHIFT | (exact ? USC_FRAME_EXACT : 0) |
	       (__u64)(code & ((1u << USC_FRAME_CODE_BITS) - 1)) << USC_FRAME_POSITION_BITS |
	       (position < USC_FRAME_LAST_POSITION ? position : USC_FRAME_LAST_POSITION);
}

USC_INLINE __u32 usc_frame_kind(__u64 frame)
{
	return frame >> USC_FRAME_KIND_SHIFT;
}

USC_INLINE __u32 usc_frame_is_exact(__u64 frame)
{
	return (frame & USC_FRAME_EXACT) != 0;
}

/* The serial of a frame's file; 0 (USC_FILE_NONE) of one that is in none. */
USC_INLINE __u32 usc_frame_file(__u64 frame)
{
	if (usc_frame_kind(frame) != USC_FRAME_IN_FILE)
		return 0;
	return frame >> USC_FRAME_OFFSET_BITS & (USC_FRAME_FILES - 1);
}

/* Of a frame in a file, the offset there; of one in memory, the address. */
USC_INLINE __u64 usc_frame_place(__u64 frame)
{
	if (usc_frame_kind(frame) != USC_FRAME_IN_FILE)
		return (__u64)((__s64)(frame << (64 - USC_FRAME_ADDRESS_BITS)) >> (64 - USC_FRAME_ADDRESS_BITS));
	return frame & ((1ull << USC_FRAME_OFFSET_BITS) - 1);
}

USC_INLINE __u32 usc_frame_code(__u64 frame)
{
	return frame >> USC_FRAME_POSITION_BITS & ((1u << USC_FRAME_CODE_BITS) - 1);
}

USC_INLINE __u32 usc_frame_position(__u64 frame)
{
	return frame & USC_FRAME_LAST_POSITION;
}

#endif
