// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// Unwind states of Go functions, from its function table and, for the few functions that switch stacks, from their
// code. The rules:
// - CFA = sp + delta + 8, the return address at CFA - 8 (pcsp's delta; funcspdelta in runtime/traceback.go).
// - fp is saved at CFA - 16 if the function's code shows that it saves it; if the function opened a frame in another
//   way, fp is unknown. Go functions save no other register.
// - A stack ends, as in runtime/traceback.go, in functions marked as outermost (by name before Go 1.17) and, in
//   functions that write the stack pointer, after that write: they switch to another stack (systemstack, mcall,
//   morestack, asmcgocall, gogo, clone's child). sigtramp is an exception, though Go ends there: its caller is the
//   signal frame.
// - Functions that meanwhile keep the old stack pointer in a register (calls into the vdso) or in memory (asmcgocall on
//   a thread's own stack) are unwound from there.
// - Signal handlers insert asyncPreempt and sigpanic after an interrupted instruction: their return address is that
//   instruction.
// - The signal trampoline, and the vfork call, whose return address is in a register, have their own rules.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <vector>

#include "symbolizer/cfi/cfi_program.h"
#include "symbolizer/go/go_pclntab.h"

namespace uscope::symbolizer {

enum class GoRule : std::uint8_t {
  kStack,             // CFA = sp + offset
  kRegister,          // CFA = reg + offset
  kSaved,             // CFA = *(sp + offset) + 8
  kReturnInRegister,  // CFA = sp, the return address in reg
  kRoot,
  kSignal,  // kSignalTrampolineRule
  kUnknown,
};

enum class GoFramePointer : std::uint8_t { kKept, kSaved, kUnknown };  // kSaved: at CFA - 16

// A row holds from `start` up to the next row's start.
struct GoRow {
  std::uint64_t start = 0;
  GoRule rule = GoRule::kUnknown;
  GoFramePointer fp = GoFramePointer::kKept;
  std::uint8_t reg = 0;  // DWARF number
  std::int64_t offset = 0;
  bool exact_ra = false;  // the return address is that of an interrupted instruction

  bool operator==(const GoRow&) const = default;
};

// The row as a state of call frame information; not for kSignal.
CfiState go_cfi_state(const GoRow& row);

// A function's rows and the end of its code (padding may follow). `code` holds the function's bytes, or as many as are
// available, up to kGoMostCode. Empty if the table has nothing on the function. An outermost function, and a signal
// trampoline, has one row.
constexpr std::size_t kGoMostCode = 4096;
struct GoFunctionRows {
  std::vector<GoRow> rows;
  std::uint64_t end = 0;
};
GoFunctionRows go_function_rows(const GoPclntab& table, const GoFunction& function, std::span<const std::byte> code,
                                std::uint64_t& steps);

// Whether a function's whole code must be examined: it writes the stack pointer, or ends a stack.
bool go_is_special(const GoFunction& function);

// Addresses at which pcsp, and so Go's .debug_frame, is wrong about the stack: [start, end), by start.
struct GoRange {
  std::uint64_t start = 0;
  std::uint64_t end = 0;
};
using GoCode = std::function<std::span<const std::byte>(std::uint64_t address, std::size_t bytes)>;
std::vector<GoRange> go_untrue_cfi(const GoPclntab& table, const GoCode& code);

}  // namespace uscope::symbolizer
