/* SPDX-License-Identifier: GPL-2.0-or-later OR MIT */
/*
 * The trace map's transitions (docs/architecture.md, "What runs already"): pure functions of the target, of a process's
 * state and of what happened. Storage, and the question whether an image or process matches the target, are the
 * includer's. At a fork the child gets its parent's state; an unknown state stays unknown.
 */
#ifndef USCOPE_TRACE_MAP_H
#define USCOPE_TRACE_MAP_H

#include "target.h"

enum usc_process_state { USC_UNKNOWN, USC_TRACED, USC_UNTRACED };
enum usc_follow { USC_FOLLOW_TREE, USC_FOLLOW_IMAGE };

/* The first event of an unknown process decides it. `ancestor_matches` counts with USC_FOLLOW_TREE only. */
USC_INLINE __u32 usc_map_first_event(__u32 follow, int matches, int ancestor_matches)
{
	if (matches || (follow == USC_FOLLOW_TREE && ancestor_matches))
		return USC_TRACED;
	return USC_UNTRACED;
}

/*
 * Does the state after an exec depend on whether the new image matches the target? `kinds`: USC_TARGET_*. An exec brings
 * a process into the trace where the target is a name, or where --follow image let it leave before: a launched command's
 * trace holds that command and its descendants only, which are in the map.
 */
USC_INLINE int usc_map_exec_asks(__u32 kinds, __u32 follow, __u32 state)
{
	if (state == USC_TRACED)
		return follow == USC_FOLLOW_IMAGE;
	if (kinds & USC_TARGET_LAUNCH)
		return state == USC_UNTRACED && follow == USC_FOLLOW_IMAGE;
	return !!(kinds & USC_TARGET_APP);
}

/*
 * The state after an exec. `matches` (the new image matches the target) counts only where usc_map_exec_asks. A process
 * that is unknown and does not match stays unknown: its first event decides it.
 */
USC_INLINE __u32 usc_map_exec(__u32 kinds, __u32 follow, __u32 state, int matches)
{
	if (!usc_map_exec_asks(kinds, follow, state))
		return state;
	if (matches)
		return USC_TRACED;
	return state == USC_UNKNOWN ? USC_UNKNOWN : USC_UNTRACED;
}

#endif
