// Where an ELF file holds Go's function table.
#pragma once

#include <optional>
#include <string>

#include "symbolizer/elf/elf_facts.h"
#include "symbolizer/go/go_pclntab.h"

namespace uscope::symbolizer {

// The table by its section's name; where there is no such section, but the file is Go's or has no section headers, by
// its first bytes. Addresses in position-independent programs are those that the loader's relocations give. Nothing
// where the file is not Go's, or its table is damaged.
std::optional<GoPclntab> read_go_pclntab(Elf* elf, const ElfFacts& facts);

// The bytes that read_go_pclntab() would look at, without relocations: what a cache's key must cover. Empty where it
// would find nothing.
std::vector<std::uint8_t> go_pclntab_bytes(Elf* elf, const ElfFacts& facts);

}  // namespace uscope::symbolizer
