/* SPDX-License-Identifier: GPL-2.0-or-later OR MIT */
/*
 * The trace map's transitions (docs/architecture.md, "What runs already"): pure functions of the target, of a process's
 * state and of what happened. Storage, and the question whether an image or process matches the target, are the
 * includer's. At a fork the child gets its parent's state; an unknown state stays unknown.
 */
#ifndef USCOPE_TRACE_MAP_H
#define USCOPE_TRACE_MAP_H

#include "base.h"

enum usc_process_state { USC_UNKNOWN, USC_TRACED, USC_UNTRACED };
enum usc_follow { USC_FOLLOW_TREE, USC_FOLLOW_IMAGE };

/* The first event of an unknown process decides it. `ancestor_matches` counts with USC_FOLLOW_TREE only. */
USC_INLINE __u32 usc_map_first_event(__u32 follow, int matches, int ancestor_matches)
{
	if (matches || (follow == USC_FOLLOW_TREE && ancestor_matches))
		return USC_TRACED;
	return USC_UNTRACED;
}

/* The child of a fork, vfork or clone has its parent's state: also an unknown one. */
USC_INLINE __u32 usc_map_fork(__u32 parent_state)
{
	return parent_state;
}

/* After exec. `matches`: the new image matches the target; USC_UNKNOWN stays so, for its first event to decide. */
USC_INLINE __u32 usc_map_exec(__u32 state, __u32 follow, int matches)
{
	if (state == USC_UNKNOWN)
		return matches ? USC_TRACED : USC_UNKNOWN;
	if (follow == USC_FOLLOW_IMAGE)
		return matches ? USC_TRACED : USC_UNTRACED;
	return state == USC_TRACED || matches ? USC_TRACED : USC_UNTRACED;
}

#endif
