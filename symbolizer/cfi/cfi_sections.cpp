// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "symbolizer/cfi/cfi_sections.h"

#include <dwarf.h>
#include <endian.h>
#include <gelf.h>

#include "symbolizer/elf/elf_sections.h"

namespace uscope::symbolizer {
namespace {

constexpr std::uint64_t kMaxSectionBytes = 512u << 20;
constexpr std::size_t kMaxSources = 8;

Error section_error(const std::string& name, const std::string& section, const std::string& what) {
  return {name + ": section " + section + ": " + what, ""};
}

// Inflates a compressed section (SHF_COMPRESSED, or the older .zdebug_ form), after checking its declared size.
Result<void> decompress(Elf_Scn* section, const GElf_Shdr& header, const std::string& title, const std::string& name) {
  if (header.sh_flags & SHF_COMPRESSED) {
    GElf_Chdr compressed;
    if (!gelf_getchdr(section, &compressed)) return section_error(name, title, "bad compression header");
    if (compressed.ch_size > kMaxSectionBytes) return section_error(name, title, "too large when decompressed");
    if (elf_compress(section, 0, 0) < 0) return section_error(name, title, "cannot be decompressed");
    return {};
  }
  Elf_Data* raw = elf_rawdata(section, nullptr);
  if (!raw) return section_error(name, title, "bad compression header");
  ByteReader in(Bytes(static_cast<const std::uint8_t*>(raw->d_buf), raw->d_size));
  in.bytes(4);  // "ZLIB"
  const std::uint64_t size = be64toh(in.fixed<std::uint64_t>());
  if (!in.ok()) return section_error(name, title, "bad compression header");
  if (size > kMaxSectionBytes) return section_error(name, title, "too large when decompressed");
  if (elf_compress_gnu(section, 0, 0) < 0) return section_error(name, title, "cannot be decompressed");
  return {};
}

Result<CfiSource> read_section(Elf_Scn* section, const GElf_Shdr& header, const std::string& title,
                               const std::string& name) {
  if (header.sh_size > kMaxSectionBytes) return section_error(name, title, "too large");
  const bool compressed = (header.sh_flags & SHF_COMPRESSED) || title == ".zdebug_frame";
  if (compressed)
    if (auto inflated = decompress(section, header, title, name); !inflated) return inflated.error();
  Elf_Data* data = compressed ? elf_getdata(section, nullptr) : elf_rawdata(section, nullptr);
  if (!data || (data->d_size > 0 && !data->d_buf)) return section_error(name, title, "truncated");
  CfiSource source;
  source.address = header.sh_addr;
  source.eh_frame = title == ".eh_frame";
  source.title = "section " + title;
  const auto* bytes = static_cast<const std::uint8_t*>(data->d_buf);
  source.bytes.assign(bytes, bytes + data->d_size);
  return source;
}

Result<CfiSource> read_chunk(Elf* elf, std::uint64_t offset, std::uint64_t size, std::uint64_t address,
                             const std::string& name) {
  Elf_Data* data = size > kMaxSectionBytes
                       ? nullptr
                       : elf_getdata_rawchunk(elf, static_cast<std::int64_t>(offset), size, ELF_T_BYTE);
  if (!data || !data->d_buf) return Error{name + ": the unwind information that PT_GNU_EH_FRAME names is cut off", ""};
  CfiSource source;
  source.address = address;
  source.title = "the unwind information that PT_GNU_EH_FRAME names";
  const auto* bytes = static_cast<const std::uint8_t*>(data->d_buf);
  source.bytes.assign(bytes, bytes + data->d_size);
  return source;
}

// For a file without section headers: finds .eh_frame as the loader itself would. The header does not give its end; it
// ends with an entry of length 0, at the latest with its segment.
Result<std::vector<CfiSource>> read_by_program_header(Elf* elf, const ElfFacts& facts, const std::string& name) {
  std::vector<CfiSource> none;
  std::size_t count = 0;
  if (elf_getphdrnum(elf, &count) != 0) return none;
  for (std::size_t i = 0; i < count; i++) {
    GElf_Phdr program;
    if (!gelf_getphdr(elf, static_cast<int>(i), &program) || program.p_type != PT_GNU_EH_FRAME) continue;
    constexpr std::uint64_t kHeader = 8;  // version, three encodings, eh_frame_ptr
    if (program.p_filesz < kHeader) return none;
    auto header = read_chunk(elf, program.p_offset, kHeader, program.p_vaddr, name);
    if (!header) return header.error();
    ByteReader in(header->bytes);
    const auto version = in.fixed<std::uint8_t>();
    const auto encoding = in.fixed<std::uint8_t>();
    in.bytes(2);  // encodings of the table behind
    const std::uint64_t here = program.p_vaddr + in.offset();
    const std::uint64_t address = here + static_cast<std::uint64_t>(std::int64_t{in.fixed<std::int32_t>()});
    if (!in.ok() || version != 1 || encoding != (DW_EH_PE_pcrel | DW_EH_PE_sdata4)) return none;
    for (const Segment& segment : facts.segments) {
      if (address < segment.address || address - segment.address >= segment.size) continue;
      const std::uint64_t skip = address - segment.address;
      auto chunk = read_chunk(elf, segment.offset + skip, segment.size - skip, address, name);
      if (!chunk) return chunk.error();
      none.push_back(std::move(*chunk));
      return none;
    }
  }
  return none;
}

}  // namespace

Result<std::vector<CfiSource>> read_cfi_sources(Elf* elf, const ElfFacts& facts, const std::string& name) {
  std::vector<CfiSource> eh_frames;
  std::vector<CfiSource> debug_frames;
  const SectionNames names(elf);
  for (Elf_Scn* section = nullptr; names.known() && (section = elf_nextscn(elf, section));) {
    GElf_Shdr header;
    if (!gelf_getshdr(section, &header) || header.sh_type == SHT_NOBITS) continue;
    const std::string title(names.at(header.sh_name));
    const bool is_eh = title == ".eh_frame";
    if (!is_eh && title != ".debug_frame" && title != ".zdebug_frame") continue;
    if (eh_frames.size() + debug_frames.size() >= kMaxSources) break;
    auto source = read_section(section, header, title, name);
    if (!source) return source.error();
    (is_eh ? eh_frames : debug_frames).push_back(std::move(*source));
  }
  if (eh_frames.empty()) {
    auto found = read_by_program_header(elf, facts, name);
    if (!found) return found.error();
    eh_frames = std::move(*found);
  }
  for (CfiSource& source : debug_frames) eh_frames.push_back(std::move(source));
  return eh_frames;
}

}  // namespace uscope::symbolizer
