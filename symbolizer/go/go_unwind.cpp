// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// Code is not disassembled: the few relevant instructions are searched by their bytes, and only in functions that Go
// marks as writing the stack pointer (before Go 1.17: in runtime functions known to do so).
#include "symbolizer/go/go_unwind.h"

#include <dwarf.h>

#include <algorithm>
#include <array>
#include <initializer_list>
#include <string_view>

#include "symbolizer/code/signal_trampoline.h"

namespace uscope::symbolizer {
namespace {

constexpr std::int64_t kWord = 8;

// CFA = *(rsp + slot) + 8 as a DWARF expression, for each slot that fits in one byte.
constexpr std::size_t kSlots = 64;
constexpr auto kSlotExpressions = [] {
  std::array<std::array<std::uint8_t, 5>, kSlots> all{};
  for (std::size_t slot = 0; slot < kSlots; slot++)
    all[slot] = {DW_OP_breg7, static_cast<std::uint8_t>(slot), DW_OP_deref, DW_OP_plus_uconst, kWord};
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

// The bytes of a function by address; 0 outside of it.
class Code {
 public:
  Code(std::uint64_t start, std::span<const std::byte> bytes) : start_(start), bytes_(bytes) {}

  [[nodiscard]] std::uint8_t at(std::uint64_t address) const {
    const std::uint64_t offset = address - start_;
    return offset < bytes_.size() ? std::to_integer<std::uint8_t>(bytes_[offset]) : 0;
  }

  [[nodiscard]] bool is(std::uint64_t address, std::initializer_list<std::uint8_t> bytes) const {
    return std::all_of(bytes.begin(), bytes.end(), [&](std::uint8_t byte) { return at(address++) == byte; });
  }

  [[nodiscard]] std::uint32_t u32(std::uint64_t address) const {
    std::uint32_t value = 0;
    for (unsigned i = 0; i < 4; i++) value |= std::uint32_t{at(address + i)} << i * 8;
    return value;
  }

  [[nodiscard]] std::uint64_t end() const { return start_ + bytes_.size(); }

 private:
  std::uint64_t start_;
  std::span<const std::byte> bytes_;
};

// The address from which rbp is saved at CFA - 16, for a frame of `delta` bytes opened by the instruction before
// `opened`; 0 if the code does not show it. Go 1.21 and later push it; earlier versions store it into the frame's
// highest word.
std::uint64_t frame_pointer_saved(const Code& code, std::uint64_t opened, std::int64_t delta) {
  constexpr std::uint8_t kPushRbp = 0x55;
  if (delta == kWord && code.at(opened - 1) == kPushRbp) return opened;
  const auto slot = static_cast<std::uint64_t>(delta - kWord);
  if (slot == 0 && code.is(opened, {0x48, 0x89, 0x2c, 0x24})) return opened + 4;
  if (code.is(opened, {0x48, 0x89, 0x6c, 0x24}) && code.at(opened + 4) == slot && slot < 0x80) return opened + 5;
  if (code.is(opened, {0x48, 0x89, 0xac, 0x24}) && code.u32(opened + 4) == slot) return opened + 8;
  return 0;
}

// Whether the code after such a save makes rbp the frame pointer, at CFA - 16 from there on.
bool sets_frame_pointer(const Code& code, std::uint64_t saved, std::int64_t delta) {
  const auto slot = static_cast<std::uint64_t>(delta - kWord);
  if (slot == 0 && (code.is(saved, {0x48, 0x89, 0xe5}) || code.is(saved, {0x48, 0x8d, 0x2c, 0x24}))) return true;
  if (code.is(saved, {0x48, 0x8d, 0x6c, 0x24}) && code.at(saved + 4) == slot && slot < 0x80) return true;
  return code.is(saved, {0x48, 0x8d, 0xac, 0x24}) && code.u32(saved + 4) == slot;
}

// The rows that follow from pcsp.
std::vector<GoRow> plain_rows(const std::vector<GoStretch>& stretches, std::uint64_t start, const Code& code) {
  std::vector<GoRow> rows;
  auto rbp = GoFramePointer::kKept;
  for (const GoStretch& stretch : stretches) {
    GoRow row{start, GoRule::kStack, GoFramePointer::kKept, 0, stretch.delta + kWord};
    if (stretch.delta == -kWord && code.at(start - 2) == 0x41 && (code.at(start - 1) & 0xf8) == 0x58) {
      // "pop %r8…r15": that register holds the return address while the stack pointer is above it (vfork).
      row.rule = GoRule::kReturnInRegister;
      row.reg = static_cast<std::uint8_t>(8 + (code.at(start - 1) & 7));
      row.offset = 0;
    } else if (stretch.delta < 0) {
      row.rule = GoRule::kUnknown;
    } else if (stretch.delta > 0) {
      if (rbp == GoFramePointer::kKept) {
        const std::uint64_t saved = frame_pointer_saved(code, start, stretch.delta);
        rbp = saved != 0 ? GoFramePointer::kSaved : GoFramePointer::kUnknown;
        if (saved > start && saved < stretch.end) {
          rows.push_back(row);  // the frame is open, but rbp is still the caller's
          row.start = saved;
        }
      }
      row.rbp = rbp;
    }
    rows.push_back(row);
    start = stretch.end;
  }
  return rows;
}

enum class Write : std::uint8_t { kNone, kStackPointer, kFramePointer, kToRegister, kToSlot };

// An instruction that affects where the stack is.
struct Instruction {
  Write write = Write::kNone;
  std::size_t length = 1;
  std::uint8_t reg = 0;   // kToRegister: the register that receives the stack pointer; kStackPointer: its source, or 0
  std::int64_t slot = 0;  // kToSlot: where rdx is stored, relative to rsp
};

// DWARF numbers of registers, indexed by their numbers in instructions: rax rcx rdx rbx rsp rbp rsi rdi, r8 ….
constexpr std::array<std::uint8_t, 16> kDwarfNumber = {0, 2, 1, 3, 7, 6, 4, 5, 8, 9, 10, 11, 12, 13, 14, 15};

std::size_t operand_length(std::uint8_t modrm) {
  const std::uint8_t mode = modrm >> 6;
  const bool sib = (modrm & 7) == 4;
  const bool absolute = mode == 0 && (modrm & 7) == 5;
  return 3 + (sib ? 1 : 0) + (mode == 1 ? 1 : mode == 2 || absolute ? 4 : 0);
}

Instruction read_instruction(const Code& code, std::uint64_t at) {
  Instruction found;
  const std::uint8_t rex = code.at(at);
  if ((rex & 0xf8) != 0x48) return found;
  const std::uint8_t opcode = code.at(at + 1);
  const std::uint8_t modrm = code.at(at + 2);
  const bool extended_reg = (rex & 4) != 0;
  const bool extended_rm = (rex & 1) != 0;
  const unsigned reg = (modrm >> 3 & 7U) + (extended_reg ? 8U : 0U);
  const unsigned rm = (modrm & 7U) + (extended_rm ? 8U : 0U);
  const bool direct = modrm >> 6 == 3;
  constexpr unsigned kRsp = 4;
  constexpr unsigned kRbp = 5;
  constexpr unsigned kRdx = 2;
  if (opcode == 0x89 && direct && rm == kRsp) {  // mov %reg,%rsp
    found = {Write::kStackPointer, 3, kDwarfNumber[reg], 0};
  } else if (opcode == 0x89 && direct && reg == kRsp) {  // mov %rsp,%reg
    found = {Write::kToRegister, 3, kDwarfNumber[rm], 0};
  } else if (opcode == 0x8b && !direct && reg == kRsp) {  // mov memory,%rsp
    found = {Write::kStackPointer, operand_length(modrm), 0, 0};
  } else if (opcode == 0x8b && !direct && reg == kRbp && code.at(at + 3) == 0x24 && (modrm & 7U) == 4) {
    found = {Write::kFramePointer, operand_length(modrm), 0, 0};  // mov slot(%rsp),%rbp
  } else if (opcode == 0x83 && modrm == 0xe4 && !extended_rm) {   // and $imm8,%rsp
    found = {Write::kStackPointer, 4, 0, 0};
  } else if (opcode == 0x81 && modrm == 0xe4 && !extended_rm) {  // and $imm32,%rsp
    found = {Write::kStackPointer, 7, 0, 0};
  } else if (opcode == 0x89 && reg == kRdx && code.at(at + 3) == 0x24 && (modrm == 0x54 || modrm == 0x14)) {
    const bool displaced = modrm == 0x54;  // mov %rdx,slot(%rsp)
    found = {Write::kToSlot, displaced ? 5U : 4U, 0, displaced ? static_cast<std::int8_t>(code.at(at + 4)) : 0};
  }
  return found;
}

bool is_callee_saved(std::uint8_t reg) {
  return reg == 3 || reg == 6 || (reg >= 12 && reg <= 15);
}

// Replaces the rows of pcsp from the point where a function leaves its stack. The code is processed in order of
// addresses, which is enough for Go's runtime: it comes back to its own stack only to return.
class StackSwitches {
 public:
  StackSwitches(const GoFunction& function, const Code& code, const std::vector<GoRow>& plain)
      : code_(code), plain_(plain), from_(function.start) {
    const auto frameless = [](const GoRow& row) { return row.rule == GoRule::kStack && row.offset == kWord; };
    saves_to_slot_ = function.name == "runtime.asmcgocall" && std::all_of(plain.begin(), plain.end(), frameless);
    const auto saves = [](const GoRow& row) { return row.rbp == GoFramePointer::kSaved; };
    const auto saved = std::find_if(plain.begin(), plain.end(), saves);
    leaves_for_good_ = leaves_for_good(function);
    for (std::uint64_t at = from_; at < code.end(); at++) {
      const Instruction instruction = read_instruction(code, at);
      if (instruction.write == Write::kStackPointer) last_taken_from_[instruction.reg] = at;
    }
    if (saved != plain.end() && !leaves_for_good_)
      has_frame_pointer_ = sets_frame_pointer(code, saved->start, saved->offset - kWord);
  }

  std::vector<GoRow> run() {
    for (std::uint64_t at = from_; at < code_.end();) {
      const Instruction instruction = read_instruction(code_, at);
      at += instruction.length;
      take(instruction, at);
    }
    end_state(UINT64_MAX);
    return std::move(rows_);
  }

 private:
  enum class State : std::uint8_t { kPlain, kLeft, kRegister, kSlot, kRestored };

  // Updates the state after an instruction, which ends at `behind`.
  void take(const Instruction& instruction, std::uint64_t behind) {
    const GoRow& here = plain_at(behind - 1);
    const bool by_frame_pointer = has_frame_pointer_ && here.rbp == GoFramePointer::kSaved;
    switch (state_) {
      case State::kPlain:
        // rbp is preferred to other registers: walks follow it through C functions.
        if (by_frame_pointer && instruction.write == Write::kStackPointer)
          change(behind, State::kRegister, {0, GoRule::kRegister, here.rbp, USC_REG_FP, 2 * kWord});
        else if (!by_frame_pointer && instruction.write == Write::kToRegister && comes_back(instruction.reg, behind) &&
                 here.rule == GoRule::kStack)
          change(behind, State::kRegister, {0, GoRule::kRegister, here.rbp, instruction.reg, here.offset});
        else if (instruction.write == Write::kStackPointer)
          change(behind, State::kLeft, {0, GoRule::kRoot, GoFramePointer::kKept, 0, 0});
        break;
      case State::kLeft:
        if (instruction.write == Write::kToSlot && saves_to_slot_ && instruction.slot >= 0 &&
            instruction.slot < static_cast<std::int64_t>(kSlots))
          change(behind, State::kSlot, {0, GoRule::kSaved, GoFramePointer::kKept, 0, instruction.slot});
        break;
      case State::kSlot:
        if (instruction.write == Write::kStackPointer) change(behind, State::kPlain, {});
        break;
      case State::kRegister:
        // For the last instructions the register holds the caller's value again.
        if (row_.reg == USC_REG_FP &&
            (code_.is(behind - 1, {0x5d, 0xc3}) || instruction.write == Write::kFramePointer))
          change(behind, State::kRestored, {});
        break;
      case State::kRestored:
        if (code_.is(behind - 1, {0xc3})) change(behind, State::kRegister, by_register_);
        break;
    }
  }

  // Whether the stack pointer, saved in a register that calls preserve, is restored from it later.
  [[nodiscard]] bool comes_back(std::uint8_t reg, std::uint64_t from) const {
    return is_callee_saved(reg) && !leaves_for_good_ && last_taken_from_[reg] >= from;
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

  const Code& code_;
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
  const Code view(function.start, code.first(std::min<std::size_t>(code.size(), found.end - function.start)));
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
  // Go's functions preserve no register for their callers except rbp.
  for (std::uint32_t i = 0; i < USC_SAVED_REGS; i++) state.registers[USC_SAVED_REG(i)] = {Where::kUndefined, 0, {}};
  RegisterRule& rbp = state.registers[USC_REG_FP];
  if (row.rbp == GoFramePointer::kKept) rbp = {};
  if (row.rbp == GoFramePointer::kSaved) rbp = {Where::kAtCfa, -2 * kWord, {}};
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
