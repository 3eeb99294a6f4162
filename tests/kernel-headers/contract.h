/* SPDX-License-Identifier: GPL-2.0-or-later OR MIT */
/*
 * Every header of include/uscope (all_headers.h is made by check.sh from the folders' lists), and a use of each
 * function in them, so that the compiler sees bodies and not only declarations. The including file supplies
 * check_read_user().
 */
#ifndef USCOPE_CHECK_CONTRACT_H
#define USCOPE_CHECK_CONTRACT_H

#include "all_headers.h"

struct check_tables {
	struct usc_row rows[64];
	__u32 index[8];
	struct usc_rule rules[4];
};

static inline int usc_read_u64(void *memory, __u64 address, __u64 *value)
{
	(void)memory;
	return check_read_user(value, address);
}

static inline const struct usc_rule *usc_rule_at(void *tables, __u32 number)
{
	return number < 4 ? &((struct check_tables *)tables)->rules[number] : 0;
}

static inline const struct usc_row *usc_row_at(void *tables, __u32 number)
{
	return number < 64 ? &((struct check_tables *)tables)->rows[number] : 0;
}

static inline const __u32 *usc_index_at(void *tables, __u32 number)
{
	return number < 8 ? &((struct check_tables *)tables)->index[number] : 0;
}

/* One frame: find its row, ask the scope, step. */
static __attribute__((__noinline__)) int check_step(struct check_tables *tables, struct usc_frame *frame,
						    const struct usc_file_rows *file, const struct usc_scope *scope)
{
	struct usc_scope_state state = USC_SCOPE_START;
	__u32 map = usc_map_exec(USC_TARGET_LAUNCH, USC_FOLLOW_TREE, usc_map_first_event(USC_FOLLOW_TREE, 1, 0), 0);
	struct usc_argument_scan scan = {.language = usc_language_of(0)};
	static const struct usc_query query;
	static const struct usc_event event;
	static struct usc_query_input asked; /* BPF's stack has no room for these */
	static struct usc_query_state given;
	static struct usc_query_row row;
	__u32 at;
	int result;

	usc_query_fill(&asked, &event, 0);
	if (usc_query_check(&query, &at) || usc_query_run(&query, &asked, &given) != USC_QUERY_GIVEN)
		return USC_STEP_ROOT;
	if (!usc_query_same_key(&row.key, &given.key) || usc_query_sums_overflow(&row, &given, query.measures))
		return USC_STEP_ROOT;
	usc_query_add(&row, &given, query.measures);
	if (map != USC_TRACED || usc_scan_argument(&scan, (const char *)tables, 0))
		return USC_STEP_ROOT;
	if (usc_scope_admit(scope, &state, USC_FILE_FIRST, USC_FILE_FIRST, USC_CLASS_APP) & USC_SCOPE_STOP)
		return usc_scope_ended(USC_SCOPE_STOP);
	if (!file)
		return usc_step_frame_pointer(frame, 0);
	result = usc_step(frame, usc_row_find(tables, file, frame->pc), 0, tables);
	return result;
}

#endif
