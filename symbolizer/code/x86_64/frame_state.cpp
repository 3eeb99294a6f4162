// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "symbolizer/code/frame_state.h"

#include <algorithm>

namespace uscope::symbolizer {
namespace {

using Kind = FrameStep::Kind;

constexpr std::int32_t kMostStack = std::int32_t{1} << 29;
constexpr std::size_t kRbp = 1;  // in USC_SAVED_REG's order

void forget_below(FrameState& state) {
  for (auto& saved : state.saved)
    if (state.stack && saved.slot > *state.stack) saved.slot = 0;
}

// CFA - the place.
std::optional<std::int32_t> place_of(const FrameStep& step, const FrameState& state) {
  if (step.base == FrameStep::Base::kStack && state.stack) return *state.stack - step.place;
  if (step.base == FrameStep::Base::kFrame && state.frame) return *state.frame - step.place;
  return std::nullopt;
}

void write_over(FrameState& state, std::int32_t place, std::int32_t bytes) {
  for (auto& saved : state.saved)
    if (saved.slot != 0 && saved.slot > place - bytes && saved.slot - kFrameWord < place) saved.slot = 0;
}

// The register is written; from its slot, it is the caller's again.
void restore(FrameState& state, std::uint8_t reg, std::optional<std::int32_t> from) {
  if (reg == FrameStep::kNoRegister) return;
  auto& saved = state.saved.at(reg);
  saved.kept = from && *from != 0 && saved.slot == *from;
  if (reg == kRbp) state.frame.reset();
}

void save(FrameState& state, std::uint8_t reg, std::int32_t place) {
  if (reg == FrameStep::kNoRegister) return;
  auto& saved = state.saved.at(reg);
  if (saved.kept && saved.slot == 0 && place > kFrameWord && state.stack && place <= *state.stack) saved.slot = place;
}

void access_memory(const FrameStep& step, FrameState& state) {
  const auto place = place_of(step, state);
  if (!step.stores || !place) return;
  write_over(state, *place, step.bytes);
  if (step.bytes == kFrameWord) save(state, step.reg, *place);
}

void write_registers(const FrameStep& step, FrameState& state) {
  const bool loads = step.base != FrameStep::Base::kNone && !step.stores && step.bytes == kFrameWord;
  const auto from = loads ? place_of(step, state) : std::nullopt;
  for (std::uint8_t i = 0; i < USC_SAVED_REGS; i++)
    if ((step.writes >> i & 1u) != 0) restore(state, i, loads && step.reg == i ? from : std::nullopt);
}

void set_stack_from_frame(FrameState& state, std::int32_t value) {
  state.stack = state.frame ? std::optional(*state.frame - value) : std::nullopt;
  forget_below(state);
}

void pop(FrameState& state, std::uint8_t reg) {
  restore(state, reg, state.stack);
  move_stack(state, kFrameWord);
}

}  // namespace

FrameState state_at_entry() {
  FrameState state;
  state.stack = kFrameWord;
  return state;
}

FrameState nothing_known() {
  FrameState state;
  for (auto& saved : state.saved) saved.kept = false;
  return state;
}

bool is_as_at_entry(const FrameState& state) {
  return state.stack == kFrameWord &&
         std::all_of(state.saved.begin(), state.saved.end(), [](const auto& saved) { return saved.kept; });
}

void move_stack(FrameState& state, std::int64_t by) {
  if (!state.stack) return;
  const std::int64_t stack = *state.stack - by;
  state.stack =
      stack > -kMostStack && stack < kMostStack ? std::optional(static_cast<std::int32_t>(stack)) : std::nullopt;
  forget_below(state);
}

void apply_step(const FrameStep& step, FrameState& state) {
  switch (step.kind) {
    case Kind::kPush:
      move_stack(state, -kFrameWord);
      if (state.stack) {
        write_over(state, *state.stack, kFrameWord);
        save(state, step.reg, *state.stack);
      }
      break;
    case Kind::kPop:
      pop(state, step.reg);
      break;
    case Kind::kLeave:
      set_stack_from_frame(state, 0);
      pop(state, kRbp);
      break;
    case Kind::kMoveStackPointer:
      move_stack(state, step.value);
      break;
    case Kind::kStackFromFrame:
      set_stack_from_frame(state, step.value);
      break;
    case Kind::kStackUnknown:
      write_registers(step, state);
      state.stack.reset();
      break;
    case Kind::kFrameFromStack:
      restore(state, kRbp, std::nullopt);
      if (state.stack) state.frame = *state.stack - step.value;
      break;
    case Kind::kOther:
      access_memory(step, state);
      write_registers(step, state);
      break;
    default:
      break;
  }
}

void meet(FrameState& into, const FrameState& other) {
  if (into.is_root != other.is_root) into = nothing_known();
  if (into.stack != other.stack) into.stack.reset();
  if (into.frame != other.frame) into.frame.reset();
  for (std::size_t i = 0; i < into.saved.size(); i++) {
    into.saved.at(i).kept = into.saved.at(i).kept && other.saved.at(i).kept;
    if (into.saved.at(i).slot != other.saved.at(i).slot) into.saved.at(i).slot = 0;
  }
}

}  // namespace uscope::symbolizer
