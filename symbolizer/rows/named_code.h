// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// Addresses of code that a file's data holds: functions, and labels of functions (`switch`, computed `goto`).
#pragma once

#include <libelf.h>

#include <cstdint>
#include <functional>
#include <vector>

#include "symbolizer/code/text_reader.h"
#include "symbolizer/elf/elf_facts.h"

namespace uscope::symbolizer {

// Those that `is_wanted` holds for, ascending: words that the dynamic linker fills in, and, in a program at a fixed
// address, all aligned words of data that look like one.
[[nodiscard]] std::vector<std::uint64_t> code_named_by_data(Elf* elf, const ElfFacts& facts, TextReader text,
                                                            const std::function<bool(std::uint64_t)>& is_wanted);

}  // namespace uscope::symbolizer
