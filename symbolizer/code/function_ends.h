// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// Where a function ends: its `ret` instructions, and its jumps to other functions (tail calls). Only what a walk from
// the entry reaches counts as code (code_walk.cpp), so that no probe is ever put into data or into the middle of an
// instruction: what does not fit together is refused.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "support/result.h"

namespace uscope::symbolizer {

// ELF addresses [low, high).
struct CodeRange {
  std::uint64_t low = 0;
  std::uint64_t high = 0;
};

// A direct jump to another function, or to the function's own entry, with which it goes on.
struct JumpOut {
  static constexpr std::uint8_t kAlways = 0;
  std::uint64_t address = 0;
  std::uint8_t condition = kAlways;  // else 1 more than what the opcode has: usc_condition_holds()
  bool again = false;                // to the entry
};

// Where an indirect jump (code/indirect_jump.h) finds its target: in a register, or in 8 bytes of memory at base +
// index * scale + offset.
struct JumpOperand {
  static constexpr std::uint8_t kNone = 0xff;
  static constexpr std::uint8_t kRip = 16;  // then base stands for the address of the next instruction
  bool in_memory = false;
  std::uint8_t base = kNone;  // DWARF numbers of registers; if not in memory: the register itself
  std::uint8_t index = kNone;
  std::uint8_t scale = 1;  // 1, 2, 4, 8
  std::int32_t offset = 0;
};

// `stays`: all its targets are known, and lie in the function (`switch`). Else it may lead anywhere: where it goes when
// it is hit, with the stack pointer as at the function's entry, says whether the function ends there.
struct IndirectJump {
  std::uint64_t address = 0;
  std::uint8_t length = 0;  // of the instruction, in bytes
  bool stays = false;
  // Bytes before the place where a probe may stand. The kernel probes no instruction with a segment's prefix, which
  // jumps have whose targets need not be marked (`notrack`). Behind it one may: a breakpoint is one byte, which such a
  // prefix does not change, and without the prefix the jump is the same, since Linux checks no marks of programs.
  std::uint8_t prefixes = 0;
  JumpOperand to;
  std::uint8_t condition = JumpOut::kAlways;
  bool pops = false;        // it takes its target from the stack
  bool may_return = false;  // a `ret`: if the stack pointer is there as at the entry, the function returns
  std::vector<std::uint64_t> targets = {};  // if it stays, and its table's length is known
};

struct FunctionEnds {
  std::vector<std::uint64_t> returns;  // ELF addresses of `ret` instructions
  std::vector<JumpOut> jumps;
  std::vector<IndirectJump> indirect;  // all of them
  std::vector<CodeRange> ranges;       // all code of the function: its main part first, then those that lie elsewhere
  // Why there may be data among the code, or code that the walk has not found the way to; empty: nothing speaks for
  // that. What the walk has reached is code nonetheless, unless the function is made to deceive.
  std::string doubt;
};

// What code outside of a function is that the function jumps to.
struct JumpTarget {
  enum class Is : std::uint8_t {
    kFunction,  // the beginning of another one
    kPart,      // code of this function that the compiler has put elsewhere (.cold), or that has no name
    kMiddle,    // the middle of another function
    kUnknown,
  };
  Is is = Is::kUnknown;
  CodeRange part;  // kPart: all of it
};

struct CodeSource {
  // All bytes of a range; fewer if they cannot be read.
  std::function<std::vector<std::byte>(const CodeRange&)> read;
  std::function<JumpTarget(std::uint64_t address)> target;
  // Where exceptions go on that are thrown in a range.
  std::function<std::vector<std::uint64_t>(const CodeRange&)> landing_pads;
  // A word of 4 or 8 bytes in the program's memory, as it is once the program is loaded (without the load address);
  // nothing: no file says so.
  std::function<std::optional<std::uint64_t>(std::uint64_t address, std::uint8_t bytes)> word;
  // Whether a function may return to who calls it.
  std::function<bool(std::uint64_t address)> returns;
  // Constants in instructions may be addresses of the program: it is loaded where the file says.
  bool is_at_fixed_address = false;
  // Nothing is wanted but the indirect jumps whose targets are known.
  bool only_jumps = false;
};

// The ends of a function, in order; none if it never returns. An error says in `what` why they cannot be known.
// `entry`: where the probe of its entry stands; 0: where it begins.
Result<FunctionEnds> find_function_ends(const CodeRange& function, const CodeSource& source, std::uint64_t entry = 0);

}  // namespace uscope::symbolizer
