// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// Where a function ends: its `ret` instructions, and its jumps to other functions (tail calls). All code of the
// function is decoded, so that no probe is ever put into the middle of an instruction: what does not fit together is
// refused.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <vector>

#include "support/result.h"

namespace uscope::symbolizer {

// ELF addresses [low, high).
struct CodeRange {
  std::uint64_t low = 0;
  std::uint64_t high = 0;
};

// A jump to another function, or one that may be: it is, if the stack pointer is there as at the function's entry.
struct JumpOut {
  static constexpr std::uint8_t kAlways = 0;
  std::uint64_t address = 0;
  std::uint8_t condition = kAlways;  // else 1 more than what the opcode has: usc_condition_holds()
};

struct FunctionEnds {
  std::vector<std::uint64_t> returns;  // ELF addresses of `ret` instructions
  std::vector<JumpOut> jumps;
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
};

// The ends of the function whose main part is given, in order; none if it never returns. An error says in `what` why
// they cannot be known. Indirect jumps are jumps out, unless they look as compilers make them of `switch`: with a
// table.
Result<FunctionEnds> find_function_ends(const CodeRange& function, const CodeSource& source);

}  // namespace uscope::symbolizer
