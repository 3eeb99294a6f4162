// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// Code is not disassembled: the few relevant instructions are searched by their bytes, and only in functions that Go
// marks as writing the stack pointer (before Go 1.17: in runtime functions known to do so).
#include "symbolizer/go/go_unwind.h"

#include <dwarf.h>

#include <algorithm>
#include <array>
#include <initializer_list>
#include <string_view>

#include "symbolizer/code/go_code.h"
#include "symbolizer/code/signal_trampoline.h"
#include "uscope/arch/arch.h"

namespace uscope::symbolizer {
namespace {

constexpr std::int64_t kWord = 8;

// CFA = *(sp + slot) + 8 as a DWARF expression, for each slot that fits in one byte.
constexpr std::size_t kSlots = 64;
constexpr auto kSlotExpressions = [] {
  std::array<std::array<std::uint8_t, 5>, kSlots> all{};
  for (std::size_t slot = 0; slot < kSlots; slot++)
    all[slot] = {DW_OP_breg0 + USC_REG_SP, static_cast<std::uint8_t>(slot), DW_OP_deref, DW_OP_plus_uconst, kWord};
  return all;
}();

bool is_one_of(std::string_view name, std::initializer_list<std::string_view> names) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

// sigtramp is marked as outermost, but its caller is known: the signal frame.
bool is_outermost(const GoFunction& function) {
  if (function.name == "runtime.sigtramp") return false;
  return (function.flags & kGoTopFrame) != 0 ||
         is_one_of(function.name, {"runtime.goexit", "runtime.rt0_go", "runtime.mstart"});
}

// cgocallback switches to another stack, but opens the same frame there, with a return address for walks like this.
bool may_write_stack_pointer(const GoFunction& function) {
  if (is_one_of(function.name, {"runtime.cgocallback", "runtime.cgocallback_gofunc"})) return false;
  return (function.flags & kGoWritesSp) != 0 ||
         is_one_of(function.name,
                   {"runtime.systemstack", "runtime.mcall", "runtime.morestack", "runtime.asmcgocall", "runtime.gogo",
                    "runtime.clone", "runtime.sigfwd", "runtime.sigtramp", "runtime.nanotime", "runtime.nanotime1",
                    "runtime.walltime", "runtime.walltime1", "time.now"});
}

bool is_injected(const GoFunction& function) {
  return is_one_of(function.name, {"runtime.asyncPreempt", "runtime.sigpanic"});
}

// After these the goroutine is suspended and may continue elsewhere: the function that called them is no longer a
// caller.
bool leaves_for_good(const GoFunction& function) {
  return is_one_of(function.name, {"runtime.mcall", "runtime.morestack", "runtime.gogo"});
}

// The rows that follow from pcsp.
std::vector<GoRow> plain_rows(const std::vector<GoStretch>& stretches, std::uint64_t start,
                              const GoFunctionCode& code) {
  std::vector<GoRow> rows;
  auto fp = GoFramePointer::kKept;
  for (const GoStretch& stretch : stretches) {
    GoRow row{start, GoRule::kStack, GoFramePointer::kKept, 0, stretch.delta + kWord};
    const std::uint8_t popped = stretch.delta == -kWord ? popped_register(code, start) : 0;
    if (popped != 0) {
      // That register holds the return address while the stack pointer is above it (vfork).
      row.rule = GoRule::kReturnInRegister;
      row.reg = popped;
      row.offset = 0;
    } else if (stretch.delta < 0) {
      row.rule = GoRule::kUnknown;
    } else if (stretch.delta > 0) {
      if (fp == GoFramePointer::kKept) {
        const std::uint64_t saved = frame_pointer_saved(code, start, stretch.delta);
        fp = saved != 0 ? GoFramePointer::kSaved : GoFramePointer::kUnknown;
        if (saved > start && saved < stretch.end) {
          rows.push_back(row);  // the frame is open, but fp is still the caller's
          row.start = saved;
        }
      }
      row.fp = fp;
    }
    rows.push_back(row);
    start = stretch.end;
  }
  return rows;
}

// Replaces the rows of pcsp from the point where a function leaves its stack. The code is processed in order of
// addresses, which is enough for Go's runtime: it comes back to its own stack only to return.
class StackSwitches {
 public:
  StackSwitches(const GoFunction& function, const GoFunctionCode& code, const std::vector<GoRow>& plain)
      : code_(code), plain_(plain), from_(function.start) {
    const auto frameless = [](const GoRow& row) { return row.rule == GoRule::kStack && row.offset == kWord; };
    saves_to_slot_ = function.name == "runtime.asmcgocall" && std::all_of(plain.begin(), plain.end(), frameless);
    const auto saves = [](const GoRow& row) { return row.fp == GoFramePointer::kSaved; };
    const auto saved = std::find_if(plain.begin(), plain.end(), saves);
    leaves_for_good_ = leaves_for_good(function);
    for (std::uint64_t at = from_; at < code.end(); at++) {
      const GoInstruction instruction = read_go_instruction(code, at);
      if (instruction.write == GoWrite::kStackPointer) last_taken_from_[instruction.reg] = at;
    }
    if (saved != plain.end() && !leaves_for_good_)
      has_frame_pointer_ = go_sets_frame_pointer(code, saved->start, saved->offset - kWord);
  }

  std::vector<GoRow> run() {
    for (std::uint64_t at = from_; at < code_.end();) {
      const GoInstruction instruction = read_go_instruction(code_, at);
      at += instruction.length;
      take(instruction, at);
    }
    end_state(UINT64_MAX);
    return std::move(rows_);
  }

 private:
  enum class State : std::uint8_t { kPlain, kLeft, kRegister, kSlot, kRestored };

  // Updates the state after an instruction, which ends at `behind`.
  void take(const GoInstruction& instruction, std::uint64_t behind) {
    const GoRow& here = plain_at(behind - 1);
    const bool by_frame_pointer = has_frame_pointer_ && here.fp == GoFramePointer::kSaved;
    switch (state_) {
      case State::kPlain:
        // fp is preferred to other registers: walks follow it through C functions.
        if (by_frame_pointer && instruction.write == GoWrite::kStackPointer)
          change(behind, State::kRegister, {0, GoRule::kRegister, here.fp, USC_REG_FP, 2 * kWord});
        else if (!by_frame_pointer && instruction.write == GoWrite::kToRegister &&
                 comes_back(instruction.reg, behind) && here.rule == GoRule::kStack)
          change(behind, State::kRegister, {0, GoRule::kRegister, here.fp, instruction.reg, here.offset});
        else if (instruction.write == GoWrite::kStackPointer)
          change(behind, State::kLeft, {0, GoRule::kRoot, GoFramePointer::kKept, 0, 0});
        break;
      case State::kLeft:
        if (instruction.write == GoWrite::kToSlot && saves_to_slot_ && instruction.slot >= 0 &&
            instruction.slot < static_cast<std::int64_t>(kSlots))
          change(behind, State::kSlot, {0, GoRule::kSaved, GoFramePointer::kKept, 0, instruction.slot});
        break;
      case State::kSlot:
        if (instruction.write == GoWrite::kStackPointer) change(behind, State::kPlain, {});
        break;
      case State::kRegister:
        // For the last instructions the register holds the caller's value again.
        if (row_.reg == USC_REG_FP &&
            (code_.is(behind - 1, {0x5d, 0xc3}) || instruction.write == GoWrite::kFramePointer))
          change(behind, State::kRestored, {});
        break;
      case State::kRestored:
        if (code_.is(behind - 1, {0xc3})) change(behind, State::kRegister, by_register_);
        break;
    }
  }

  // Whether the stack pointer, saved in a register that calls preserve, is restored from it later.
  [[nodiscard]] bool comes_back(std::uint8_t reg, std::uint64_t from) const {
    return is_callee_saved_register(reg) && !leaves_for_good_ && last_taken_from_[reg] >= from;
  }

  void change(std::uint64_t at, State state, const GoRow& row) {
    end_state(at);
    if (state_ == State::kRegister) by_register_ = row_;
    state_ = state;
    row_ = row;
    from_ = at;
  }

  // Adds the rows of the state that holds from from_ up to `to`.
  void end_state(std::uint64_t to) {
    if (state_ != State::kPlain && state_ != State::kRestored) {
      row_.start = from_;
      rows_.push_back(row_);
      return;
    }
    GoRow first = plain_at(from_);
    first.start = from_;
    rows_.push_back(first);
    for (const GoRow& plain : plain_)
      if (plain.start > from_ && plain.start < to) rows_.push_back(plain);
  }

  [[nodiscard]] const GoRow& plain_at(std::uint64_t at) const {
    const auto after = std::upper_bound(plain_.begin(), plain_.end(), at,
                                        [](std::uint64_t value, const GoRow& row) { return value < row.start; });
    return after == plain_.begin() ? *after : *std::prev(after);
  }

  const GoFunctionCode& code_;
  const std::vector<GoRow>& plain_;
  std::uint64_t from_;
  bool saves_to_slot_ = false;
  bool has_frame_pointer_ = false;
  bool leaves_for_good_ = false;
  std::array<std::uint64_t, 16> last_taken_from_{};  // by register: the last place where the stack pointer is restored
                                                     // from it
  State state_ = State::kPlain;
  GoRow row_;
  GoRow by_register_;
  std::vector<GoRow> rows_;
};

}  // namespace

bool go_is_special(const GoFunction& function) {
  return is_outermost(function) || may_write_stack_pointer(function) || is_injected(function) ||
         function.name.starts_with("runtime.sigreturn");
}

GoFunctionRows go_function_rows(const GoPclntab& table, const GoFunction& function, std::span<const std::byte> code,
                                std::uint64_t& steps) {
  GoFunctionRows found;
  std::vector<GoStretch> stretches;
  if (!table.stretches(function, stretches, steps)) return found;
  found.end = stretches.back().end;
  if (is_outermost(function)) {
    found.rows.push_back({function.start, GoRule::kRoot, GoFramePointer::kKept, 0, 0});
    return found;
  }
  if (signal_trampoline_length(code) != 0) {
    found.rows.push_back({function.start, GoRule::kSignal, GoFramePointer::kKept, 0, 0});
    return found;
  }
  const GoFunctionCode view(function.start, code.first(std::min<std::size_t>(code.size(), found.end - function.start)));
  found.rows = plain_rows(stretches, function.start, view);
  if (may_write_stack_pointer(function)) found.rows = StackSwitches(function, view, found.rows).run();
  for (GoRow& row : found.rows) row.exact_ra = is_injected(function);
  // An instruction cut off by the end may have changed the state after it.
  while (!found.rows.empty() && found.rows.back().start >= found.end) found.rows.pop_back();
  return found;
}

std::vector<GoRange> go_untrue_cfi(const GoPclntab& table, const GoCode& code) {
  std::vector<GoRange> ranges;
  std::uint64_t steps = table.most_steps();
  for (const GoFunction& function : table.functions()) {
    if (!go_is_special(function)) continue;
    const std::size_t size = std::min<std::uint64_t>(function.limit - function.start, kGoMostCode);
    const GoFunctionRows found = go_function_rows(table, function, code(function.start, size), steps);
    for (std::size_t i = 0; i < found.rows.size(); i++) {
      const std::uint64_t end = i + 1 < found.rows.size() ? found.rows[i + 1].start : found.end;
      if (found.rows[i].rule != GoRule::kStack || found.rows[i].exact_ra) ranges.push_back({found.rows[i].start, end});
    }
  }
  return ranges;
}

CfiState go_cfi_state(const GoRow& row) {
  CfiState state;
  state.cfa = CfiState::Cfa::kRegister;
  state.cfa_register = row.rule == GoRule::kRegister ? row.reg : std::uint64_t{USC_REG_SP};
  state.cfa_offset = row.offset;
  RegisterRule& ra = state.registers[kReturnAddress];
  ra = {Where::kAtCfa, -kWord, {}};
  // Go's functions preserve no register for their callers except fp.
  for (std::uint32_t i = 0; i < USC_SAVED_REGS; i++) state.registers[USC_SAVED_REG(i)] = {Where::kUndefined, 0, {}};
  RegisterRule& fp = state.registers[USC_REG_FP];
  if (row.fp == GoFramePointer::kKept) fp = {};
  if (row.fp == GoFramePointer::kSaved) fp = {Where::kAtCfa, -2 * kWord, {}};
  switch (row.rule) {
    case GoRule::kStack:
    case GoRule::kRegister:
      break;
    case GoRule::kSaved:
      state.cfa = CfiState::Cfa::kExpression;
      state.cfa_expression = kSlotExpressions[static_cast<std::size_t>(row.offset) % kSlots];
      break;
    case GoRule::kReturnInRegister:
      state.cfa_offset = 0;
      ra = {Where::kRegister, row.reg, {}};
      break;
    case GoRule::kRoot:
      ra = {Where::kUndefined, 0, {}};
      break;
    case GoRule::kSignal:
    case GoRule::kUnknown:
      state.cfa = CfiState::Cfa::kUnset;
      break;
  }
  return state;
}

}  // namespace uscope::symbolizer
