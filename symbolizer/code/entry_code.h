// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// _start, the code at the entry of a program that was linked with glibc's crt1.o, Scrt1.o or rcrt1.o. It names main()
// in a program without symbols: it passes its address to __libc_start_main.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

namespace uscope::symbolizer {

// As much code as the longest known form has.
constexpr std::size_t kMostEntryCode = 64;

struct EntryCode {
  std::optional<std::uint64_t> main;  // its address; nullopt: main() is in a library
};

// What the code at the ELF address `address` says if it is glibc's _start, else nullopt. All bytes except addresses and
// displacements are compared.
std::optional<EntryCode> read_entry_code(std::span<const std::byte> code, std::uint64_t address);

}  // namespace uscope::symbolizer
