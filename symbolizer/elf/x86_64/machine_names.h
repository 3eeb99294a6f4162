// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// x86-64's names in ELF files.
#pragma once

#include <elf.h>

#include <cstdint>

namespace uscope::symbolizer {

inline constexpr std::uint16_t kElfMachine = EM_X86_64;

// Relocations that a program's linker makes.
inline constexpr std::uint32_t kAbsolute = R_X86_64_64;
inline constexpr std::uint32_t kGlobalData = R_X86_64_GLOB_DAT;
inline constexpr std::uint32_t kJumpSlot = R_X86_64_JUMP_SLOT;
inline constexpr std::uint32_t kRelative = R_X86_64_RELATIVE;
inline constexpr std::uint32_t kIndirectRelative = R_X86_64_IRELATIVE;

// How many bytes a relocation changes.
constexpr std::uint8_t relocated_bytes(std::uint32_t type) {
  switch (type) {
    case R_X86_64_NONE:
      return 0;
    case R_X86_64_8:
    case R_X86_64_PC8:
      return 1;
    case R_X86_64_16:
    case R_X86_64_PC16:
      return 2;
    case R_X86_64_32:
    case R_X86_64_32S:
    case R_X86_64_PC32:
    case R_X86_64_PLT32:
    case R_X86_64_GOTPCREL:
    case R_X86_64_TPOFF32:
    case R_X86_64_DTPOFF32:
    case R_X86_64_SIZE32:
      return 4;
    case R_X86_64_TLSDESC:
      return 16;
    default:
      return 8;
  }
}

}  // namespace uscope::symbolizer
