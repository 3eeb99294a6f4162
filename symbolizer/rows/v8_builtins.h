// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// V8's builtins (node, Electron): machine code that V8's own compiler puts into the program's text, without unwind
// information. V8 itself walks it by frame pointers, which every function there that calls another one keeps, so rows
// can do the same.
#pragma once

#include <optional>

#include "symbolizer/elf/elf_facts.h"
#include "symbolizer/rows/known_code.h"

namespace uscope::symbolizer {

struct V8Facts {
  // The range of the builtins, from the symbols of V8's build; nullopt without these (another program, or one stripped
  // of its .symtab: Debian's libnode).
  std::optional<OffsetRange> builtins;
  // The file exports the functions of V8's C++ interface (node and libnode do, for add-ons), so it contains V8.
  bool exports_interface = false;
};
[[nodiscard]] V8Facts v8_facts(Elf* elf, const ElfFacts& facts);

}  // namespace uscope::symbolizer
