// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// What registers and stack slots hold on one path through a function, as far as it takes to understand the tables of a
// `switch`: constants (addresses of tables), numbers that are known not to be larger than another one, and what is
// loaded from a table by such a number. Anything else is unknown.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "symbolizer/code/instruction.h"

namespace uscope::symbolizer {

struct Value {
  static constexpr std::uint64_t kNoLimit = UINT64_MAX;
  enum class Is : std::uint8_t {
    kNumber,    // unknown, but for `most`
    kConstant,  // `at`
    kStack,     // `at` bytes above the stack pointer at the entry, or above that of another `id`
    kScaled,    // number * scale
    kPlace,     // at + number * scale
    kEntry,     // what the memory at kPlace holds
    kSum,       // `base` + that
  };
  Is is = Is::kNumber;
  std::uint8_t scale = 1;
  std::uint8_t bytes = 8;  // kEntry, kSum: of what was loaded
  bool is_signed = false;  // the same
  std::uint32_t id = 0;    // of a number: equal ids are equal numbers
  std::uint64_t most = kNoLimit;
  std::uint64_t at = 0;
  std::uint64_t base = 0;
};

class RegisterValues {
 public:
  RegisterValues();

  // What they hold after the instruction.
  void follow(const Instruction& one);
  // What a jump with a condition says of what was compared before it.
  void assume(const Instruction& jump, bool taken);

  [[nodiscard]] Value of(ZydisRegister reg) const;
  // The address that an operand of memory stands for.
  [[nodiscard]] Value address_of(const Instruction& one, const ZydisDecodedOperand& memory) const;
  // What the memory holds that an operand stands for; not kept for later.
  [[nodiscard]] Value loaded_by(const Instruction& one, const ZydisDecodedOperand& memory) const;

 private:
  struct Slot {
    std::uint32_t frame = 0;
    std::uint64_t at = 0;
    Value value;
  };
  // Memory that was read and not written since: by what its address is made of.
  struct Seen {
    std::array<std::uint64_t, 4> key{};
    std::uint8_t bytes = 0;
    Value value;
  };

  [[nodiscard]] Value fresh(std::uint64_t most = Value::kNoLimit) const;
  void set(ZydisRegister reg, const Value& value);
  void set_unknown(const Instruction& one);
  void move(const Instruction& one);
  void load(const Instruction& one, const ZydisDecodedOperand& memory, std::uint8_t bytes, bool is_signed, Value& out);
  void store(const Instruction& one, const ZydisDecodedOperand& memory, const Value& value);
  void add(const Instruction& one);
  void shift_or_mask(const Instruction& one);
  void compare(const Instruction& one);
  void call();
  void push(const Value& value);
  [[nodiscard]] std::optional<Value> slot(const Value& address) const;
  void set_slot(const Value& address, const Value& value);
  [[nodiscard]] Value source(const Instruction& one, const ZydisDecodedOperand& operand);
  [[nodiscard]] std::array<std::uint64_t, 4> key_of(const Instruction& one, const ZydisDecodedOperand& memory) const;
  void limit(std::uint32_t id, std::uint64_t most);

  mutable std::uint32_t next_id_ = 1;
  std::array<Value, 16> registers_;
  std::vector<Slot> slots_;
  std::vector<Seen> seen_;
  // What the flags are of: a number and a constant that were compared; id 0: something else.
  std::uint32_t compared_id_ = 0;
  std::uint64_t compared_with_ = 0;
};

}  // namespace uscope::symbolizer
