/* SPDX-License-Identifier: GPL-2.0-or-later OR MIT */
/*
 * What every header of this folder stands on. The folder is compiled three ways: as kernel code, as BPF, and in user
 * space (C and C++); it may use fixed-width integer types, macros and static inline functions, and nothing else.
 */
#ifndef USCOPE_BASE_H
#define USCOPE_BASE_H

#include <linux/types.h>

#define USC_INLINE static inline __attribute__((always_inline, unused))

#ifdef __cplusplus
#define USC_ASSERT(cond, text) static_assert(cond, text)
#else
#define USC_ASSERT(cond, text) _Static_assert(cond, text)
#endif

#define USC_ASSERT_SIZE(type, bytes) USC_ASSERT(sizeof(struct type) == (bytes), #type " has a fixed size")

#endif
