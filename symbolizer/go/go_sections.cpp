// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// Linkers put the table in a section of its own (.gopclntab, or .data.rel.ro.gopclntab if it needs relocations), unless
// GNU ld merges that into .data.rel.ro, and stripping may remove all section headers. Then the segments are searched.
// Not supported: tables above 512 MiB, and compressed relocations (DT_RELR, whose values lie in place and need none).
#include "symbolizer/go/go_sections.h"

#include <gelf.h>

#include <algorithm>
#include <cstring>
#include <string_view>

#include "support/byte_reader.h"
#include "symbolizer/elf/elf_sections.h"
#include "symbolizer/elf/machine.h"

namespace uscope::symbolizer {
namespace {

constexpr std::uint64_t kMaxTable = 512u << 20;
constexpr std::size_t kAlignment = 8;
constexpr unsigned kMostTried = 8;  // places in a file that look like the start of a table

struct Sections {
  std::vector<Segment> tables;  // sections that are tables by their name
  bool named = false;           // section names can be read at all
  bool go = false;              // there is another section that only Go's linker makes
};

Sections find_sections(Elf* elf) {
  Sections found;
  std::size_t count = 0;
  if (elf_getshdrnum(elf, &count) != 0 || count == 0) return found;
  const SectionNames names(elf);
  found.named = names.known();
  for (Elf_Scn* section = nullptr; (section = elf_nextscn(elf, section));) {
    GElf_Shdr header;
    if (!gelf_getshdr(section, &header)) continue;
    const std::string_view title = names.at(header.sh_name);
    if (title == ".go.buildinfo" || title == ".note.go.buildid") found.go = true;
    const bool table = title == ".gopclntab" || title == ".data.rel.ro.gopclntab";
    if (table && found.tables.size() < kMostTried && header.sh_type != SHT_NOBITS &&
        !(header.sh_flags & SHF_COMPRESSED))
      found.tables.push_back({header.sh_offset, header.sh_size, header.sh_addr});
  }
  return found;
}

std::span<const std::uint8_t> chunk(Elf* elf, std::uint64_t offset, std::uint64_t size) {
  if (size == 0 || size > kMaxTable || offset > INT64_MAX) return {};
  const Elf_Data* data = elf_getdata_rawchunk(elf, static_cast<std::int64_t>(offset), size, ELF_T_BYTE);
  if (!data || !data->d_buf) return {};
  return {static_cast<const std::uint8_t*>(data->d_buf), data->d_size};
}

bool is_executable(const ElfFacts& facts, const Segment& segment) {
  return std::any_of(facts.exec_segments.begin(), facts.exec_segments.end(),
                     [&](const Segment& exec) { return exec.offset == segment.offset; });
}

// Calls use(place, bytes) for each place where a table may begin, until it returns true.
template <typename Use>
void for_each_table(Elf* elf, const ElfFacts& facts, Use&& use) {
  const Sections sections = find_sections(elf);
  for (const Segment& place : sections.tables) {
    const auto bytes = chunk(elf, place.offset, place.size);
    if (GoPclntab::is_head(bytes) && use(place, bytes)) return;
  }
  if (!sections.tables.empty() || (sections.named && !sections.go)) return;
  unsigned tried = 0;
  for (const Segment& segment : facts.segments) {
    if (is_executable(facts, segment)) continue;
    const auto bytes = chunk(elf, segment.offset, segment.size);
    for (std::size_t at = 0; at + GoPclntab::kHeadBytes <= bytes.size(); at += kAlignment) {
      if (!GoPclntab::is_head(bytes.subspan(at, GoPclntab::kHeadBytes))) continue;
      const Segment place{segment.offset + at, segment.size - at, segment.address + at};
      if (use(place, bytes.subspan(at)) || ++tried == kMostTried) return;
    }
  }
}

// The loader's table of relocations, found through the dynamic segment, which needs no section headers.
std::span<const std::uint8_t> relocations(Elf* elf, const ElfFacts& facts) {
  std::size_t count = 0;
  if (elf_getphdrnum(elf, &count) != 0) return {};
  for (std::size_t i = 0; i < count; i++) {
    GElf_Phdr program;
    if (!gelf_getphdr(elf, static_cast<int>(i), &program) || program.p_type != PT_DYNAMIC) continue;
    ByteReader dynamic(chunk(elf, program.p_offset, program.p_filesz));
    std::uint64_t address = 0;
    std::uint64_t size = 0;
    while (dynamic.left() >= sizeof(Elf64_Dyn)) {
      const auto entry = dynamic.fixed<Elf64_Dyn>();
      if (entry.d_tag == DT_NULL) break;
      if (entry.d_tag == DT_RELA) address = entry.d_un.d_ptr;
      if (entry.d_tag == DT_RELASZ) size = entry.d_un.d_val;
    }
    const auto offset = offset_of_address(facts.segments, address);
    return offset ? chunk(elf, *offset, size) : std::span<const std::uint8_t>{};
  }
  return {};
}

void relocate(Elf* elf, const ElfFacts& facts, std::uint64_t address, std::vector<std::uint8_t>& bytes) {
  ByteReader table(relocations(elf, facts));
  while (table.left() >= sizeof(Elf64_Rela)) {
    const auto entry = table.fixed<Elf64_Rela>();
    if (ELF64_R_TYPE(entry.r_info) != kRelative || entry.r_offset < address) continue;
    const std::uint64_t into = entry.r_offset - address;
    if (into > bytes.size() || bytes.size() - into < sizeof(entry.r_addend)) continue;
    std::memcpy(bytes.data() + into, &entry.r_addend, sizeof(entry.r_addend));
  }
}

}  // namespace

std::optional<GoPclntab> read_go_pclntab(Elf* elf, const ElfFacts& facts) {
  std::optional<GoPclntab> found;
  for_each_table(elf, facts, [&](const Segment& place, std::span<const std::uint8_t> bytes) {
    std::vector<std::uint8_t> copy(bytes.begin(), bytes.end());
    if (facts.position_independent) relocate(elf, facts, place.address, copy);
    found = GoPclntab::parse(std::move(copy), facts.exec_segments, facts.entry);
    return found.has_value();
  });
  return found;
}

std::vector<std::uint8_t> go_pclntab_bytes(Elf* elf, const ElfFacts& facts) {
  std::vector<std::uint8_t> found;
  for_each_table(elf, facts, [&](const Segment&, std::span<const std::uint8_t> bytes) {
    found.insert(found.end(), bytes.begin(), bytes.end());
    return false;
  });
  return found;
}

}  // namespace uscope::symbolizer
