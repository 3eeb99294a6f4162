// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "symbolizer/code/indirect_jump.h"

#include <array>
#include <bit>

namespace uscope::symbolizer {
namespace {

constexpr std::uint8_t kStack = 7;  // rsp, by its DWARF number

// Prefixes that the kernel refuses, and that do nothing at a jump in 64-bit code: es, cs, ss, and ds, which means
// `notrack` there.
bool is_segment_without_effect(unsigned prefix) {
  return prefix == 0x26 || prefix == 0x2e || prefix == 0x36 || prefix == 0x3e;
}

// IndirectJump::prefixes; none if no probe may stand on what follows, or the jump does not do what its operand says.
std::optional<std::uint8_t> prefixes_before_probe(const ZydisDecodedInstruction& jump) {
  std::uint8_t prefixes = 0;
  for (std::uint8_t i = 0; i < jump.raw.prefix_count; i++) {
    const unsigned prefix = jump.raw.prefixes[i].value;
    if (is_segment_without_effect(prefix))
      prefixes = static_cast<std::uint8_t>(i + 1);
    else if (prefix != 0xf2 && prefix != 0xf3 && (prefix & 0xf0U) != 0x40)
      return std::nullopt;
  }
  return prefixes;
}

// None if it is no general register of 64 bits.
std::optional<std::uint8_t> number_of(ZydisRegister reg) {
  const bool is_whole = (reg >= ZYDIS_REGISTER_RAX && reg <= ZYDIS_REGISTER_R15) || reg == ZYDIS_REGISTER_RIP;
  if (!is_whole && reg != ZYDIS_REGISTER_NONE) return std::nullopt;
  return dwarf_number(reg);
}

std::optional<JumpOperand> operand_of(const ZydisDecodedOperand& to) {
  const bool in_memory = to.type == ZYDIS_OPERAND_TYPE_MEMORY;
  if (to.size != 64 || (!in_memory && to.type != ZYDIS_OPERAND_TYPE_REGISTER)) return std::nullopt;
  const auto base = number_of(in_memory ? to.mem.base : to.reg.value);
  const auto index = number_of(in_memory ? to.mem.index : ZYDIS_REGISTER_NONE);
  if (!base || !index) return std::nullopt;
  JumpOperand out;
  out.in_memory = in_memory;
  out.base = *base;
  out.index = *index;
  if (!in_memory) return out;
  out.scale = to.mem.scale == 0 ? std::uint8_t{1} : to.mem.scale;
  out.offset = static_cast<std::int32_t>(to.mem.disp.value);
  return out;
}

JumpOperand top_of_stack() {
  JumpOperand out;
  out.in_memory = true;
  out.base = kStack;
  return out;
}

bool is_word_at_stack_pointer(const ZydisDecodedOperand& operand, std::int64_t offset) {
  return operand.type == ZYDIS_OPERAND_TYPE_MEMORY && operand.mem.base == ZYDIS_REGISTER_RSP &&
         operand.mem.index == ZYDIS_REGISTER_NONE && operand.mem.disp.value == offset;
}

// Code from a place on, instruction by instruction.
class ThunkCode {
 public:
  explicit ThunkCode(std::span<const std::byte> code) : code_(code) {}

  // False where there is none.
  bool next() {
    if (next_ >= code_.size()) return false;
    const auto one = decoder_.decode(code_.subspan(next_), next_);
    if (!one) return false;
    one_ = *one;
    next_ = one_.next();
    return true;
  }

  // To where the call leads that it has come to.
  bool follow_call() {
    const auto to = direct_target(one_);
    if (!to || *to < one_.next() || *to >= code_.size()) return false;
    next_ = *to;
    return true;
  }

  [[nodiscard]] bool is(ZydisMnemonic mnemonic) const { return one_.is(mnemonic); }
  [[nodiscard]] const ZydisDecodedOperand& operand(std::size_t number) const { return one_.operands.at(number); }

 private:
  std::span<const std::byte> code_;
  InstructionDecoder decoder_;
  std::uint64_t next_ = 0;
  Instruction one_;
};

// call 1f; …; 1: mov %reg, (%rsp); ret. Or 1: lea 8(%rsp), %rsp; ret, where the target was pushed before.
std::optional<JumpOperand> operand_behind_call(ThunkCode& code) {
  if (!code.follow_call() || !code.next()) return std::nullopt;
  std::optional<JumpOperand> out;
  if (code.is(ZYDIS_MNEMONIC_MOV) && is_word_at_stack_pointer(code.operand(0), 0))
    out = operand_of(code.operand(1));
  else if (code.is(ZYDIS_MNEMONIC_LEA) && code.operand(0).reg.value == ZYDIS_REGISTER_RSP &&
           is_word_at_stack_pointer(code.operand(1), 8))
    out = top_of_stack();
  if (!out || !code.next() || !code.is(ZYDIS_MNEMONIC_RET)) return std::nullopt;
  return out;
}

// Addresses, counted from the place of a probe.
class Distances {
 public:
  explicit Distances(std::uint64_t place) : place_(place) {}

  std::int32_t to(std::uint64_t address) {
    const auto distance = static_cast<std::int64_t>(address - place_);
    fit_ = fit_ && distance == static_cast<std::int32_t>(distance);
    return static_cast<std::int32_t>(distance);
  }

  [[nodiscard]] bool fit() const { return fit_; }

 private:
  std::uint64_t place_;
  bool fit_ = true;
};

}  // namespace

std::optional<IndirectJump> indirect_jump(const Instruction& jump) {
  if (!jump.is(ZYDIS_MNEMONIC_JMP) || jump.decoded.meta.branch_type != ZYDIS_BRANCH_TYPE_NEAR) return std::nullopt;
  const auto prefixes = prefixes_before_probe(jump.decoded);
  const auto to = operand_of(jump.operands[0]);
  if (!prefixes || !to) return std::nullopt;
  IndirectJump out;
  out.address = jump.address;
  out.length = jump.decoded.length;
  out.prefixes = *prefixes;
  out.to = *to;
  return out;
}

std::optional<IndirectJump> jump_by_thunk(std::uint64_t address, std::span<const std::byte> thunk) {
  ThunkCode code(thunk);
  bool found = code.next();
  while (found && (code.is(ZYDIS_MNEMONIC_ENDBR64) || code.is(ZYDIS_MNEMONIC_LFENCE))) found = code.next();
  if (!found) return std::nullopt;
  std::optional<JumpOperand> to;
  if (code.is(ZYDIS_MNEMONIC_CALL) && code.operand(0).type == ZYDIS_OPERAND_TYPE_IMMEDIATE)
    to = operand_behind_call(code);
  else if (code.is(ZYDIS_MNEMONIC_JMP) && code.operand(0).type == ZYDIS_OPERAND_TYPE_REGISTER)
    to = operand_of(code.operand(0));
  if (!to) return std::nullopt;
  IndirectJump out;
  out.address = address;
  out.to = *to;
  out.pops = to->in_memory;
  return out;
}

bool sets_return_address(const Instruction& before) {
  if (before.is(ZYDIS_MNEMONIC_PUSH)) return true;
  if (before.is(ZYDIS_MNEMONIC_MOV)) return is_word_at_stack_pointer(before.operands[0], 0);
  return before.is(ZYDIS_MNEMONIC_LEA) && before.operands[0].reg.value == ZYDIS_REGISTER_RSP &&
         is_word_at_stack_pointer(before.operands[1], 8);
}

IndirectJump jump_by_return(const Instruction& ret) {
  IndirectJump out;
  out.address = ret.address;
  out.length = ret.decoded.length;
  out.to = top_of_stack();
  out.pops = true;
  out.may_return = true;
  return out;
}

bool pops_target(const Instruction& before, const Instruction& jump) {
  const ZydisDecodedOperand& popped = before.operands[0];
  const ZydisDecodedOperand& to = jump.operands[0];
  return before.is(ZYDIS_MNEMONIC_POP) && popped.type == ZYDIS_OPERAND_TYPE_REGISTER &&
         to.type == ZYDIS_OPERAND_TYPE_REGISTER && popped.reg.value == to.reg.value && can_be_probed(before);
}

std::optional<usc_jump> followed_jump(const IndirectJump& jump, const FunctionEnds& ends, std::uint64_t entry) {
  static_assert(JumpOperand::kNone == USC_JUMP_NOTHING && JumpOperand::kRip == USC_JUMP_PLACE);
  const std::uint64_t place = probe_address(jump);
  Distances distances(place);
  usc_jump out{};
  out.in_memory = jump.to.in_memory ? 1 : 0;
  out.pops = jump.pops ? 1 : 0;
  out.base = jump.to.base;
  out.index = jump.to.index;
  out.shift = static_cast<std::uint8_t>(std::countr_zero(jump.to.scale));
  // Instructions count from the next one, the kernel side from the place.
  const std::uint64_t from = jump.to.base == JumpOperand::kRip ? jump.address + jump.length : place;
  out.displacement = distances.to(from + static_cast<std::uint64_t>(std::int64_t{jump.to.offset}));
  if (ends.ranges.empty() || ends.ranges.size() > USC_JUMP_PARTS) return std::nullopt;
  out.entry_low = distances.to(ends.ranges.front().low);
  out.entry_high = distances.to(entry);
  for (const CodeRange& range : ends.ranges)
    out.part[out.parts++] = {distances.to(range.low), distances.to(range.high)};
  if (!distances.fit()) return std::nullopt;
  return out;
}

}  // namespace uscope::symbolizer
