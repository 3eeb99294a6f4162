// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "symbolizer/code/instruction.h"

#include "symbolizer/code/function_ends.h"

namespace uscope::symbolizer {

InstructionDecoder::InstructionDecoder() {
  ZydisDecoderInit(&decoder_, ZYDIS_MACHINE_MODE_LONG_64, ZYDIS_STACK_WIDTH_64);
}

std::optional<Instruction> InstructionDecoder::decode(std::span<const std::byte> code, std::uint64_t address) const {
  std::optional<Instruction> one(std::in_place);
  one->address = address;
  if (ZYAN_FAILED(ZydisDecoderDecodeFull(&decoder_, code.data(), code.size(), &one->decoded, one->operands.data())))
    one.reset();
  return one;
}

bool has_prefix(const Instruction& one, unsigned prefix) {
  for (std::size_t i = 0; i < one.decoded.raw.prefix_count; i++)
    if (one.decoded.raw.prefixes[i].value == prefix) return true;
  return false;
}

bool can_be_probed(const Instruction& one) {
  for (std::size_t i = 0; i < one.decoded.raw.prefix_count; i++) {
    const unsigned prefix = one.decoded.raw.prefixes[i].value;
    if (prefix != 0xf2 && prefix != 0xf3 && (prefix & 0xf0U) != 0x40) return false;
  }
  return true;
}

std::optional<std::uint64_t> direct_target(const Instruction& one) {
  const ZydisDecodedOperand& to = one.operands[0];
  if (one.decoded.operand_count == 0 || to.type != ZYDIS_OPERAND_TYPE_IMMEDIATE || to.imm.is_relative == 0)
    return std::nullopt;
  return one.next() + static_cast<std::uint64_t>(to.imm.value.s);
}

bool leaves_for_good(const Instruction& one) {
  return one.category() == ZYDIS_CATEGORY_RET || one.is(ZYDIS_MNEMONIC_JMP) || is_trap(one);
}

bool is_trap(const Instruction& one) {
  switch (one.decoded.mnemonic) {
    case ZYDIS_MNEMONIC_UD0:
    case ZYDIS_MNEMONIC_UD1:
    case ZYDIS_MNEMONIC_UD2:
    case ZYDIS_MNEMONIC_HLT:
    case ZYDIS_MNEMONIC_INT3:
      return true;
    default:
      return false;
  }
}

bool is_nop(const Instruction& one) {
  return one.is(ZYDIS_MNEMONIC_NOP) || one.is(ZYDIS_MNEMONIC_ENDBR64);
}

std::optional<std::size_t> general_register(ZydisRegister reg) {
  const ZydisRegister whole = ZydisRegisterGetLargestEnclosing(ZYDIS_MACHINE_MODE_LONG_64, reg);
  if (whole < ZYDIS_REGISTER_RAX || whole > ZYDIS_REGISTER_R15) return std::nullopt;
  return static_cast<std::size_t>(whole - ZYDIS_REGISTER_RAX);
}

// The ABI's numbers of registers (System V, figure 3.36).
std::uint8_t dwarf_number(ZydisRegister reg) {
  if (reg == ZYDIS_REGISTER_RIP) return JumpOperand::kRip;
  const auto number = general_register(reg);
  constexpr std::array<std::uint8_t, 16> kNumbers = {0, 2, 1, 3, 7, 6, 4, 5, 8, 9, 10, 11, 12, 13, 14, 15};
  return number ? kNumbers.at(*number) : JumpOperand::kNone;
}

}  // namespace uscope::symbolizer
