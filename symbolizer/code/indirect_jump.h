// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// Indirect jumps in all forms that compilers make them in: where the target is found, and where a probe may stand. Such
// a jump may end the function or not; the kernel side decides that when it is hit (include/uscope/jumps.h).
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "symbolizer/code/function_ends.h"
#include "symbolizer/code/instruction.h"
#include "uscope/jumps.h"

namespace uscope::symbolizer {

// `jmp` by a register or by memory. None if its target cannot be computed from general registers and memory, or if no
// probe may stand on it.
[[nodiscard]] std::optional<IndirectJump> indirect_jump(const Instruction& jump);

// A direct jump to a thunk (-mindirect-branch=thunk, -mretpoline), which goes on where a register says, or what was
// pushed before. `thunk`: the code there, as much as can be read. None if it is no thunk.
constexpr std::size_t kMostThunk = 64;
[[nodiscard]] std::optional<IndirectJump> jump_by_thunk(std::uint64_t address, std::span<const std::byte> thunk);

// Whether an instruction puts on the stack where a `ret` behind it leads: the code of such a thunk may stand in the
// function itself (thunk-inline).
[[nodiscard]] bool sets_return_address(const Instruction& before);
[[nodiscard]] IndirectJump jump_by_return(const Instruction& ret);

// Whether an instruction takes from the stack where the jump behind it leads: the two are a `ret`, and a probe on the
// first one meets it.
[[nodiscard]] bool pops_target(const Instruction& before, const Instruction& jump);

// Where a probe of the jump stands.
[[nodiscard]] inline std::uint64_t probe_address(const IndirectJump& jump) {
  return jump.address + jump.prefixes;
}

// As the kernel side takes it; `entry` is where the probe of the function's entry stands. None if addresses lie too far
// apart for it.
[[nodiscard]] std::optional<usc_jump> followed_jump(const IndirectJump& jump, const FunctionEnds& ends,
                                                    std::uint64_t entry);

}  // namespace uscope::symbolizer
