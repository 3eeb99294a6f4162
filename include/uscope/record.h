/* SPDX-License-Identifier: GPL-2.0-or-later OR MIT */
/*
 * The records that a backend writes, that the trace file holds, and that the loader reads: in records/, by what they are
 * about; whoever needs records includes this file. Little-endian, naturally
 * aligned, explicitly padded, length-prefixed, 8-byte aligned, append-only in meaning: a reader takes `size` as the
 * truth, skips types it does not know, and ignores bytes behind the fields it knows. docs/adr/0001-records.md gives the
 * reasons.
 *
 * Identities. Tasks (threads), processes, images and files are named by serial numbers that the kernel side gives out,
 * from 1, once each; address spaces by the kernel's own number (core/walk/mappings.h, space_of), so that it is the same
 * in all processes that share one; 0 is none. Pids and tids are attributes, since they are reused.
 */
#ifndef USCOPE_RECORD_H
#define USCOPE_RECORD_H

#include "uscope/arch/arch.h"
#include "uscope/records/call.h"
#include "uscope/records/file.h"
#include "uscope/records/head.h"
#include "uscope/records/partial.h"
#include "uscope/records/probe.h"
#include "uscope/records/signal.h"
#include "uscope/records/stack.h"
#include "uscope/records/task.h"
#include "uscope/records/trace.h"
#include "uscope/records/wait.h"

#define USC_RECORD_ABI 8	    /* moves with every change of a layout in records/ */
#define USC_RECORD_ABI_OLDEST 8	    /* what readers still read: ADR 1 says what differs */
#define USC_RECORD_ABI_READER "0.2" /* the version of uscope that reads records before those */

#endif
