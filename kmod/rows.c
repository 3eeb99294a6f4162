// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
/*
 * Unwind tables from user space: copied, then checked against all that include/uscope/rows.h says. Walks would stay in
 * bounds on any table (usc_row_at and the others look); a damaged one is refused so that no stack comes from it. Rules
 * are taken as they are: a step bears any (rows may name rules that no step can follow).
 */
#include <linux/mm.h>
#include <linux/sched/signal.h>
#include <linux/slab.h>
#include <linux/uaccess.h>
#include <linux/vmalloc.h>

#include "rows.h"
#include "session.h"

static int check_rows(const struct usc_table *t)
{
	const struct usc_row *rows = t->rows;
	u32 i;

	if (rows[0].offset != t->text_start || t->text_start % USC_INDEX_BYTES || t->text_end < t->text_start)
		return -EINVAL;
	if (rows[t->row_count - 1].offset != t->text_end || rows[t->row_count - 1].rule != USC_RULE_NONE)
		return -EINVAL;
	for (i = 0; i < t->row_count; i++) {
		if (i && rows[i].offset <= rows[i - 1].offset)
			return -EINVAL;
		if (USC_RULE_KIND(rows[i].rule) > USC_RULE_FRAME_POINTER)
			return -EINVAL;
		if (USC_RULE_KIND(rows[i].rule) == USC_RULE_SHARED && USC_RULE_NUMBER(rows[i].rule) >= t->rule_count)
			return -EINVAL;
		if (!(i & 0xffff))
			cond_resched();
	}
	return 0;
}

static int check_index(const struct usc_table *t)
{
	u32 stretches = ((t->text_end - t->text_start) >> USC_INDEX_SHIFT) + 1, i;

	if (t->index_count != stretches + 1 || t->index[stretches] != t->row_count - 1)
		return -EINVAL;
	for (i = 0; i < stretches; i++) {
		u64 offset = t->text_start + (u64)i * USC_INDEX_BYTES;
		u32 row = t->index[i];

		if (row >= t->row_count || t->rows[row].offset > offset)
			return -EINVAL;
		if (row + 1 < t->row_count && t->rows[row + 1].offset <= offset)
			return -EINVAL;
		if (!(i & 0xffff))
			cond_resched();
	}
	return 0;
}

static void *copy_array(u64 address, u64 bytes)
{
	void *copy = __vmalloc(max_t(u64, bytes, 1), GFP_KERNEL_ACCOUNT);

	if (!copy)
		return ERR_PTR(-ENOMEM);
	if (copy_from_user(copy, u64_to_user_ptr(address), bytes)) {
		vfree(copy);
		return ERR_PTR(-EFAULT);
	}
	return copy;
}

/* The number of a table that is free, from 0. */
static u32 free_table(void)
{
	u32 i;

	for (i = 0; i < usc.table_count; i++)
		if (!usc.tables[i].rows)
			return i;
	return usc.table_count;
}

int usc_table_load(struct usc_device_table *request)
{
	u32 number = free_table();
	struct usc_table *t = &usc.tables[number];
	int error;

	if (!request->row_count || request->row_count > USC_DEVICE_ROWS_MAX || !request->index_count ||
	    request->index_count > USC_DEVICE_INDEX_MAX || request->rule_count > USC_DEVICE_RULES_MAX)
		return -EINVAL;
	if (number >= USC_DEVICE_TABLES_MAX || request->row_count > usc.rows_limit - usc.rows_used ||
	    request->index_count > usc.index_limit - usc.index_used ||
	    request->rule_count > usc.rules_limit - usc.rules_used)
		return -ENOSPC;
	*t = (struct usc_table){
		.row_count = request->row_count,
		.index_count = request->index_count,
		.rule_base = usc.rules_used,
		.rule_count = request->rule_count,
		.text_start = request->text_start,
		.text_end = request->text_end,
	};
	t->rows = copy_array(request->rows, (u64)t->row_count * sizeof(*t->rows));
	if (IS_ERR(t->rows)) {
		error = PTR_ERR(t->rows);
		t->rows = NULL;
		return error;
	}
	t->index = copy_array(request->index, (u64)t->index_count * sizeof(*t->index));
	if (IS_ERR(t->index)) {
		error = PTR_ERR(t->index);
		goto free_rows;
	}
	error = check_rows(t);
	if (!error)
		error = check_index(t);
	if (!error && copy_from_user(usc.rules + usc.rules_used, u64_to_user_ptr(request->rules),
				     t->rule_count * sizeof(*usc.rules)))
		error = -EFAULT;
	if (error)
		goto free_index;
	usc.rows_used += t->row_count;
	usc.index_used += t->index_count;
	usc.rules_used += t->rule_count;
	if (number == usc.table_count)
		usc.table_count++;
	request->table = number + 1;
	return 0;
free_index:
	vfree(t->index);
free_rows:
	vfree(t->rows);
	t->rows = NULL;
	return error;
}

int usc_file_publish(const struct usc_device_file *request)
{
	struct usc_file_entry *entry;
	struct usc_table *t;

	if (request->file < USC_FILE_VDSO || request->file >= USC_FRAME_FILES ||
	    request->classes & ~(USC_CLASS_APP | USC_CLASS_EXCLUDED | USC_CLASS_MIXED) ||
	    request->state == USC_FILE_PENDING || request->state >= USC_FILE_STATE_COUNT ||
	    request->table > usc.table_count || (request->state == USC_FILE_READY) != (request->table != 0))
		return -EINVAL;
	entry = &usc.files[usc_file_slot(request->file)];
	if (request->file == USC_FILE_VDSO)
		entry->serial = USC_FILE_VDSO;
	if (entry->serial != request->file)
		return -ENOENT;
	if (entry->state != USC_FILE_PENDING)
		return -EEXIST;
	if (request->table && !usc.tables[request->table - 1].rows)
		return -EINVAL;
	entry->classes = request->classes;
	if (request->table) {
		t = &usc.tables[request->table - 1];
		/* Rows and index are the table's own, numbered from 0; rules are all in one array. */
		entry->rows = (struct usc_file_rows){
			.row_count = t->row_count,
			.rule_base = t->rule_base,
			.rule_count = t->rule_count,
			.text_start = t->text_start,
			.text_end = t->text_end,
		};
		t->files++;
		usc.file_tables[usc_file_slot(request->file)] = t;
	}
	/* Walks on other processors see the state last. */
	smp_store_release(&entry->state, request->state);
	return 0;
}

static void free_rows(struct usc_table *t)
{
	vfree(t->rows);
	vfree(t->index);
	t->rows = NULL;
	t->index = NULL;
}

/* Files that are not there, and the vdso, are passed over. Walks that have begun may look for a file's rows still: they
 * are kept until these have ended. Of a table that is freed, the rules keep their room. */
int usc_files_release(const u32 *serials, u32 count)
{
	struct usc_file_entry *entry;
	struct usc_table *t;
	u32 i, slot;

	for (i = 0; i < count; i++) {
		entry = &usc.files[usc_file_slot(serials[i])];
		if (serials[i] >= USC_FILE_FIRST && entry->serial == serials[i] && entry->state == USC_FILE_READY)
			WRITE_ONCE(entry->state, USC_FILE_USER_ONLY);
	}
	synchronize_rcu();
	for (i = 0; i < count; i++) {
		slot = usc_file_slot(serials[i]);
		entry = &usc.files[slot];
		if (serials[i] < USC_FILE_FIRST || entry->serial != serials[i])
			continue;
		t = usc.file_tables[slot];
		usc.file_tables[slot] = NULL;
		entry->rows = (struct usc_file_rows){};
		entry->classes = 0;
		entry->state = USC_FILE_PENDING;
		/* From here on another file may take the slot. */
		smp_store_release(&entry->serial, 0);
		if (!t || --t->files)
			continue;
		usc.rows_used -= t->row_count;
		usc.index_used -= t->index_count;
		free_rows(t);
	}
	return 0;
}

void usc_tables_free(void)
{
	while (usc.table_count)
		free_rows(&usc.tables[--usc.table_count]);
}
