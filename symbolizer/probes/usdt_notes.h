// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// The notes (.note.stapsdt) that sys/sdt.h leaves in an ELF file for each of its probes. A note gives provider, name,
// address and how the arguments are read at that address, as an assembler's operands: "-4@%edi 8@-24(%ebx) 4@$5".
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "symbolizer/elf/elf_sections.h"
#include "symbolizer/probes/file_probes.h"

namespace uscope::symbolizer {

struct UsdtNote {
  std::string provider;  // valid UTF-8
  std::string name;
  std::uint64_t address = 0;    // ELF address of the probe
  std::uint64_t semaphore = 0;  // ELF address; 0: none
  std::string arguments;        // as they stand
};

// At most 65,536 notes. Addresses are corrected by what prelink has moved the file. Damaged notes are left out.
std::vector<UsdtNote> read_usdt_notes(const std::vector<ElfSection>& sections);

using SymbolSearch = std::function<std::optional<std::uint64_t>(std::string_view name)>;

// The arguments of a note, named arg0, arg1 … by their position.
struct UsdtArguments {
  std::vector<FoundArgument> kept;      // at most six
  std::vector<std::string> too_many;    // names of those that could be a seventh
  std::vector<std::string> unreadable;  // of those in an index register or a vector register, and of what is damaged
};
// `address_of` finds what is relative to the pc.
UsdtArguments parse_usdt_arguments(std::string_view text, std::uint64_t address, const SymbolSearch& address_of);

}  // namespace uscope::symbolizer
