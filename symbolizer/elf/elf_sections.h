// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// The sections of an ELF file that contain names, found once, with every bound checked.
#pragma once

#include <gelf.h>

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "symbolizer/elf/elf_handles.h"

namespace uscope::symbolizer {

struct ElfSection {
  Elf_Scn* handle = nullptr;
  std::string name;
  GElf_Shdr header{};

  [[nodiscard]] bool executable() const { return (header.sh_flags & SHF_EXECINSTR) != 0; }
  [[nodiscard]] std::uint64_t end() const { return header.sh_addr + header.sh_size; }
};

// All sections by index, including the null section. Empty if the file has none. Sections whose size or address wraps
// around have type SHT_NULL in the result; at most 65,536 are read.
std::vector<ElfSection> read_sections(Elf* elf);

// The names of sections, from a table that is read once; valid as long as the handle. (elf_strptr searches the table's
// last NUL at each call, which is slow for a hostile table.)
class SectionNames {
 public:
  explicit SectionNames(Elf* elf);
  // The name at sh_name, cut after the longest name that matters here; empty if there is none.
  [[nodiscard]] std::string_view at(std::uint64_t offset) const;
  [[nodiscard]] bool known() const { return !texts_.empty(); }

 private:
  std::string_view texts_;
};

// The section's bytes as `type` (ELF_T_BYTE for raw ones), owned by libelf and valid as long as its Elf. Returns null
// if the section has no bytes in the file, is compressed, or reaches beyond `limit` bytes.
Elf_Data* section_data(const ElfSection& section, std::uint64_t limit);

}  // namespace uscope::symbolizer
