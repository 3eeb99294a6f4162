// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// Where the caller's frame is at a place in a function, and what instructions change about that.
#pragma once

#include <array>
#include <cstdint>
#include <optional>

#include "symbolizer/code/frame_steps.h"
#include "uscope/rows.h"

namespace uscope::symbolizer {

constexpr std::int32_t kFrameWord = 8;  // bytes

struct FrameState {
  bool is_root = false;  // there is no caller: nothing else is known then
  // Where the caller's value of a register is. `slot`: saved at CFA - slot; 0: not saved.
  struct Saved {
    bool kept = true;
    std::int32_t slot = 0;
    bool operator==(const Saved&) const = default;
  };
  std::optional<std::int32_t> stack;  // CFA - rsp
  std::optional<std::int32_t> frame;  // CFA - rbp, where rbp is a frame pointer
  std::array<Saved, USC_SAVED_REGS> saved{};
  bool operator==(const FrameState&) const = default;

  [[nodiscard]] bool has_cfa() const { return stack || frame; }
};

// Where a function begins: rsp is at the return address, and all registers are the caller's.
[[nodiscard]] FrameState state_at_entry();
[[nodiscard]] FrameState nothing_known();
// The frame is as it was where the function began.
[[nodiscard]] bool is_as_at_entry(const FrameState& state);

// Adds bytes to the stack pointer.
void move_stack(FrameState& state, std::int64_t by);
// The frame behind an instruction, if the processor goes on there. Calls and jumps change nothing.
void apply_step(const FrameStep& step, FrameState& state);
// Keeps of `into` what `other` knows, too.
void meet(FrameState& into, const FrameState& other);

}  // namespace uscope::symbolizer
