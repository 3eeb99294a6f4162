#include "symbolizer/symbols_sections.h"

namespace uscope::symbolizer {
namespace {

constexpr std::size_t kMaxSections = 65536;
constexpr std::size_t kMaxSectionName = 64;

}  // namespace

std::vector<ElfSection> read_sections(Elf* elf) {
  std::vector<ElfSection> sections;
  std::size_t count = 0;
  std::size_t names = 0;
  if (elf_getshdrnum(elf, &count) != 0 || elf_getshdrstrndx(elf, &names) != 0) return sections;
  for (std::size_t i = 0; i < count && i < kMaxSections; i++) {
    ElfSection section;
    section.handle = elf_getscn(elf, i);
    if (section.handle == nullptr || gelf_getshdr(section.handle, &section.header) == nullptr) {
      section.header = GElf_Shdr{};
    } else if (section.header.sh_addr + section.header.sh_size < section.header.sh_addr) {
      section.header.sh_type = SHT_NULL;
    }
    const char* name = section.handle != nullptr ? elf_strptr(elf, names, section.header.sh_name) : nullptr;
    if (name != nullptr) section.name = std::string(name).substr(0, kMaxSectionName);
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
