// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// Each form of `jmp` by a register or by memory leads where Zydis says that it does.
#include "symbolizer/code/indirect_jump.h"

#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "symbolizer/code/instruction.h"

namespace uscope::symbolizer {
namespace {

constexpr std::uint64_t kAddress = 0x5555'5555'4000;
// By DWARF's numbers; far apart, so that no sum is that of others.
constexpr std::array<ZydisRegister, 16> kRegisters = {
    ZYDIS_REGISTER_RAX, ZYDIS_REGISTER_RDX, ZYDIS_REGISTER_RCX, ZYDIS_REGISTER_RBX,
    ZYDIS_REGISTER_RSI, ZYDIS_REGISTER_RDI, ZYDIS_REGISTER_RBP, ZYDIS_REGISTER_RSP,
    ZYDIS_REGISTER_R8,  ZYDIS_REGISTER_R9,  ZYDIS_REGISTER_R10, ZYDIS_REGISTER_R11,
    ZYDIS_REGISTER_R12, ZYDIS_REGISTER_R13, ZYDIS_REGISTER_R14, ZYDIS_REGISTER_R15};

std::uint64_t value_of(std::size_t number) {
  return 0x1000'0000'0000 * (number % 7) + (std::uint64_t{1} << (number + 16)) + number;
}

std::optional<Instruction> instruction_of(const std::vector<std::uint8_t>& code) {
  static const InstructionDecoder kDecoder;
  return kDecoder.decode(std::as_bytes(std::span(code)), kAddress);
}

std::string listed(const std::vector<std::uint8_t>& code) {
  std::string text;
  for (const std::uint8_t byte : code) text += " " + std::to_string(byte);
  return text;
}

// Where the target is, or stands, by Zydis.
std::uint64_t by_zydis(const Instruction& one) {
  ZydisRegisterContext context{};
  for (std::size_t i = 0; i < kRegisters.size(); i++) context.values[kRegisters.at(i)] = value_of(i);
  const ZydisDecodedOperand& to = one.operands[0];
  if (to.type == ZYDIS_OPERAND_TYPE_REGISTER) return context.values[to.reg.value];
  ZyanU64 address = 0;
  EXPECT_TRUE(ZYAN_SUCCESS(ZydisCalcAbsoluteAddressEx(&one.decoded, &to, kAddress, &context, &address)));
  return address;
}

// The same by what the kernel side does, at the place of the probe.
std::uint64_t by_kernel_side(const IndirectJump& jump) {
  FunctionEnds ends;
  ends.ranges = {{kAddress, kAddress + 64}};
  const auto followed = followed_jump(jump, ends, kAddress);
  EXPECT_TRUE(followed);
  EXPECT_TRUE(usc_jump_is_sound(&*followed));
  std::array<__u64, USC_JUMP_REGISTERS> registers{};
  for (std::size_t i = 0; i < kRegisters.size(); i++) registers.at(i) = value_of(i);
  registers[USC_JUMP_PLACE] = probe_address(jump);
  return usc_jump_operand(&*followed, registers.data());
}

int forms_tried;

void expect_alike(const std::vector<std::uint8_t>& code) {
  const auto one = instruction_of(code);
  ASSERT_TRUE(one) << listed(code);
  const auto jump = indirect_jump(*one);
  ASSERT_TRUE(jump) << listed(code);
  EXPECT_EQ(jump->to.in_memory, one->operands[0].type == ZYDIS_OPERAND_TYPE_MEMORY);
  EXPECT_EQ(by_kernel_side(*jump), by_zydis(*one)) << listed(code);
  // What stands at the place of the probe is the same jump, with nothing that the kernel refuses.
  const auto probed = instruction_of({code.begin() + jump->prefixes, code.end()});
  ASSERT_TRUE(probed) << listed(code);
  EXPECT_TRUE(probed->is(ZYDIS_MNEMONIC_JMP) && can_be_probed(*probed)) << listed(code);
  EXPECT_EQ(probed->operands[0].type, one->operands[0].type);
  forms_tried++;
}

TEST(IndirectJump, AllEncodingsLeadWhereZydisSays) {
  std::vector<std::vector<std::uint8_t>> before = {{}, {0x3e}, {0xf2, 0x3e}, {0x2e, 0x36, 0x26}};
  for (const auto& prefixes : before)
    for (unsigned rex = 0x3f; rex <= 0x4f; rex++)
      for (unsigned mod = 0; mod < 4; mod++)
        for (unsigned rm = 0; rm < 8; rm++)
          for (unsigned sib = 0; sib < (mod != 3 && rm == 4 ? 256 : 1); sib++)
            for (const std::uint8_t displacement : {0x7f, 0xfe}) {
              std::vector<std::uint8_t> code = prefixes;
              if (rex >= 0x40) code.push_back(static_cast<std::uint8_t>(rex));
              code.push_back(0xff);
              code.push_back(static_cast<std::uint8_t>(mod << 6U | 4U << 3U | rm));
              if (mod != 3 && rm == 4) code.push_back(static_cast<std::uint8_t>(sib));
              const bool wide = mod == 2 || (mod == 0 && (rm == 5 || (rm == 4 && (sib & 7U) == 5)));
              for (int i = 0; i < (wide ? 4 : mod == 1 ? 1 : 0); i++) code.push_back(displacement);
              ASSERT_NO_FATAL_FAILURE(expect_alike(code));
            }
  EXPECT_EQ(forms_tried, 4 * 17 * 2 * (3 * (7 + 256) + 8));
}

TEST(IndirectJump, WhatCannotBeFollowedIsRefused) {
  const std::vector<std::vector<std::uint8_t>> refused = {
      {0x64, 0xff, 0x20},              // jmp *%fs:(%rax)
      {0x65, 0xff, 0x20},              // jmp *%gs:(%rax)
      {0x67, 0xff, 0x20},              // jmp *(%eax)
      {0x67, 0xff, 0x25, 0, 0, 0, 0},  // jmp *0(%eip)
      {0x66, 0xff, 0xe0},              // what becomes of the size depends on the processor
      {0xff, 0x28},                    // ljmp *(%rax)
      {0xff, 0xd0},                    // call *%rax
      {0xeb, 0x00},
  };
  for (const auto& code : refused) {
    const auto one = instruction_of(code);
    ASSERT_TRUE(one) << listed(code);
    EXPECT_FALSE(indirect_jump(*one)) << listed(code);
  }
}

TEST(IndirectJump, CodeThatIsTooFarApartIsRefused) {
  IndirectJump jump;
  jump.address = kAddress;
  jump.to.base = 0;
  FunctionEnds ends;
  ends.ranges = {{kAddress, kAddress + 64}, {kAddress + 0x7fff'0000, kAddress + 0x7fff'0010}};
  EXPECT_TRUE(followed_jump(jump, ends, kAddress));
  ends.ranges[1] = {kAddress + 0x8000'0000, kAddress + 0x8000'0010};
  EXPECT_FALSE(followed_jump(jump, ends, kAddress));
}

}  // namespace
}  // namespace uscope::symbolizer
