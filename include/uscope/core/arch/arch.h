/* SPDX-License-Identifier: GPL-2.0-or-later OR MIT */
/*
 * What the core does by the instructions, ABIs and signal frames of the machine, over a backend's port: a folder for each, with
 * the same functions. Facts that need no port are in uscope/arch.
 */
#ifndef USCOPE_CORE_ARCH_H
#define USCOPE_CORE_ARCH_H

#if defined(__x86_64__) || defined(__TARGET_ARCH_x86)
#include "x86_64/breakpoint.h"
#include "x86_64/multiplexed.h"
#include "x86_64/signal_context.h"
#else
#error "uscope traces x86-64 only: see uscope/arch/arch.h"
#endif

#endif
