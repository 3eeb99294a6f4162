/* SPDX-License-Identifier: GPL-2.0-or-later OR MIT */
/* Results of system calls that mean something to the tracer. Numbers of calls are in arch/. */
#ifndef USCOPE_CORE_NUMBERS_H
#define USCOPE_CORE_NUMBERS_H

#include "uscope/arch/arch.h"

/* Results that the kernel keeps to itself, and the errors of asm-generic/errno-base.h that are needed here. */
#define RESULT_EINTR (-4)
#define RESULT_EBUSY (-16)
#define RESULT_ERESTARTSYS (-512)
#define RESULT_ERESTARTNOINTR (-513)
#define RESULT_ERESTART_RESTARTBLOCK (-516)
#define NO_NUMBER ~0u

#endif
