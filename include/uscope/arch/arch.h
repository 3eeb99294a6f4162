/* SPDX-License-Identifier: GPL-2.0-or-later OR MIT */
/*
 * The machine whose programs are traced. A folder for each (x86_64) has headers of the same names, which define the same macros
 * and functions; all else of the tree names registers, system calls and instructions by these. What needs the port of a backend is
 * in core/arch. A tracer traces programs of its own machine alone.
 *
 *   registers.h  USC_REG_SP, USC_REG_FP, USC_REG_PC …: DWARF numbers; struct pt_regs by role; sizes of pages and instructions
 *   calls.h      USC_ABI_NATIVE, USC_ABI_COMPAT; NR_* and COMPAT_*: numbers of system calls
 *   code.h       what bytes of code mean
 */
#ifndef USCOPE_ARCH_H
#define USCOPE_ARCH_H

#if defined(__x86_64__) || defined(__TARGET_ARCH_x86)
#include "x86_64/calls.h"
#include "x86_64/code.h"
#include "x86_64/registers.h"
#else
#error "uscope traces x86-64 only: another machine is a folder beside arch/x86_64, and one beside core/arch/x86_64"
#endif

/* Tables of calls, such as usc_config.calls: one of the native ABI and of those that share its numbers, one of COMPAT. */
#define USC_CALLS_NATIVE 0
#define USC_CALLS_COMPAT 1
#define USC_CALL_TABLES 2
#define USC_CALL_TABLE(abi) ((abi) == USC_ABI_COMPAT ? USC_CALLS_COMPAT : USC_CALLS_NATIVE)

#endif
