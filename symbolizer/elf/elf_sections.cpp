// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "symbolizer/elf/elf_sections.h"

#include <string>
#include <string_view>

namespace uscope::symbolizer {
namespace {

constexpr std::size_t kMaxSections = 65536;
constexpr std::size_t kMaxSectionName = 64;

constexpr std::uint64_t kMaxNames = 16u << 20;  // bytes of the table of section names

}  // namespace

SectionNames::SectionNames(Elf* elf) {
  std::size_t number = 0;
  ElfSection names;
  if (elf_getshdrstrndx(elf, &number) != 0) return;
  names.handle = elf_getscn(elf, number);
  if (names.handle == nullptr || gelf_getshdr(names.handle, &names.header) == nullptr) return;
  const Elf_Data* data = names.header.sh_type == SHT_STRTAB ? section_data(names, kMaxNames) : nullptr;
  if (data != nullptr) texts_ = std::string_view(static_cast<const char*>(data->d_buf), data->d_size);
}

std::string_view SectionNames::at(std::uint64_t offset) const {
  if (offset >= texts_.size()) return "";
  const std::string_view name = texts_.substr(offset, kMaxSectionName);
  return name.substr(0, name.find('\0'));
}

std::vector<ElfSection> read_sections(Elf* elf) {
  std::vector<ElfSection> sections;
  std::size_t count = 0;
  if (elf_getshdrnum(elf, &count) != 0) return sections;
  const SectionNames names(elf);
  for (std::size_t i = 0; i < count && i < kMaxSections; i++) {
    ElfSection section;
    section.handle = elf_getscn(elf, i);
    if (section.handle == nullptr || gelf_getshdr(section.handle, &section.header) == nullptr) {
      section.header = GElf_Shdr{};
    } else if (section.header.sh_addr + section.header.sh_size < section.header.sh_addr) {
      section.header.sh_type = SHT_NULL;
    }
    section.name = names.at(section.header.sh_name);
    sections.push_back(std::move(section));
  }
  return sections;
}

Elf_Data* section_data(const ElfSection& section, std::uint64_t limit) {
  const GElf_Shdr& header = section.header;
  if (section.handle == nullptr || header.sh_type == SHT_NULL || header.sh_type == SHT_NOBITS) return nullptr;
  if ((header.sh_flags & SHF_COMPRESSED) != 0 || header.sh_size == 0 || header.sh_size > limit) return nullptr;
  Elf_Data* data = elf_getdata(section.handle, nullptr);
  return data != nullptr && data->d_buf != nullptr ? data : nullptr;
}

}  // namespace uscope::symbolizer
