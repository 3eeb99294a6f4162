// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// One instruction, decoded by Zydis, and what walks through code ask about it.
#pragma once

#include <Zydis/Zydis.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

namespace uscope::symbolizer {

struct Instruction {
  std::uint64_t address = 0;
  ZydisDecodedInstruction decoded{};
  std::array<ZydisDecodedOperand, ZYDIS_MAX_OPERAND_COUNT> operands{};

  [[nodiscard]] std::uint64_t next() const { return address + decoded.length; }
  // With the implicit ones.
  [[nodiscard]] std::span<const ZydisDecodedOperand> all() const {
    return std::span(operands).first(decoded.operand_count);
  }
  [[nodiscard]] bool is(ZydisMnemonic mnemonic) const { return decoded.mnemonic == mnemonic; }
  [[nodiscard]] ZydisInstructionCategory category() const { return decoded.meta.category; }
};

class InstructionDecoder {
 public:
  InstructionDecoder();
  // The instruction that `code` begins with; nothing: the bytes are none.
  [[nodiscard]] std::optional<Instruction> decode(std::span<const std::byte> code, std::uint64_t address) const;

 private:
  ZydisDecoder decoder_{};
};

// Calls use(instruction) for each instruction, in the order of their addresses, until it returns false, or until what
// is no instruction.
template <typename Use>
void for_each_instruction(std::span<const std::byte> code, std::uint64_t address, Use&& use) {
  const InstructionDecoder decoder;
  for (std::size_t at = 0; at < code.size();) {
    const auto one = decoder.decode(code.subspan(at), address + at);
    if (!one || !use(*one)) return;
    at += one->decoded.length;
  }
}

[[nodiscard]] bool has_prefix(const Instruction& one, unsigned prefix);

// Whether the kernel probes an instruction with these prefixes (arch/x86/kernel/uprobes.c).
[[nodiscard]] bool can_be_probed(const Instruction& one);

// The target of a direct jump or call.
[[nodiscard]] std::optional<std::uint64_t> direct_target(const Instruction& one);

// Whether the processor does not go on behind it: returns, jumps without condition, traps.
[[nodiscard]] bool leaves_for_good(const Instruction& one);

// One that ends a program, as compilers put it where nothing goes on.
[[nodiscard]] bool is_trap(const Instruction& one);

[[nodiscard]] bool is_nop(const Instruction& one);

// The general register that a register is part of, 0 … 15 in the order of their encoding; nothing: another one.
[[nodiscard]] std::optional<std::size_t> general_register(ZydisRegister reg);

// Its DWARF number; JumpOperand::kRip for rip, JumpOperand::kNone for any other one.
[[nodiscard]] std::uint8_t dwarf_number(ZydisRegister reg);

}  // namespace uscope::symbolizer
