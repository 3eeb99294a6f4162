// V8's builtins (node, Electron): machine code that V8's own compiler writes into the program's text, without unwind
// information. V8 itself walks it by frame pointers, which every function in it keeps that calls another one, so rows
// can say so.
#pragma once

#include <optional>

#include "symbolizer/elf/elf_facts.h"
#include "symbolizer/rows/known_code.h"

namespace uscope::symbolizer {

struct V8Facts {
  // Where the builtins are, by the symbols that V8's build gives them; nothing where there are none (another program,
  // or stripped of its .symtab: Debian's libnode).
  std::optional<CodeRange> builtins;
  // The file defines the functions of V8's C++ interface for others (node and libnode do, for add-ons): V8 is in it.
  bool exports_interface = false;
};
[[nodiscard]] V8Facts v8_facts(Elf* elf, const ElfFacts& facts);

}  // namespace uscope::symbolizer
