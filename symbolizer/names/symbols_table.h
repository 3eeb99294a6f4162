// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// The function symbols of one program or library, from its file and from separate ones: .symtab and .dynsym merged,
// each symbol valid only within its own size.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "symbolizer/cfi/fde_table.h"
#include "symbolizer/elf/elf_sections.h"
#include "symbolizer/names/symbols_ranges.h"

namespace uscope::symbolizer {

struct SymbolAt {
  std::string_view name;    // mangled, without "@VERSION"; lives as long as the Elf
  std::uint64_t start = 0;  // ELF address
};

// Which symbol names an address:
// - It contains the address: [st_value, st_value + st_size), cut at its section's end. The symbol before an address is
//   not its name. Types FUNC and IFUNC, and NOTYPE with a size, in executable sections.
// - A symbol of size 0 (hand-written assembly) counts only if an FDE starts at it; it extends to that FDE's end, or to
//   the next symbol if that comes first.
// - Nested symbols: the one that starts last.
// - Aliases (same start): not local before local; then the fewest leading underscores (a leading "__vdso_" counts as
//   none); then the default version before hidden ones; then GLOBAL before WEAK; then the shortest; then by bytes. So
//   libc's names are read, mmap, puts, and not __read, __mmap, _IO_puts.
class SymbolTable {
 public:
  SymbolTable() = default;

  // Merges the tables of all `files`, which belong to one program: each is given by its sections.
  SymbolTable(std::span<const std::vector<ElfSection>* const> files, const FdeTable& fdes);

  [[nodiscard]] std::optional<SymbolAt> containing(std::uint64_t address) const;
  [[nodiscard]] std::size_t footprint() const;

 private:
  struct Symbol {
    std::uint64_t start;
    const char* name;
  };

  RangeMap map_;
  std::vector<Symbol> symbols_;  // by the owner numbers of map_
};

// A function symbol of a program's tables.
struct FunctionSymbol {
  std::string_view name;    // mangled, without "@VERSION"; lives as long as the Elf
  std::uint64_t start = 0;  // ELF address
  std::uint64_t size = 0;   // 0: the table does not say
  bool ifunc = false;       // its code finds the function of this name when the program is loaded
  // The table's type says that it is a function (STT_FUNC, STT_GNU_IFUNC); else it has none (STT_NOTYPE), like the
  // labels of assembly, of code and of data.
  bool is_function = false;
};

// All function symbols that SymbolTable would consider, by start; of one start, the better name first.
std::vector<FunctionSymbol> function_symbols(std::span<const std::vector<ElfSection>* const> files);

// The ELF address of a symbol of any type by its name; the first one that is defined.
std::optional<std::uint64_t> symbol_address(std::span<const std::vector<ElfSection>* const> files,
                                            std::string_view name);

}  // namespace uscope::symbolizer
