/* SPDX-License-Identifier: GPL-2.0-or-later OR MIT */
/*
 * What the fields of an event say together. The kernel's queries, the loader and whatever prints events answer alike.
 */
#ifndef USCOPE_EVENT_FACTS_H
#define USCOPE_EVENT_FACTS_H

#include "uscope/base/base.h"
#include "uscope/records/call.h"

/* The call was under way when this was written; if it returns while it is traced, another event of it follows. */
USC_INLINE int usc_is_unfinished(__u32 how)
{
	return how == USC_HOW_OPEN || how == USC_HOW_ATTACHED;
}

/* `result` is the call's. */
USC_INLINE int usc_event_has_result(const struct usc_event *event)
{
	return (event->how == USC_HOW_RETURNED || event->how == USC_HOW_NO_ENTRY) &&
	       !(event->flags & USC_EVENT_NO_RESULT);
}

/* `how` as it is stored and shown. A call that was attached to and returned stays `attached`: its duration is known from
 * the attachment on only. */
USC_INLINE __u8 usc_event_how(const struct usc_event *event)
{
	if (event->flags & USC_EVENT_ATTACHED && (event->how == USC_HOW_RETURNED || usc_is_unfinished(event->how)))
		return USC_HOW_ATTACHED;
	return event->how;
}

/* How long it took, in ns, if it returned; else 0. */
USC_INLINE __u64 usc_event_took(const struct usc_event *event)
{
	if (event->how != USC_HOW_RETURNED || event->head.time <= event->entry_ns)
		return 0;
	return event->head.time - event->entry_ns;
}

#endif
