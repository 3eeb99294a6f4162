// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// What ELF files of this machine's programs call it, and its relocations.
#pragma once

#if defined(__x86_64__)
#include "symbolizer/elf/x86_64/machine_names.h"
#else
#error "uscope reads programs of x86-64 only"
#endif
