// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// Code is read in the order of its addresses; jumps are not followed. That is enough for the short functions in
// question, and for what else they may be the answer is "no".
#include "symbolizer/code/program_start.h"

#include <algorithm>
#include <array>
#include <map>
#include <utility>

#include "symbolizer/code/instruction.h"

namespace uscope::symbolizer {
namespace {

constexpr std::size_t kMostStart = 128;
constexpr int kMostCalls = 3;  // _start, _start_c, and one more

// The address that an instruction puts into a register: `lea main(%rip),%rdi`, `mov $main,%rdi`.
std::optional<std::pair<std::size_t, std::uint64_t>> address_taken(const Instruction& one) {
  const auto& to = one.operands[0];
  const auto& from = one.operands[1];
  if (to.type != ZYDIS_OPERAND_TYPE_REGISTER) return std::nullopt;
  const auto into = general_register(to.reg.value);
  if (!into) return std::nullopt;
  if (one.is(ZYDIS_MNEMONIC_MOV) && from.type == ZYDIS_OPERAND_TYPE_IMMEDIATE)
    return std::pair(*into, from.imm.value.u);
  ZyanU64 address = 0;
  if (!one.is(ZYDIS_MNEMONIC_LEA) || from.mem.base != ZYDIS_REGISTER_RIP ||
      !ZYAN_SUCCESS(ZydisCalcAbsoluteAddress(&one.decoded, &from, one.address, &address)))
    return std::nullopt;
  return std::pair(*into, std::uint64_t{address});
}

bool is_call_or_jump(const Instruction& one) {
  return one.is(ZYDIS_MNEMONIC_CALL) || one.is(ZYDIS_MNEMONIC_JMP);
}

constexpr std::size_t kFirstArgument = 7;
constexpr std::size_t kSecondArgument = 6;

// Which registers and stack slots hold main()'s arguments.
class Arguments {
 public:
  Arguments() {
    registers_[kFirstArgument] = Holds::kCount;
    registers_[kSecondArgument] = Holds::kTexts;
  }

  [[nodiscard]] bool are_passed() const {
    return registers_[kFirstArgument] == Holds::kCount && registers_[kSecondArgument] == Holds::kTexts;
  }

  void follow(const Instruction& one) {
    if (one.is(ZYDIS_MNEMONIC_CALL)) return call();
    const auto& to = one.operands[0];
    const auto& from = one.operands[1];
    if (one.is(ZYDIS_MNEMONIC_MOV) || one.is(ZYDIS_MNEMONIC_MOVSXD)) {
      const Holds value = value_of(from);
      if (to.type == ZYDIS_OPERAND_TYPE_MEMORY) {
        if (const auto slot = slot_of(to)) slots_[*slot] = value;
        return;
      }
      if (const auto into = register_of(to)) registers_[*into] = value;
      return;
    }
    for (const ZydisDecodedOperand& operand : one.all())
      if ((operand.actions & ZYDIS_OPERAND_ACTION_MASK_WRITE) != 0)
        if (const auto written = register_of(operand)) registers_[*written] = Holds::kOther;
  }

 private:
  enum class Holds : std::uint8_t { kOther, kCount, kTexts };
  using Slot = std::pair<ZydisRegister, std::int64_t>;

  static std::optional<std::size_t> register_of(const ZydisDecodedOperand& operand) {
    return operand.type == ZYDIS_OPERAND_TYPE_REGISTER ? general_register(operand.reg.value) : std::nullopt;
  }

  static std::optional<Slot> slot_of(const ZydisDecodedOperand& operand) {
    if (operand.type != ZYDIS_OPERAND_TYPE_MEMORY || operand.mem.index != ZYDIS_REGISTER_NONE) return std::nullopt;
    if (operand.mem.base != ZYDIS_REGISTER_RSP && operand.mem.base != ZYDIS_REGISTER_RBP) return std::nullopt;
    return Slot(operand.mem.base, operand.mem.disp.value);
  }

  [[nodiscard]] Holds value_of(const ZydisDecodedOperand& operand) const {
    if (const auto of = register_of(operand)) return registers_[*of];
    const auto slot = slot_of(operand);
    const auto found = slot ? slots_.find(*slot) : slots_.end();
    return found == slots_.end() ? Holds::kOther : found->second;
  }

  // rbx, rbp and r12 to r15 stay as they are.
  void call() {
    for (std::size_t each = 0; each < registers_.size(); each++)
      if (each != 3 && each != 5 && each < 12) registers_[each] = Holds::kOther;
  }

  std::array<Holds, 16> registers_{};
  std::map<Slot, Holds> slots_;
};

}  // namespace

std::optional<ProgramStart> find_program_start(const CodeAt& code_at, std::uint64_t entry) {
  for (int calls = 0; calls < kMostCalls; calls++) {
    const std::vector<std::byte> code = code_at(entry, kMostStart);
    std::optional<std::uint64_t> first_argument;
    std::optional<std::uint64_t> called;
    for_each_instruction(code, entry, [&](const Instruction& one) {
      if (is_call_or_jump(one)) {
        called = direct_target(one);
        return false;
      }
      if (const auto taken = address_taken(one); taken && taken->first == kFirstArgument)
        first_argument = taken->second;
      return true;
    });
    if (!called) return std::nullopt;
    if (first_argument) return ProgramStart{*first_argument, *called};
    entry = *called;
  }
  return std::nullopt;
}

std::uint64_t find_libc_start(std::span<const std::byte> code, const ProgramStart& start, std::uint64_t entry) {
  constexpr std::uint64_t kStart = 64;  // bytes of crt1.o: _start, _dl_relocate_static_pie
  const std::uint64_t above = std::max(entry + kStart, start.main);
  std::uint64_t lowest = start.start_main;
  for_each_instruction(code, start.start_main, [&](const Instruction& one) {
    std::optional<std::uint64_t> target = is_call_or_jump(one) ? direct_target(one) : std::nullopt;
    if (const auto taken = address_taken(one)) target = taken->second;
    if (target && *target > above) lowest = std::min(lowest, *target);
    return true;
  });
  return lowest;
}

bool hands_arguments_over(std::span<const std::byte> code, std::uint64_t main,
                          const std::function<bool(std::uint64_t called)>& is_imported) {
  Arguments arguments;
  bool found = false;
  for_each_instruction(code, main, [&](const Instruction& one) {
    if (is_call_or_jump(one) && arguments.are_passed()) {
      const auto target = direct_target(one);
      found = target && is_imported(*target);
      if (one.is(ZYDIS_MNEMONIC_CALL) && one.operands[0].type == ZYDIS_OPERAND_TYPE_MEMORY) found = true;
    }
    arguments.follow(one);
    return !found;
  });
  return found;
}

}  // namespace uscope::symbolizer
