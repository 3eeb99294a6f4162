// The sections of an ELF file that names are read from, found once, with every bound checked.
#pragma once

#include <gelf.h>

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "symbolizer/elf_handles.h"

namespace uscope::symbolizer {

struct ElfSection {
  Elf_Scn* handle = nullptr;
  std::string name;
  GElf_Shdr header{};

  [[nodiscard]] bool executable() const { return (header.sh_flags & SHF_EXECINSTR) != 0; }
  [[nodiscard]] std::uint64_t end() const { return header.sh_addr + header.sh_size; }
};

// All sections by index, the null section included. Empty where the file has none. Sections whose size or address wraps
// around are given with type SHT_NULL; at most 65,536 are read.
std::vector<ElfSection> read_sections(Elf* elf);

// The section's bytes as `type` (ELF_T_BYTE for raw ones), owned by libelf and valid as long as its Elf. Null where the
// section holds no bytes in the file, is compressed, or reaches beyond `limit` bytes.
Elf_Data* section_data(const ElfSection& section, std::uint64_t limit);

}  // namespace uscope::symbolizer
