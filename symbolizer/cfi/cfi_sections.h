// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// Reads the sections of an ELF file that hold call frame information, in full and bounded.
#pragma once

#include <string>
#include <vector>

#include "support/result.h"
#include "symbolizer/cfi/cfi_program.h"
#include "symbolizer/elf/elf_facts.h"

namespace uscope::symbolizer {

// Reads .eh_frame (by section, or by PT_GNU_EH_FRAME if there are no section headers), then .debug_frame
// (decompressed); at most 8 of them, each at most 512 MiB. Returns an error if one cannot be read; it is no error if
// there is none.
Result<std::vector<CfiSource>> read_cfi_sources(Elf* elf, const ElfFacts& facts, const std::string& name);

}  // namespace uscope::symbolizer
