/* SPDX-License-Identifier: GPL-2.0-or-later OR MIT */
/*
 * The configurable scope: which frames of a walk are kept. Frames are offered innermost first; the
 * answer says whether the frame is kept and whether any further frame could be.
 */
#ifndef USCOPE_SCOPE_H
#define USCOPE_SCOPE_H

#include "record.h"

enum usc_mode {
	USC_MODE_APP_LAST = 1, /* the innermost application frame */
	USC_MODE_APP_ALL,      /* all frames of the application's binaries */
	USC_MODE_ALL_LAST,     /* the innermost frame of each unbroken run of frames in one binary */
	USC_MODE_ALL_ALL,      /* all frames */
};

struct usc_scope {
	__u32 mode;   /* enum usc_mode */
	__u32 budget; /* S: frames kept at most, 1 … USC_MAX_FRAMES */
};

struct usc_scope_state {
	__u32 kept;
	__u32 last_file; /* of the last frame that was not of an excluded module, ~0 = none yet */
};

#define USC_SCOPE_START ((struct usc_scope_state){0, ~0u})

#define USC_SCOPE_KEEP 1 /* this frame belongs to the stack */
#define USC_SCOPE_STOP 2 /* no further frame can; the stack ends `scope` or `budget` (usc_scope_ended) */
#define USC_SCOPE_FULL 4 /* beside it: the budget is used up */

/*
 * `file` is the frame's file serial, `exe_file` that of the current image's executable, `classes` the file's
 * USC_CLASS_* bits. An excluded module is skipped, also if it is the executable, and does not break a run. Of a mixed
 * one, functions are told apart by their names, when the trace is loaded: APP_LAST keeps its frames up to the budget.
 */
USC_INLINE int usc_scope_admit(const struct usc_scope *scope, struct usc_scope_state *state, __u32 file, __u32 exe_file,
			       __u32 classes)
{
	int keep;

	if (classes & USC_CLASS_EXCLUDED)
		return 0;
	if (scope->mode <= USC_MODE_APP_ALL)
		keep = (file == exe_file && file != USC_FILE_NONE) || (classes & USC_CLASS_APP);
	else if (scope->mode == USC_MODE_ALL_LAST)
		keep = file != state->last_file;
	else
		keep = 1;
	state->last_file = file;
	if (!keep)
		return 0;
	state->kept++;
	if (scope->mode == USC_MODE_APP_LAST && !(classes & USC_CLASS_MIXED))
		return USC_SCOPE_KEEP | USC_SCOPE_STOP;
	return state->kept >= scope->budget ? USC_SCOPE_KEEP | USC_SCOPE_STOP | USC_SCOPE_FULL : USC_SCOPE_KEEP;
}

/* How a stack ended that usc_scope_admit stopped with this answer. */
USC_INLINE int usc_scope_ended(int answer)
{
	return answer & USC_SCOPE_FULL ? USC_ENDED_BUDGET : USC_ENDED_SCOPE;
}

#endif
