// Unwind states of Go's functions, by its function table and, for the few functions that leave their stack, by their
// code. What each says:
// - CFA = rsp + delta + 8, the return address at CFA - 8 (pcsp's delta; funcspdelta in runtime/traceback.go).
// - rbp is saved at CFA - 16 where the function is seen to save it; where it opened a frame otherwise, rbp is unknown.
//   Go functions save no other register.
// - Ends of a stack, as runtime/traceback.go has them: functions marked as outermost (by name before Go 1.17), and, in
//   functions that write the stack pointer, the code behind that: they go over to another stack (systemstack, mcall,
//   morestack, asmcgocall, gogo, clone's child). Not sigtramp, though Go ends there: its caller is the signal frame.
// - Functions that keep the old stack pointer in a register meanwhile (calls into the vdso) or in memory (asmcgocall on
//   a thread's own stack) go on from there.
// - asyncPreempt and sigpanic are put between an interrupted instruction and the rest by signal handlers: what they
// return
//   to is that instruction.
// - The signal trampoline, and the call of vfork, whose return address is in a register.
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
  kStack,             // CFA = rsp + offset
  kRegister,          // CFA = reg + offset
  kSaved,             // CFA = *(rsp + offset) + 8
  kReturnInRegister,  // CFA = rsp, the return address in reg
  kRoot,
  kSignal,  // kSignalTrampolineRule
  kUnknown,
};

enum class GoFramePointer : std::uint8_t { kKept, kSaved, kUnknown };  // kSaved: at CFA - 16

// Holds from `start` up to the next one's start.
struct GoRow {
  std::uint64_t start = 0;
  GoRule rule = GoRule::kUnknown;
  GoFramePointer rbp = GoFramePointer::kKept;
  std::uint8_t reg = 0;  // DWARF number
  std::int64_t offset = 0;
  bool exact_ra = false;  // the return address is that of an interrupted instruction

  bool operator==(const GoRow&) const = default;
};

// The row as call frame information would say it; not for kSignal.
CfiState go_cfi_state(const GoRow& row);

// A function's rows and where its code ends (padding may follow). `code` are the function's bytes, or as many of them
// as there are, up to kGoMostCode. Empty where the table says nothing of the function. The rows of an outermost
// function, and those of a signal trampoline, are one.
constexpr std::size_t kGoMostCode = 4096;
struct GoFunctionRows {
  std::vector<GoRow> rows;
  std::uint64_t end = 0;
};
GoFunctionRows go_function_rows(const GoPclntab& table, const GoFunction& function, std::span<const std::byte> code,
                                std::uint64_t& steps);

// Whether a function's code must be seen in full: it writes the stack pointer, or is an end.
bool go_is_special(const GoFunction& function);

// Addresses at which the stack is not what pcsp, and so Go's .debug_frame, says: [start, end), by start.
struct GoRange {
  std::uint64_t start = 0;
  std::uint64_t end = 0;
};
using GoCode = std::function<std::span<const std::byte>(std::uint64_t address, std::size_t bytes)>;
std::vector<GoRange> go_untrue_cfi(const GoPclntab& table, const GoCode& code);

}  // namespace uscope::symbolizer
