// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "symbolizer/code/locked_words.h"

#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <set>

#include "symbolizer/code/instruction.h"

namespace uscope::symbolizer {
namespace {

constexpr std::size_t kArgument = 7;  // rdi
constexpr std::size_t kRegisters = 16;

std::optional<std::uint64_t> fixed_place(const Instruction& one, const ZydisDecodedOperand& operand) {
  ZyanU64 place = 0;
  if (operand.type != ZYDIS_OPERAND_TYPE_MEMORY || operand.mem.base != ZYDIS_REGISTER_RIP ||
      !ZYAN_SUCCESS(ZydisCalcAbsoluteAddress(&one.decoded, &operand, one.address, &place)))
    return std::nullopt;
  return std::uint64_t{place};
}

// The register into which `lea word(%rip),%reg` puts an address.
std::optional<std::size_t> loaded_register(const Instruction& one) {
  const auto& to = one.operands[0];
  if (!one.is(ZYDIS_MNEMONIC_LEA) || to.type != ZYDIS_OPERAND_TYPE_REGISTER) return std::nullopt;
  return general_register(to.reg.value);
}

// The register that `mov %reg,%rdi` makes the first argument.
std::optional<std::size_t> source_of_argument(const Instruction& one) {
  const auto& to = one.operands[0];
  const auto& from = one.operands[1];
  if (!one.is(ZYDIS_MNEMONIC_MOV) || to.type != ZYDIS_OPERAND_TYPE_REGISTER || to.reg.value != ZYDIS_REGISTER_RDI ||
      from.type != ZYDIS_OPERAND_TYPE_REGISTER)
    return std::nullopt;
  return general_register(from.reg.value);
}

bool writes(const Instruction& one, std::size_t reg) {
  const auto all = one.all();
  return std::any_of(all.begin(), all.end(), [&](const ZydisDecodedOperand& operand) {
    return operand.type == ZYDIS_OPERAND_TYPE_REGISTER && (operand.actions & ZYDIS_OPERAND_ACTION_MASK_WRITE) != 0 &&
           general_register(operand.reg.value) == reg;
  });
}

// Whether the memory operand is the 32 bits that a register points to, `disp` bytes further on.
std::optional<std::pair<std::size_t, std::int64_t>> place_by_register(const ZydisDecodedOperand& operand) {
  if (operand.type != ZYDIS_OPERAND_TYPE_MEMORY || operand.mem.index != ZYDIS_REGISTER_NONE || operand.size != 32)
    return std::nullopt;
  const auto reg = general_register(operand.mem.base);
  if (!reg) return std::nullopt;
  return std::pair(*reg, std::int64_t{operand.mem.disp.value});
}

// Whether a function begins so that it compares and exchanges what its first argument points to.
bool locks_its_argument(std::span<const std::byte> code, std::uint64_t address) {
  bool found = false;
  for_each_instruction(code, address, [&](const Instruction& one) {
    if (one.is(ZYDIS_MNEMONIC_CMPXCHG) && place_by_register(one.operands[0]) == std::pair(kArgument, std::int64_t{}))
      found = true;
    return !found && !writes(one, kArgument) && !one.is(ZYDIS_MNEMONIC_CALL) && !leaves_for_good(one);
  });
  return found;
}

}  // namespace

std::vector<std::uint64_t> locked_words(std::span<const std::byte> code, std::uint64_t address, const CodeAt& code_at) {
  constexpr std::size_t kBeginning = 160;  // of a function that is called
  std::set<std::uint64_t> words;
  std::array<std::set<std::uint64_t>, kRegisters> loaded;  // places that each register has somewhere in the function
  std::set<std::pair<std::size_t, std::int64_t>> exchanged;
  std::set<std::uint64_t> argument;  // places of which the first argument is one
  std::map<std::uint64_t, bool> called;
  for_each_instruction(code, address, [&](const Instruction& one) {
    const auto reg = loaded_register(one);
    const auto place = reg ? fixed_place(one, one.operands[1]) : std::nullopt;
    if (place) loaded.at(*reg).insert(*place);
    if (one.is(ZYDIS_MNEMONIC_CMPXCHG)) {
      if (const auto word = fixed_place(one, one.operands[0]); word && one.operands[0].size == 32) words.insert(*word);
      if (const auto by_register = place_by_register(one.operands[0])) exchanged.insert(*by_register);
    }
    const auto target = direct_target(one);
    if (target && !argument.empty()) {
      const auto [known, is_new] = called.try_emplace(*target, false);
      if (is_new) known->second = locks_its_argument(code_at(*target, kBeginning), *target);
      if (known->second) words.insert(argument.begin(), argument.end());
    }
    // Behind a jump or a call it is not known what the register has.
    if (place && *reg == kArgument)
      argument = {*place};
    else if (const auto from = source_of_argument(one))
      argument = loaded.at(*from);
    else if (target || writes(one, kArgument) || leaves_for_good(one))
      argument.clear();
    return true;
  });
  for (const auto& [reg, offset] : exchanged)
    for (const std::uint64_t place : loaded.at(reg)) words.insert(place + static_cast<std::uint64_t>(offset));
  return {words.begin(), words.end()};
}

}  // namespace uscope::symbolizer
