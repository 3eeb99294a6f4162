// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// Handles for libelf, libdw and libdwfl, each released by its library.
#pragma once

#include <elfutils/libdw.h>
#include <elfutils/libdwfl.h>
#include <libelf.h>

#include <memory>

namespace uscope::symbolizer {

struct ElfDeleter {
  void operator()(Elf* elf) const { elf_end(elf); }
};
struct DwarfDeleter {
  void operator()(Dwarf* dwarf) const { dwarf_end(dwarf); }
};
// For dwarf_getcfi_elf only: the result of dwarf_getcfi belongs to its Dwarf.
struct CfiDeleter {
  void operator()(Dwarf_CFI* cfi) const { dwarf_cfi_end(cfi); }
};
struct DwflDeleter {
  void operator()(Dwfl* dwfl) const { dwfl_end(dwfl); }
};

using ElfHandle = std::unique_ptr<Elf, ElfDeleter>;
using DwarfHandle = std::unique_ptr<Dwarf, DwarfDeleter>;
using CfiHandle = std::unique_ptr<Dwarf_CFI, CfiDeleter>;
using DwflHandle = std::unique_ptr<Dwfl, DwflDeleter>;

}  // namespace uscope::symbolizer
