// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
/* The memory of a session. All of it is taken at START and counted to the opener's memory cgroup. */
#include <linux/cpumask.h>
#include <linux/limits.h>
#include <linux/log2.h>
#include <linux/pid.h>
#include <linux/slab.h>
#include <linux/vmalloc.h>

#include "files.h"
#include "functions.h"
#include "ring.h"
#include "rows.h"
#include "session.h"
#include "target.h"
#include "uscope/trace_map.h"

struct usc_session usc;
DEFINE_STATIC_KEY_FALSE(usc_has_question);

/* What is taken as one array, and how many values of it. */
struct room {
	void **at;
	size_t value_bytes;
	size_t count;
};

#define ROOM(field, number)                                                                                            \
	{                                                                                                              \
		(void **)&usc.field, sizeof(*usc.field), number                                                        \
	}

/* How many slots of slots.def there are. */
static size_t slots_of(size_t number, u32 per_cpu)
{
	if (per_cpu == USC_QUESTION && !usc.config.query.length)
		return 1;
	return per_cpu ? number * usc.cpu_count : number;
}

static int for_each_room(int (*visit)(const struct room *room))
{
	const struct room rooms[] = {
		ROOM(files, USC_FILE_SLOTS),	      ROOM(file_tables, USC_FILE_SLOTS),
		ROOM(tables, USC_DEVICE_TABLES_MAX),  ROOM(rules, usc.rules_limit + 1),
		ROOM(file_buckets, USC_FILE_SLOTS),   ROOM(file_nodes, USC_FILE_SLOTS),
		ROOM(announced, USC_ANNOUNCED_SLOTS), ROOM(losses, USC_LOSS_SLOTS),
		ROOM(places, USC_PLACE_SLOTS),	      ROOM(kinds, USC_KIND_SLOTS),
#define USC_SLOT(function, array, type, number, per_cpu) ROOM(array, slots_of(number, per_cpu)),
#include "uscope/core/slots.def"
#undef USC_SLOT
	};
	size_t i;
	int error;

	for (i = 0; i < ARRAY_SIZE(rooms); i++) {
		error = visit(&rooms[i]);
		if (error)
			return error;
	}
	return 0;
}

static int take(const struct room *room)
{
	*room->at = __vmalloc(array_size(room->value_bytes, room->count), GFP_KERNEL_ACCOUNT | __GFP_ZERO);
	return *room->at ? 0 : -ENOMEM;
}

static int give_back(const struct room *room)
{
	vfree(*room->at);
	*room->at = NULL;
	return 0;
}

static int take_cpus(u32 ring_bytes)
{
	u32 i;
	int error;

	usc.cpus = __vmalloc(array_size(sizeof(*usc.cpus), usc.cpu_count), GFP_KERNEL_ACCOUNT | __GFP_ZERO);
	if (!usc.cpus)
		return -ENOMEM;
	for (i = 0; i < usc.cpu_count; i++) {
		error = usc_ring_open(&usc.cpus[i], ring_bytes);
		if (error)
			return error;
		usc.cpus[i].path = kmalloc(USC_PATH_ROOM, GFP_KERNEL_ACCOUNT);
		if (!usc.cpus[i].path)
			return -ENOMEM;
	}
	return 0;
}

static int check_start(const struct usc_device_start *start)
{
	const struct usc_config *config = &start->config;
	enum usc_query_error unsound;
	u32 at;

	if (!is_power_of_2(config->target.kinds) || config->target.kinds > USC_TARGET_CGROUP ||
	    config->target.follow > USC_FOLLOW_IMAGE)
		return -EINVAL;
	if (start->reserved || config->signals > 1 || config->cpus != nr_cpu_ids ||
	    config->scope.mode < USC_MODE_APP_LAST || config->scope.mode > USC_MODE_ALL_ALL ||
	    config->string_bytes > USC_STRING_MOST || config->data_bytes > USC_DATA_MOST ||
	    config->argument_bytes > USC_ARGV_MOST || !config->scope.budget || config->scope.budget > USC_MAX_FRAMES)
		return -EINVAL;
	if (!is_power_of_2(start->ring_bytes) || start->ring_bytes < USC_DEVICE_RING_MIN ||
	    start->ring_bytes > USC_DEVICE_RING_MAX || start->rows > USC_DEVICE_ROWS_MAX ||
	    start->index_entries > USC_DEVICE_INDEX_MAX || start->rules > USC_DEVICE_RULES_MAX)
		return -EINVAL;
	unsound = usc_query_check(&config->query, &at);
	if (unsound)
		return unsound == USC_QUERY_BAD_UNKNOWN ? -EPROTONOSUPPORT : -EINVAL;
	return 0;
}

int usc_session_start(struct usc_device_start *start)
{
	int error;

	error = check_start(start);
	if (error)
		return error;
	usc.config = start->config;
	if (start->config.query.length)
		static_branch_enable(&usc_has_question);
	else
		static_branch_disable(&usc_has_question);
	usc.cpu_count = nr_cpu_ids;
	usc.ring_bytes = start->ring_bytes;
	usc.rows_limit = start->rows;
	usc.index_limit = start->index_entries;
	usc.rules_limit = start->rules;
	usc.last_file = USC_FILE_VDSO;
	error = take_cpus(start->ring_bytes);
	if (!error)
		error = for_each_room(take);
	if (error) {
		usc_session_free();
		return error;
	}
	start->region_bytes = PAGE_SIZE + start->ring_bytes;
	return 0;
}

/* With no hook attached and no region mapped any more. */
void usc_session_free(void)
{
	u32 i;

	if (!usc.cpus)
		return;
	usc_target_free();
	usc_functions_free();
	for (i = 0; i < usc.cpu_count; i++) {
		usc_ring_close(&usc.cpus[i]);
		kfree(usc.cpus[i].path);
	}
	if (usc.tables)
		usc_tables_free();
	for_each_room(give_back);
	vfree(usc.cpus);
	put_pid(usc.launched);
	/* All but the lock and the queue of readers, which are the module's. */
	memset(&usc, 0, offsetof(struct usc_session, lock));
	atomic_set(&usc.urgent, 0);
}
