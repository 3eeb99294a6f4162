// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// Names of PLT stubs, derived from the stubs' code.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "symbolizer/elf/elf_sections.h"
#include "symbolizer/names/symbols_table.h"

namespace uscope::symbolizer {

struct PltStub {
  std::string function;  // "name@plt", demangled
  std::uint64_t start = 0;
};

// A stub is named only if its code makes the name certain (symbolizer/code/plt_stub.h): it jumps to a slot that a
// dynamic relocation fills, or has the relocation's number. An IRELATIVE slot is named after the IFUNC symbol that its
// addend points to.
class PltTable {
 public:
  PltTable() = default;
  PltTable(const std::vector<ElfSection>& sections, const SymbolTable& symbols);

  [[nodiscard]] std::optional<PltStub> containing(std::uint64_t address) const;
  [[nodiscard]] std::size_t footprint() const;

 private:
  // A PLT section's stubs, which all have one size.
  struct Area {
    std::uint64_t low;
    std::uint64_t high;
    std::uint64_t stub_size;
  };

  std::vector<Area> areas_;
  std::unordered_map<std::uint64_t, std::string_view> names_;  // mangled, by stub start; the bytes belong to the Elf
};

}  // namespace uscope::symbolizer
