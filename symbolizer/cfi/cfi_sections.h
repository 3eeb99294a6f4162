// The sections of an ELF file that hold call frame information, read in full and bounded.
#pragma once

#include <string>
#include <vector>

#include "support/result.h"
#include "symbolizer/cfi/cfi_program.h"
#include "symbolizer/elf/elf_facts.h"

namespace uscope::symbolizer {

// .eh_frame (by section, or by PT_GNU_EH_FRAME where the section headers are gone), then .debug_frame (decompressed).
// Not more than 8 of them, each of at most 512 MiB; one that cannot be read is an error, none at all is not.
Result<std::vector<CfiSource>> read_cfi_sources(Elf* elf, const ElfFacts& facts, const std::string& name);

}  // namespace uscope::symbolizer
