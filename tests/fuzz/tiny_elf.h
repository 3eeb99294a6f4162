// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// A small ELF program around call frame information: one executable segment over all of the file.
#pragma once

#include <elf.h>

#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <vector>

namespace uscope::fuzz {

constexpr std::uint64_t kTinyText = 0x1000;  // file offset and address of its code
constexpr std::uint64_t kTinyTextBytes = 0x2000;

inline std::vector<std::uint8_t> tiny_elf(const char* section, std::span<const std::uint8_t> frames) {
  static const std::string names = std::string("\0.eh_frame\0.debug_frame\0.shstrtab\0", 34);
  std::vector<std::uint8_t> file(kTinyText + kTinyTextBytes, 0x90);
  // A system call instruction at the end of each 64 bytes, and the start of makecontext's return code now and then.
  for (std::size_t at = kTinyText + 64; at + 64 < file.size(); at += 64) std::memcpy(&file[at - 2], "\x0f\x05", 2);
  std::memcpy(&file[kTinyText + 0x800], "\x48\x89\xdc\x48\x8b\x3c\x24\x48\x85\xff\x74", 11);
  const auto put = [&](const void* bytes, std::size_t count) {
    const std::size_t at = file.size();
    const auto* from = static_cast<const std::uint8_t*>(bytes);
    file.insert(file.end(), from, from + count);
    return at;
  };
  const std::size_t frames_at = put(frames.data(), frames.size());
  const std::size_t names_at = put(names.data(), names.size());
  file.resize((file.size() + 7) / 8 * 8);
  Elf64_Shdr sections[3] = {};
  sections[1].sh_name = std::strcmp(section, ".eh_frame") == 0 ? 1 : 11;
  sections[1].sh_type = SHT_PROGBITS;
  sections[1].sh_addr = sections[1].sh_offset = frames_at;
  sections[1].sh_size = frames.size();
  sections[2].sh_name = 24;
  sections[2].sh_type = SHT_STRTAB;
  sections[2].sh_offset = names_at;
  sections[2].sh_size = names.size();
  const std::size_t sections_at = put(sections, sizeof(sections));
  Elf64_Ehdr header = {};
  std::memcpy(header.e_ident, ELFMAG, SELFMAG);
  header.e_ident[EI_CLASS] = ELFCLASS64;
  header.e_ident[EI_DATA] = ELFDATA2LSB;
  header.e_ident[EI_VERSION] = EV_CURRENT;
  header.e_type = ET_DYN;
  header.e_machine = EM_X86_64;
  header.e_version = EV_CURRENT;
  header.e_entry = kTinyText + 0x1f00;
  header.e_phoff = sizeof(header);
  header.e_shoff = sections_at;
  header.e_ehsize = sizeof(header);
  header.e_phentsize = sizeof(Elf64_Phdr);
  header.e_phnum = 1;
  header.e_shentsize = sizeof(Elf64_Shdr);
  header.e_shnum = 3;
  header.e_shstrndx = 2;
  std::memcpy(file.data(), &header, sizeof(header));
  Elf64_Phdr load = {};
  load.p_type = PT_LOAD;
  load.p_flags = PF_R | PF_X;
  load.p_filesz = load.p_memsz = file.size();
  load.p_align = 0x1000;
  std::memcpy(file.data() + sizeof(header), &load, sizeof(load));
  return file;
}

}  // namespace uscope::fuzz
