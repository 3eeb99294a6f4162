// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// The few instructions of Go's functions that say where the stack is.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <span>

namespace uscope::symbolizer {

// The bytes of a function by address; 0 outside of it.
class GoFunctionCode {
 public:
  GoFunctionCode(std::uint64_t start, std::span<const std::byte> bytes) : start_(start), bytes_(bytes) {}

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

// The address from which the frame pointer is saved in the frame's highest word, for a frame of `delta` bytes opened by
// the instruction before `opened`; 0 if the code does not show it.
std::uint64_t frame_pointer_saved(const GoFunctionCode& code, std::uint64_t opened, std::int64_t delta);

// Whether the code after such a save makes that register the frame pointer from there on.
bool go_sets_frame_pointer(const GoFunctionCode& code, std::uint64_t saved, std::int64_t delta);

// The DWARF number of the register into which the instruction before `at` pops a word; 0: it is none of these.
std::uint8_t popped_register(const GoFunctionCode& code, std::uint64_t at);

enum class GoWrite : std::uint8_t { kNone, kStackPointer, kFramePointer, kToRegister, kToSlot };

// An instruction that affects where the stack is.
struct GoInstruction {
  GoWrite write = GoWrite::kNone;
  std::size_t length = 1;
  std::uint8_t reg = 0;   // kToRegister: the register that receives the stack pointer; kStackPointer: its source, or 0
  std::int64_t slot = 0;  // kToSlot: where the old stack pointer is stored, relative to the new one
};

GoInstruction read_go_instruction(const GoFunctionCode& code, std::uint64_t at);

bool is_callee_saved_register(std::uint8_t reg);

}  // namespace uscope::symbolizer
