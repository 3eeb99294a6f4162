// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "symbolizer/rows/v8_builtins.h"

#include <gelf.h>

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <string_view>

namespace uscope::symbolizer {
namespace {

constexpr std::uint64_t kMostBlobBytes = std::uint64_t{64} << 20;
constexpr std::size_t kMostSymbols = std::size_t{1} << 23;
constexpr const char* kInterface = "_ZN2v87Isolate10GetCurrentEv";  // v8::Isolate::GetCurrent()

struct Found {
  std::optional<std::uint64_t> code;
  std::optional<std::uint64_t> size;  // the address of the size, 4 bytes
  bool interface = false;
};

void look_at(Elf* elf, Elf_Scn* section, const GElf_Shdr& header, Found& found) {
  Elf_Data* data = elf_getdata(section, nullptr);
  if (data == nullptr || header.sh_entsize == 0) return;
  const std::size_t count = std::min<std::size_t>(data->d_size / header.sh_entsize, kMostSymbols);
  const bool dynamic = header.sh_type == SHT_DYNSYM;
  for (std::size_t i = 0; i < count && !(found.code && found.size && found.interface); i++) {
    GElf_Sym symbol{};
    if (gelf_getsym(data, static_cast<int>(i), &symbol) == nullptr || symbol.st_shndx == SHN_UNDEF) continue;
    const char* name = elf_strptr(elf, header.sh_link, symbol.st_name);
    if (name == nullptr) continue;
    if (dynamic && std::strcmp(name, kInterface) == 0) found.interface = true;
    if (std::strncmp(name, "v8_", 3) != 0) continue;
    const std::string_view text(name);
    if (text == "v8_Default_embedded_blob_code_") found.code = symbol.st_value;
    if (text == "v8_Default_embedded_blob_code_size_") found.size = symbol.st_value;
  }
}

std::optional<std::uint32_t> word_at(Elf* elf, std::uint64_t offset) {
  Elf_Data* data = elf_getdata_rawchunk(elf, static_cast<std::int64_t>(offset), sizeof(std::uint32_t), ELF_T_BYTE);
  if (data == nullptr || data->d_buf == nullptr || data->d_size < sizeof(std::uint32_t)) return std::nullopt;
  std::uint32_t word = 0;
  std::memcpy(&word, data->d_buf, sizeof(word));
  return word;
}

std::optional<OffsetRange> by_symbols(Elf* elf, const ElfFacts& facts, const Found& found) {
  if (!found.code || !found.size) return std::nullopt;
  const auto start = offset_of_address(facts.exec_segments, *found.code);
  const auto size_at = offset_of_address(facts.segments, *found.size);
  if (!start || !size_at) return std::nullopt;
  const auto size = word_at(elf, *size_at);
  if (!size || *size == 0 || *size > kMostBlobBytes) return std::nullopt;
  if (!offset_of_address(facts.exec_segments, *found.code + *size - 1)) return std::nullopt;
  return OffsetRange{*start, *start + *size};
}

}  // namespace

V8Facts v8_facts(Elf* elf, const ElfFacts& facts) {
  Found found;
  for (Elf_Scn* section = elf_nextscn(elf, nullptr); section != nullptr; section = elf_nextscn(elf, section)) {
    GElf_Shdr header{};
    if (gelf_getshdr(section, &header) == nullptr) return {};
    if (header.sh_type == SHT_SYMTAB || header.sh_type == SHT_DYNSYM) look_at(elf, section, header, found);
  }
  return {by_symbols(elf, facts, found), found.interface};
}

}  // namespace uscope::symbolizer
