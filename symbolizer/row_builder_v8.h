// V8's builtins (node, Electron): machine code that V8's own compiler writes into the program's text, without unwind
// information. V8 itself walks it by frame pointers, which every function in it keeps that calls another one, so rows
// can say so.
#pragma once

#include <cstdint>
#include <optional>

#include "symbolizer/elf_facts.h"

namespace uscope::symbolizer {

struct CodeRange {
  std::uint64_t start = 0;  // file offsets
  std::uint64_t end = 0;
};

// Where the builtins are, by the symbols that V8's build gives them; nothing where there are none (another program, or
// stripped of its .symtab).
[[nodiscard]] std::optional<CodeRange> v8_builtins(Elf* elf, const ElfFacts& facts);

}  // namespace uscope::symbolizer
