// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// Signal trampolines without call frame information: musl's __restore_rt, Go's sigreturn__sigaction.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "uscope/rows.h"

namespace uscope::symbolizer {

// A signal handler returns to its trampoline's first instruction, with rsp at the ucontext that the kernel wrote
// (arch/x86/include/asm/sigframe.h: struct rt_sigframe after its return address). The sigcontext follows uc_flags,
// uc_link and uc_stack. glibc's own CFI for __restore_rt gives the same rule.
constexpr usc_rule kSignalTrampolineRule = {.cfa_kind = USC_CFA_SIGNAL,
                                            .cfa_reg = USC_REG_SP,
                                            .ra_kind = USC_RA_CFA,
                                            .ra_reg = 0,
                                            .cfa_off = 40,
                                            .cfa_add = 0,
                                            .ra_off = 0,
                                            .save_kind = {},
                                            .other_stack = 0,
                                            .exact_ra = 0,
                                            .save_off = {}};

// Length of the trampoline at the start of `code`: "mov $15,%eax" or "mov $15,%rax" (rt_sigreturn), then "syscall".
// Returns 0 if there is none.
std::size_t signal_trampoline_length(std::span<const std::byte> code);

// The longest such trampoline.
constexpr std::size_t kMostTrampoline = 9;

// Finds the offsets of trampolines in `code`. Use it only for code without unwind information, where these instructions
// cannot be a wrapper of the call: rt_sigreturn never returns to its caller.
std::vector<std::size_t> find_signal_trampolines(std::span<const std::byte> code);

}  // namespace uscope::symbolizer
