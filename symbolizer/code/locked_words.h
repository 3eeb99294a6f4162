// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// Which variables a function of libc's locks, from its code: by these its locks are known where libc has no names.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "symbolizer/code/program_start.h"

namespace uscope::symbolizer {

// The ELF addresses of the words at fixed places that the function compares and exchanges (cmpxchg), in ascending
// order. The place stands in the instruction, or an instruction of the function puts it into the register (lea), or the
// function passes it to one that compares and exchanges what its first argument points to (musl's __lock). Words that
// are only read, or only let go of (xchg, xadd), do not count. Code is read in the order of its addresses up to what is
// no instruction.
[[nodiscard]] std::vector<std::uint64_t> locked_words(std::span<const std::byte> code, std::uint64_t address,
                                                      const CodeAt& code_at);

}  // namespace uscope::symbolizer
