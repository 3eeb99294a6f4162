/* SPDX-License-Identifier: GPL-2.0-or-later OR MIT */
/*
 * Serials of files. A trace uses each serial once, and may meet any number of files, while tables have room for those that are mapped
 * at one time: a serial is the number of a slot and, above it, of the turn in which the slot has had it. Who wants a serial takes the
 * next number of a counter that all share, and tries the slot of that number (modulo USC_FILE_SLOTS): until the counter comes round,
 * the slot is its own to try. A slot is given back when no process has the file mapped and no walk may look for it any more.
 */
#ifndef USCOPE_FILE_SLOTS_H
#define USCOPE_FILE_SLOTS_H

#include "uscope/control.h"
#include "uscope/records/frame_word.h"

#define USC_FILE_SLOTS 32768u
#define USC_FILE_TURNS (USC_FRAME_FILES / USC_FILE_SLOTS)
#define USC_FILE_TRIES                                                                                                 \
	256 /* slots that are tried for one file: of a table that is full but for one in a hundred, 92 % find one */

USC_INLINE __u32 usc_file_slot(__u32 serial)
{
	return serial % USC_FILE_SLOTS;
}

/* The serial that the slot of this number gives, 0 = it gives none. `entry`: the slot's. */
USC_INLINE __u32 usc_file_take_slot(struct usc_file_entry *entry, __u32 number)
{
	__u32 slot = usc_file_slot(number), turn = entry->turn;

	__u32 serial = turn * USC_FILE_SLOTS + slot;

	/* Many CPUs may have taken the counter round while this one stood still. */
	if (slot < USC_FILE_FIRST || turn >= USC_FILE_TURNS || entry->serial ||
	    __sync_val_compare_and_swap(&entry->serial, 0, serial))
		return 0;
	entry->turn = turn + 1;
	return serial;
}

/* What a slot that is given back holds, whose last file had this serial. */
USC_INLINE struct usc_file_entry usc_file_free_slot(__u32 serial)
{
	struct usc_file_entry entry = {};

	entry.turn = serial / USC_FILE_SLOTS + 1;
	return entry;
}

#endif
