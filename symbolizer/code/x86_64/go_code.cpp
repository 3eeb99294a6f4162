// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "symbolizer/code/go_code.h"

#include <array>

namespace uscope::symbolizer {
namespace {

constexpr std::int64_t kGoWord = 8;

// DWARF numbers of registers, indexed by their numbers in instructions: rax rcx rdx rbx rsp rbp rsi rdi, r8 ….
constexpr std::array<std::uint8_t, 16> kDwarfNumber = {0, 2, 1, 3, 7, 6, 4, 5, 8, 9, 10, 11, 12, 13, 14, 15};

std::size_t operand_length(std::uint8_t modrm) {
  const std::uint8_t mode = modrm >> 6;
  const bool sib = (modrm & 7) == 4;
  const bool absolute = mode == 0 && (modrm & 7) == 5;
  return 3 + (sib ? 1 : 0) + (mode == 1 ? 1 : mode == 2 || absolute ? 4 : 0);
}

}  // namespace

// The address from which rbp is saved at CFA - 16, for a frame of `delta` bytes opened by the instruction before
// `opened`; 0 if the code does not show it. Go 1.21 and later push it; earlier versions store it into the frame's
// highest word.
std::uint64_t frame_pointer_saved(const GoFunctionCode& code, std::uint64_t opened, std::int64_t delta) {
  constexpr std::uint8_t kPushRbp = 0x55;
  if (delta == kGoWord && code.at(opened - 1) == kPushRbp) return opened;
  const auto slot = static_cast<std::uint64_t>(delta - kGoWord);
  if (slot == 0 && code.is(opened, {0x48, 0x89, 0x2c, 0x24})) return opened + 4;
  if (code.is(opened, {0x48, 0x89, 0x6c, 0x24}) && code.at(opened + 4) == slot && slot < 0x80) return opened + 5;
  if (code.is(opened, {0x48, 0x89, 0xac, 0x24}) && code.u32(opened + 4) == slot) return opened + 8;
  return 0;
}

// Whether the code after such a save makes rbp the frame pointer, at CFA - 16 from there on.
bool go_sets_frame_pointer(const GoFunctionCode& code, std::uint64_t saved, std::int64_t delta) {
  const auto slot = static_cast<std::uint64_t>(delta - kGoWord);
  if (slot == 0 && (code.is(saved, {0x48, 0x89, 0xe5}) || code.is(saved, {0x48, 0x8d, 0x2c, 0x24}))) return true;
  if (code.is(saved, {0x48, 0x8d, 0x6c, 0x24}) && code.at(saved + 4) == slot && slot < 0x80) return true;
  return code.is(saved, {0x48, 0x8d, 0xac, 0x24}) && code.u32(saved + 4) == slot;
}

// pop %r8 … %r15
std::uint8_t popped_register(const GoFunctionCode& code, std::uint64_t at) {
  if (code.at(at - 2) != 0x41 || (code.at(at - 1) & 0xf8) != 0x58) return 0;
  return static_cast<std::uint8_t>(8 + (code.at(at - 1) & 7));
}

GoInstruction read_go_instruction(const GoFunctionCode& code, std::uint64_t at) {
  GoInstruction found;
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
    found = {GoWrite::kStackPointer, 3, kDwarfNumber[reg], 0};
  } else if (opcode == 0x89 && direct && reg == kRsp) {  // mov %rsp,%reg
    found = {GoWrite::kToRegister, 3, kDwarfNumber[rm], 0};
  } else if (opcode == 0x8b && !direct && reg == kRsp) {  // mov memory,%rsp
    found = {GoWrite::kStackPointer, operand_length(modrm), 0, 0};
  } else if (opcode == 0x8b && !direct && reg == kRbp && code.at(at + 3) == 0x24 && (modrm & 7U) == 4) {
    found = {GoWrite::kFramePointer, operand_length(modrm), 0, 0};  // mov slot(%rsp),%rbp
  } else if (opcode == 0x83 && modrm == 0xe4 && !extended_rm) {     // and $imm8,%rsp
    found = {GoWrite::kStackPointer, 4, 0, 0};
  } else if (opcode == 0x81 && modrm == 0xe4 && !extended_rm) {  // and $imm32,%rsp
    found = {GoWrite::kStackPointer, 7, 0, 0};
  } else if (opcode == 0x89 && reg == kRdx && code.at(at + 3) == 0x24 && (modrm == 0x54 || modrm == 0x14)) {
    const bool displaced = modrm == 0x54;  // mov %rdx,slot(%rsp)
    found = {GoWrite::kToSlot, displaced ? 5U : 4U, 0, displaced ? static_cast<std::int8_t>(code.at(at + 4)) : 0};
  }
  return found;
}

bool is_callee_saved_register(std::uint8_t reg) {
  return reg == 3 || reg == 6 || (reg >= 12 && reg <= 15);
}

}  // namespace uscope::symbolizer
