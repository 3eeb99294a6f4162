/* SPDX-License-Identifier: GPL-2.0-or-later OR MIT */
/* The search for the rule that holds at a place in a file: by the index to a stretch of text, inside it by bisection.
 */
#ifndef USCOPE_ROW_SEARCH_H
#define USCOPE_ROW_SEARCH_H

#include "rows.h"

/* Supplied by the includer: a row, or an index entry, by its number in the whole table; 0 = could not be read. */
static inline const struct usc_row *usc_row_at(void *tables, __u32 number);
static inline const __u32 *usc_index_at(void *tables, __u32 number);

/* The rule that holds at a file offset. Shared rules come back with rule_base added. USC_RULE_NONE where no row holds. */
USC_INLINE __u32 usc_row_find(void *tables, const struct usc_file_rows *file, __u64 offset)
{
	const struct usc_row *row;
	const __u32 *index;
	__u32 low, high, stretch, i, rule;

	if (offset < file->text_start || offset >= file->text_end || !file->row_count)
		return USC_RULE_NONE;
	stretch = ((__u32)offset - file->text_start) >> USC_INDEX_SHIFT;
	index = usc_index_at(tables, file->index_base + stretch);
	if (!index)
		return USC_RULE_NONE;
	low = *index;
	index = usc_index_at(tables, file->index_base + stretch + 1);
	if (!index)
		return USC_RULE_NONE;
	high = *index;
	/* A damaged index must not lead into another file's rows. */
	if (high >= file->row_count)
		high = file->row_count - 1;
	if (low > high)
		low = high;
	/* The last row in [low, high] whose offset is not above: at most 2^9 + 1 candidates. */
	for (i = 0; i < USC_PAGE_ROWS_LOG2 + 1 && low < high; i++) {
		__u32 middle = low + (high - low + 1) / 2;

		row = usc_row_at(tables, file->row_base + middle);
		if (!row)
			return USC_RULE_NONE;
		if (row->offset <= offset)
			low = middle;
		else
			high = middle - 1;
	}
	row = usc_row_at(tables, file->row_base + low);
	if (!row || row->offset > offset)
		return USC_RULE_NONE;
	rule = row->rule;
	if (USC_RULE_KIND(rule) == USC_RULE_SHARED)
		rule += file->rule_base << 3;
	return rule;
}

#endif
