// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "symbolizer/go/go_build_info.h"

#include <gelf.h>

#include <cstdint>
#include <cstring>
#include <span>
#include <string_view>

#include "symbolizer/elf/elf_sections.h"

namespace uscope::symbolizer {
namespace {

constexpr std::string_view kMagic = "\xff Go buildinf:";
constexpr std::size_t kFlags = 15;  // behind the size of pointers
constexpr std::size_t kHead = 32;
constexpr std::uint8_t kInline = 2;  // flag: the texts follow the head
constexpr std::size_t kSentinel = 16;
constexpr std::size_t kMost = 1U << 20;

using FileBytes = std::span<const std::uint8_t>;

std::string_view text_of(FileBytes bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

// A text behind its length, which is removed from `bytes`.
FileBytes take_text(FileBytes& bytes) {
  std::uint64_t length = 0;
  std::size_t at = 0;
  for (unsigned shift = 0; at < bytes.size() && shift < 63; shift += 7) {
    const std::uint8_t byte = bytes[at++];
    length |= std::uint64_t{byte & 0x7fU} << shift;
    if ((byte & 0x80) == 0) break;
  }
  bytes = bytes.subspan(at);
  const FileBytes text = bytes.first(std::min<std::uint64_t>(length, bytes.size()));
  bytes = bytes.subspan(text.size());
  return text;
}

// The bytes at an ELF address, up to the end of their segment.
FileBytes bytes_at(Elf* elf, std::uint64_t address, std::size_t most) {
  std::size_t count = 0;
  if (elf_getphdrnum(elf, &count) != 0) return {};
  for (std::size_t each = 0; each < count; each++) {
    GElf_Phdr segment;
    if (!gelf_getphdr(elf, static_cast<int>(each), &segment) || segment.p_type != PT_LOAD) continue;
    if (address < segment.p_vaddr || address - segment.p_vaddr >= segment.p_filesz) continue;
    const std::uint64_t into = address - segment.p_vaddr;
    const std::size_t size = std::min<std::uint64_t>(most, segment.p_filesz - into);
    const Elf_Data* data =
        elf_getdata_rawchunk(elf, static_cast<std::int64_t>(segment.p_offset + into), size, ELF_T_BYTE);
    if (!data || !data->d_buf) return {};
    return {static_cast<const std::uint8_t*>(data->d_buf), data->d_size};
  }
  return {};
}

std::uint64_t word_at(FileBytes bytes, std::size_t at) {
  std::uint64_t value = 0;
  if (bytes.size() >= at + sizeof(value)) std::memcpy(&value, bytes.data() + at, sizeof(value));
  return value;
}

// By the address of a text's address and length.
FileBytes pointed_text(Elf* elf, std::uint64_t address) {
  const FileBytes header = bytes_at(elf, address, 16);
  return header.size() < 16 ? FileBytes()
                            : bytes_at(elf, word_at(header, 0), std::min<std::uint64_t>(word_at(header, 8), kMost));
}

}  // namespace

std::string read_go_build_info(Elf* elf) {
  const SectionNames names(elf);
  for (Elf_Scn* section = nullptr; (section = elf_nextscn(elf, section));) {
    GElf_Shdr header;
    if (!gelf_getshdr(section, &header) || names.at(header.sh_name) != ".go.buildinfo") continue;
    FileBytes bytes = bytes_at(elf, header.sh_addr, std::min<std::uint64_t>(header.sh_size, kMost));
    if (bytes.size() < kHead || !text_of(bytes).starts_with(kMagic)) return "";
    FileBytes text;
    if ((bytes[kFlags] & kInline) != 0) {
      bytes = bytes.subspan(kHead);
      (void)take_text(bytes);  // Go's version
      text = take_text(bytes);
    } else {
      text = pointed_text(elf, word_at(bytes, kFlags + 1 + sizeof(std::uint64_t)));
    }
    // It stands between two marks.
    if (text.size() < 2 * kSentinel) return "";
    return std::string(text_of(text.subspan(kSentinel, text.size() - 2 * kSentinel)));
  }
  return "";
}

}  // namespace uscope::symbolizer
