// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// What each instruction of a function does to its frame: to the stack pointer, to rbp, and to the registers that belong
// to the caller.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>

#include "symbolizer/code/instruction.h"
#include "uscope/rows.h"

namespace uscope::symbolizer {

struct FrameStep {
  enum class Kind : std::uint8_t {
    kOther,
    kPush,
    kPop,
    kMoveStackPointer,  // rsp += value
    kStackFromFrame,    // rsp = rbp + value
    kStackUnknown,      // rsp is set in another way
    kFrameFromStack,    // rbp = rsp + value
    kLeave,
    kReturn,    // and rsp += value besides
    kJump,      // to `target`
    kBranch,    // to `target`, or on
    kIndirect,  // a jump without a known target
    kCall,      // `target` 0: unknown
    kEnd,       // a trap
  };
  static constexpr std::uint8_t kNoRegister = 0xff;
  enum class Base : std::uint8_t { kNone, kStack, kFrame };

  std::uint64_t address = 0;
  std::uint64_t target = 0;
  std::int32_t value = 0;
  std::int32_t place = 0;  // of the memory that is read or written: base + place
  std::uint16_t bytes = 0;
  std::uint8_t length = 0;
  Kind kind = Kind::kOther;
  Base base = Base::kNone;
  bool stores = false;             // else it loads
  std::uint8_t reg = kNoRegister;  // that is pushed, popped, stored or loaded whole: number in USC_SAVED_REG's order
  std::uint8_t writes = 0;         // callee-saved registers: bits in that order
  bool is_system_call = false;
  bool is_nop = false;

  [[nodiscard]] std::uint64_t next() const { return address + length; }
};

[[nodiscard]] FrameStep frame_step(const Instruction& one);

}  // namespace uscope::symbolizer
