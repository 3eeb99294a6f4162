// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// Locates Go's function table in an ELF file.
#pragma once

#include <optional>
#include <string>

#include "symbolizer/elf/elf_facts.h"
#include "symbolizer/go/go_pclntab.h"

namespace uscope::symbolizer {

// Finds the table by its section's name; if there is no such section, but the file is a Go program or has no section
// headers, by its first bytes. In position-independent programs addresses come from the loader's relocations. Returns
// nullopt if the file is not a Go program, or its table is damaged.
std::optional<GoPclntab> read_go_pclntab(Elf* elf, const ElfFacts& facts);

// The bytes that read_go_pclntab() would read, without relocations: a cache's key must cover them. Empty if it would
// find nothing.
std::vector<std::uint8_t> go_pclntab_bytes(Elf* elf, const ElfFacts& facts);

}  // namespace uscope::symbolizer
